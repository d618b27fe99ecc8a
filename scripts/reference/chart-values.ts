import { readFileSync } from 'node:fs'
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml'
import { type FieldSchema, typeText } from './fields.ts'
import { code, MADE, page, prose, table } from './markdown.ts'

const folder = 'charts/tranche'
/** Sections with the values of a component. The first one's comments apply to all. */
const components = ['allInOne', 'controller', 'executor', 'api']

/** A value of the chart, or a section of values. */
export interface ChartValue {
  /** Path such as `api.service.port`, or `api.hooks.secrets[].names` in a list. */
  readonly path: string
  readonly schema: FieldSchema
  /** Default in values.yaml; undefined if it has none there. */
  readonly default: unknown
  /** Comment above it in values.yaml, or above the same value of the first component; empty if there is none. */
  readonly comment: string
}

/** @returns the page of the chart's values: each with its type, default and comment from values.yaml */
export function chartValuesPage(): string {
  return page([
    '# Values of the chart',
    MADE,
    'Values for `--set` and `--values` of `helm install` and `helm upgrade`, from [values.yaml](../../charts/tranche/values.yaml) and checked with `values.schema.json`. Unknown values, and values without effect in combination with the others, are rejected. For their use, see [install.md](../operations/install.md).',
    ...chartValuesTables('##'),
  ])
}

/**
 * @param level Markdown of the headings of sections
 * @returns a table of the values at the top, and a heading, an introduction and a table for each section
 */
export function chartValuesTables(level: '##' | '###'): readonly string[] {
  const values = chartValues()
  const isSection = ({ path }: ChartValue): boolean => values.some((one) => one.path.startsWith(`${path}.`))
  const top = values.filter(({ path }) => !path.includes('.'))
  const sections = top
    .filter(isSection)
    .flatMap((section) => [
      `${level} ${section.path}`,
      prose(section.comment || sentence(section.schema.description ?? '')),
      rowsOf(values.filter(({ path }) => path.startsWith(`${section.path}.`))),
    ])
  return [rowsOf(top.filter((one) => !isSection(one))), ...sections]
}

/** @returns every value of the schema, in the order of values.yaml; values that are not in it come last */
export function chartValues(): readonly ChartValue[] {
  const schema = JSON.parse(readFileSync(`${folder}/values.schema.json`, 'utf8')) as Schema
  const { contents } = parseDocument(readFileSync(`${folder}/values.yaml`, 'utf8'))
  if (!isMap(contents)) throw new Error(`${folder}/values.yaml is not a map`)
  const comments = commentsOf(contents, '')
  return below({ schema: resolved(schema, schema), defaults: contents.toJSON() as unknown, path: '' }, comments)
}

interface Schema extends FieldSchema {
  readonly definitions?: Readonly<Record<string, FieldSchema>>
}

interface Node {
  readonly schema: FieldSchema
  readonly defaults: unknown
  readonly path: string
}

function below({ schema, defaults, path }: Node, comments: ReadonlyMap<string, string>): readonly ChartValue[] {
  const given = typeof defaults === 'object' && defaults !== null ? (defaults as Readonly<Record<string, unknown>>) : {}
  const order = Object.keys(given)
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length)
  return Object.entries(schema.properties ?? {})
    .toSorted(([one], [other]) => rank(one) - rank(other))
    .flatMap(([name, field]) => {
      const here = path === '' ? name : `${path}.${name}`
      const value = { path: here, schema: field, default: given[name], comment: commentOn(here, comments) }
      const items = field.items === undefined ? [] : below({ schema: field.items, defaults: {}, path: `${here}[]` }, comments)
      return [value, ...below({ schema: field, defaults: given[name], path: here }, comments), ...items]
    })
}

function commentOn(path: string, comments: ReadonlyMap<string, string>): string {
  const [section = '', ...rest] = path.split('.')
  const shared = components.includes(section) && rest.length > 0 ? comments.get([components[0], ...rest].join('.')) : undefined
  return comments.get(path) ?? shared ?? ''
}

function rowsOf(values: readonly ChartValue[]): string {
  const rows = values.map((value) => [
    code(value.path),
    typeOf(value),
    defaultText(value),
    prose(value.comment || sentence(value.schema.description ?? '')),
  ])
  return table(['value', 'type', 'default', 'means'], rows)
}

function typeOf({ schema }: ChartValue): string {
  return schema.properties === undefined ? typeText(schema) : 'section'
}

/** The default of a section consists of those of its values. */
function defaultText({ schema, default: value }: ChartValue): string {
  return value === undefined || schema.properties !== undefined ? '' : code(JSON.stringify(value))
}

function sentence(text: string): string {
  return text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
}

/** Resolves references in a schema. */
function resolved(field: FieldSchema, schema: Schema): FieldSchema {
  const { $ref, ...own } = field
  if ($ref !== undefined) return resolved(schema.definitions?.[$ref.split('/').at(-1) ?? ''] ?? {}, schema)
  return {
    ...own,
    ...(own.properties && {
      properties: Object.fromEntries(Object.entries(own.properties).map(([name, one]) => [name, resolved(one, schema)])),
    }),
    ...(own.items && { items: resolved(own.items, schema) }),
  }
}

/** Comment above each key, by path. */
function commentsOf(map: YAMLMap, path: string): ReadonlyMap<string, string> {
  return new Map(
    map.items.flatMap(({ key, value }, at) => {
      if (!isScalar(key)) return []
      const here = path === '' ? String(key.value) : `${path}.${String(key.value)}`
      // Above the first key, a comment belongs to the map.
      const text = key.commentBefore ?? (at === 0 ? map.commentBefore : undefined)
      // A comment separated by an empty line is about the file.
      const words = text?.split(/\n\s*\n/).at(-1) ?? ''
      const own =
        words === ''
          ? []
          : [
              [
                here,
                words
                  .split('\n')
                  .map((line) => line.trim())
                  .join(' ')
                  .trim(),
              ] as const,
            ]
      return [...own, ...(isMap(value) ? commentsOf(value, here) : [])]
    }),
  )
}
