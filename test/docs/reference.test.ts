import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  type StructuralSchema,
} from '../../packages/words/api-schema/src/index.ts'
import { writtenEvents } from '../../scripts/events-page.ts'
import { writtenMetrics } from '../../scripts/metrics-page.ts'
import { writtenChartReadme } from '../../scripts/reference/chart-readme.ts'
import { writtenPolicyStatus } from '../../scripts/reference/custom-resources.ts'
import { fieldRows } from '../../scripts/reference/fields.ts'
import { MADE } from '../../scripts/reference/markdown.ts'
import { referenceFolder, writtenReference } from '../../scripts/reference/pages.ts'
import { writtenSecurity } from '../../scripts/security-page.ts'
import { writtenRules } from '../../scripts/validation-rules.ts'

const pages = await writtenReference()

describe('docs/reference', () => {
  it('has no generated page without a source', () => {
    const generated = readdirSync(referenceFolder).filter((name) => readFileSync(`${referenceFolder}/${name}`, 'utf8').includes(MADE))
    expect(generated.toSorted()).toEqual([...pages.keys()].toSorted())
  })

  it.each([...pages])('%s matches its source; if not, run pnpm generate', (name, text) => {
    expect(readFileSync(`${referenceFolder}/${name}`, 'utf8')).toBe(text)
  })

  it.each(customResourceDefinitions.filter(({ spec }) => spec.names.kind !== 'ReleasePolicy'))(
    'describes every field of $spec.names.kind, with type and meaning',
    (crd) => {
      expect(fieldsIn(pages.get(`${crd.spec.names.kind.toLowerCase()}.md`) ?? '')).toEqual(pathsOf(crd))
    },
  )

  // test/docs/policy.test.ts checks the fields of its spec.
  it('describes every field of the status of a ReleasePolicy, with type and meaning', () => {
    const crd = customResourceDefinitions.find(({ spec }) => spec.names.kind === 'ReleasePolicy')!
    expect(fieldsIn(writtenPolicyStatus().text)).toEqual(pathsOf(crd).filter((path) => path.startsWith('status.')))
  })
})

describe('the README of the chart, and pages with generated tables', () => {
  it.each([writtenChartReadme(), writtenEvents(), writtenMetrics(), writtenPolicyStatus(), writtenRules(), writtenSecurity()])(
    '$path matches its source; if not, run pnpm generate',
    ({ path, text }) => {
      expect(readFileSync(path, 'utf8')).toBe(text)
    },
  )
})

describe('a field of a schema', () => {
  it.each([
    ['of a type with bounds', { type: 'integer', minimum: 1, maximum: 9 }, ['`a`', 'integer, 1 to 9', '', '']],
    ['with a default', { type: 'string', default: 'x' }, ['`a`', 'string', '`"x"`', '']],
    ['that has a few allowed words', { enum: ['A', 'B'] }, ['`a`', '`A`, `B`', '', '']],
    ['that is a number or a percentage', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, ['`a`', 'integer or string', '', '']],
    ['that refers to another schema', { $ref: '#/components/schemas/Node' }, ['`a`', '[Node](#node)', '', '']],
    [
      'with characters that have a meaning in Markdown',
      { type: 'string', description: 'A_B <c> `D_E`' },
      ['`a`', 'string', '', 'A\\_B &lt;c> `D_E`'],
    ],
  ])('%s is a row', (_what, schema, row) => {
    expect(fieldRows({ properties: { a: schema } })).toEqual([row])
  })

  it('comes before the fields below it, in lists and maps too', () => {
    const inner = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] }
    const rows = fieldRows({ properties: { a: { type: 'array', items: inner }, m: { additionalProperties: inner } } })
    expect(rows.map(([path, , need]) => `${path} ${need}`)).toEqual(['`a` ', '`a[].b` required', '`m` ', '`m.*.b` required'])
  })
})

/** Paths of the fields that a page has in a table, with type and meaning. */
function fieldsIn(text: string): readonly string[] {
  return [...text.matchAll(/^\| `((?:spec|status)\.[^`]*)` \| ([^|]+) \| [^|]* \| ([^|]+) \|$/gm)].map(([, path = '']) => path)
}

/** Every path below spec and status, found by other code than the page's. */
function pathsOf({ spec }: CustomResourceDefinition): readonly string[] {
  const { properties = {} } = spec.versions[0]?.schema.openAPIV3Schema ?? {}
  const paths: string[] = []
  const walk = (schema: StructuralSchema | undefined, path: string): void => {
    if (schema?.items !== undefined) return walk(schema.items, `${path}[]`)
    if (schema?.additionalProperties !== undefined) return walk(schema.additionalProperties, `${path}.*`)
    for (const [name, member] of Object.entries(schema?.properties ?? {})) {
      paths.push(`${path}.${name}`)
      walk(member, `${path}.${name}`)
    }
  }
  walk(properties['spec'], 'spec')
  walk(properties['status'], 'status')
  return paths
}
