import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import {
  customResourceDefinitions,
  notifyArguments,
  notifyEvents,
  type StructuralSchema,
} from '../../packages/words/api-schema/src/index.ts'
import { analysisArguments, checkDocuments } from '../../packages/core/validation/src/index.ts'

const page = readFileSync('docs/reference/policy.md', 'utf8')
const [spec = ''] = page.split(/^## Status$/m)
const rows = [...spec.matchAll(/^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \| .*\|$/gm)].map(([, field = '', is = '', standard = '']) => ({
  field,
  is: is.trim(),
  standard: standard.trim(),
}))
const fields = fieldsOf(definitionOf('ReleasePolicy'), '')
const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((block) => ({
  line: page.slice(0, block.index).split('\n').length,
  text: block[1] ?? '',
}))
const examples = ['examples', 'examples/policies'].flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(`${folder}/${file}`, 'utf8') })),
)

describe('docs/reference/policy.md', () => {
  it('has every field of a policy, with its meaning and its default', () => {
    expect(fields.length).toBeGreaterThan(50)
    expect(fields.filter((field) => !rows.some((row) => isOf(row.field, field)))).toEqual([])
    expect(rows.filter(({ is, standard }) => is === '' || standard === '')).toEqual([])
  })

  it("has only fields of a policy or of a Rollout's step", () => {
    const steps = fieldsOf(definitionOf('Rollout'), '').map((field) => field.replace(/^strategy\.canary\.steps\[\]\./, ''))
    const known = [...fields, ...steps, 'nodes']
    expect(rows.filter((row) => !known.some((field) => isOf(row.field, field))).map(({ field }) => field)).toEqual([])
  })

  it.each([
    ['argument of an analysis', analysisArguments.map((name) => `{{${name}}}`)],
    ['argument of a message', notifyArguments.map((name) => `{{${name}}}`)],
    ['event', notifyEvents],
  ] as const)('names every %s', (_kind, words) => expect(words.filter((word) => !page.includes(`\`${word}\``))).toEqual([]))

  it('shows every field of a policy in an example', () => {
    const shown = new Set([...blocks, ...examples].flatMap(({ text }) => documentsOf(text).flatMap((value) => pathsOf(specOf(value), ''))))
    const leaves = fields.filter((field) => !isSelector(field))
    expect(leaves.filter((field) => ![...shown].some((path) => path === field || path.startsWith(`${field}.`)))).toEqual([])
  })
})

describe('is valid and needs no advice:', () => {
  it.each(blocks)('the example of docs/reference/policy.md at line $line', ({ text }) => expectInOrder(text))
  it.each(examples)('$file', ({ text }) => expectInOrder(text))
})

function expectInOrder(text: string): void {
  const findings = checkDocuments(documentsOf(text))
  expect(findings.some(({ judged }) => judged)).toBe(true)
  expect(findings.flatMap(({ problems, advice }) => [...problems, ...advice])).toEqual([])
}

function documentsOf(text: string): readonly unknown[] {
  return [...parseAllDocuments(text)].map((document) => document.toJS() as unknown)
}

function specOf(value: unknown): unknown {
  const { kind, spec } = value as { readonly kind: string; readonly spec: unknown }
  return kind === 'ReleasePolicy' ? spec : {}
}

/** Rows of fields that exist in several places, such as headers, name the end of the path. */
function isOf(row: string, field: string): boolean {
  return row === field || field.endsWith(`.${row}`) || field.startsWith(`${row}.`)
}

/** Fields of selectors, of which only some have to be in an example. */
function isSelector(field: string): boolean {
  return /\.match(Labels|Expressions)/.test(field)
}

function definitionOf(kind: string): StructuralSchema {
  return customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)!.spec.versions[0]!.schema.openAPIV3Schema.properties![
    'spec'
  ]!
}

/** Every field without fields below it, such as `analysis[].http.headers[].name`. */
function fieldsOf({ properties, items }: StructuralSchema, path: string): readonly string[] {
  if (items !== undefined) return fieldsOf(items, `${path}[]`)
  if (properties === undefined) return [path]
  return Object.entries(properties).flatMap(([name, schema]) => fieldsOf(schema, path === '' ? name : `${path}.${name}`))
}

/** Every path in a value, in the same format. */
function pathsOf(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${path}[]`))
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, member]) => pathsOf(member, path === '' ? name : `${path}.${name}`))
}
