import { type DefinedKind, schemaOf } from './compare-schema.ts'
import { sizeLimits, specLimits } from './size-limits.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** A part of a spec that is larger than {@link sizeLimits} or {@link specLimits} allow. */
export interface Oversize {
  readonly path: readonly (string | number)[]
  /** The counted things. The last three are counted in the whole spec up to this path. */
  readonly of: 'list' | 'map' | 'requirements' | 'values' | 'characters' | 'allRequirements' | 'allValues' | 'entries'
  readonly count: number
  readonly most: number
}

/** The oversized parts of a spec. */
export interface Oversizes {
  /** Lists, maps and totals. The time of every other check depends on them. */
  readonly lists: readonly Oversize[]
  readonly texts: readonly Oversize[]
}

/** Number of parts after which the search ends. */
const MOST_FOUND = 20

/**
 * Finds the parts of a spec that are too large, by the limits in the definition of its kind. Never throws, and takes a few milliseconds
 * for a spec of any size: it ends at the first total that is exceeded.
 *
 * @param spec anything that claims to be the spec of an object of this kind; parts of a wrong type are skipped
 */
export function oversizes(kind: DefinedKind, spec: unknown): Oversizes {
  const schema = schemaOf(kind).properties?.['spec']
  const search: Search = { kind, lists: [], texts: [], requirements: 0, values: 0, entries: 0, isOver: false }
  if (schema !== undefined) look(search, schema, spec, ['spec'])
  return search
}

interface Search {
  readonly kind: DefinedKind
  readonly lists: Oversize[]
  readonly texts: Oversize[]
  requirements: number
  values: number
  entries: number
  /** Whether a total is exceeded, or enough was found. */
  isOver: boolean
}

type Path = Oversize['path']

function look(search: Search, schema: StructuralSchema, value: unknown, path: Path): void {
  if (search.isOver) return
  if (typeof value === 'string') lookAtText(search, schema, value, path)
  else if (Array.isArray(value)) lookAtList(search, schema, value, path)
  else if (typeof value === 'object' && value !== null) lookAtObject(search, schema, value as Readonly<Record<string, unknown>>, path)
}

function lookAtText({ texts }: Search, schema: StructuralSchema, { length }: string, path: Path): void {
  const most = schema['x-kubernetes-int-or-string'] === true ? sizeLimits.amount : schema.maxLength
  if (most !== undefined && length > most && texts.length < MOST_FOUND) texts.push({ path, of: 'characters', count: length, most })
}

function lookAtList(search: Search, { items, maxItems }: StructuralSchema, list: readonly unknown[], path: Path): void {
  if (isTooLong(search, { path, of: 'list', count: list.length, most: maxItems })) return
  if (isTooMuch(search, 'entries', list.length, path) || items === undefined) return
  for (const [index, item] of list.entries()) {
    if (search.isOver) return
    look(search, items, item, [...path, index])
  }
}

function lookAtObject(search: Search, schema: StructuralSchema, object: Readonly<Record<string, unknown>>, path: Path): void {
  const names = Object.keys(object)
  if (isTooLong(search, { path, of: 'map', count: names.length, most: schema.maxProperties })) return
  if (isTooMuch(search, 'entries', names.length, path)) return
  if (isSelector(schema) && isSelectorTooLarge(search, object, path)) return
  for (const name of names) {
    const known = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : schema.additionalProperties
    if (known !== undefined) look(search, known, object[name], [...path, name])
  }
}

function isSelector({ properties }: StructuralSchema): boolean {
  return properties?.['matchLabels'] !== undefined && properties['matchExpressions'] !== undefined
}

function isSelectorTooLarge(search: Search, { matchLabels, matchExpressions }: Readonly<Record<string, unknown>>, path: Path): boolean {
  const expressions: readonly unknown[] = Array.isArray(matchExpressions) ? matchExpressions : []
  const count = expressions.length + (typeof matchLabels === 'object' && matchLabels !== null ? Object.keys(matchLabels).length : 0)
  if (isTooLong(search, { path, of: 'requirements', count, most: sizeLimits.requirements })) return true
  if (isTooMuch(search, 'requirements', count, path)) return true
  const values = expressions.map(valuesOf)
  const isLong = values.map((one, at) =>
    isTooLong(search, { path: [...path, 'matchExpressions', at, 'values'], of: 'values', count: one, most: sizeLimits.values }),
  )
  if (isLong.includes(true)) return true
  return isTooMuch(
    search,
    'values',
    values.reduce((sum, one) => sum + one, 0),
    path,
  )
}

function valuesOf(expression: unknown): number {
  const { values } = (expression ?? {}) as { readonly values?: unknown }
  return Array.isArray(values) ? values.length : 0
}

/** @returns whether the part is too large; nothing below it is looked at then */
function isTooLong(search: Search, { most, ...part }: Omit<Oversize, 'most'> & { readonly most: number | undefined }): boolean {
  if (most === undefined || part.count <= most) return false
  search.lists.push({ ...part, most })
  search.isOver = search.lists.length >= MOST_FOUND
  return true
}

const totals = { requirements: 'allRequirements', values: 'allValues', entries: 'entries' } as const

function isTooMuch(search: Search, total: keyof typeof totals, count: number, path: Path): boolean {
  search[total] += count
  const most = specLimits[search.kind][total]
  if (search[total] <= most) return false
  search.lists.push({ path, of: totals[total], count: search[total], most })
  search.isOver = true
  return true
}
