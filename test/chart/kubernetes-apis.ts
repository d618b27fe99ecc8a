import { readFileSync } from 'node:fs'
import type { Rendered } from './chart.ts'

/** A type, or types with the versions that have them: `string!`, `[core.v1.Container]`, `core.v1.SleepAction 1.29-1.37`. */
type Entry = string | readonly string[]

const apis = JSON.parse(readFileSync(`${import.meta.dirname}/kubernetes-apis.json`, 'utf8')) as {
  readonly versions: readonly string[]
  readonly kinds: Readonly<Record<string, Entry>>
  readonly types: Readonly<Record<string, Readonly<Record<string, Entry>>>>
}

/** Versions of Kubernetes whose fields are known, such as `1.28`; the fields are those of the first patch. */
export const kubernetesVersions = apis.versions

/** Whether any of the versions has the kind. */
export function isBuiltIn({ apiVersion, kind }: Rendered): boolean {
  return apis.kinds[`${apiVersion} ${kind}`] !== undefined
}

/** @returns what an API server of this version would reject about kind, fields and types, or drop as an unknown field */
export function problemsOf(object: Rendered, version: string): readonly string[] {
  const kind = `${object.apiVersion} ${object.kind}`
  const type = typeIn(apis.kinds[kind] ?? [], version)
  return type === undefined ? [`${kind}: is not in ${version}`] : problemsAt({ value: object, type, path: object.kind }, version)
}

interface Place {
  readonly value: unknown
  readonly type: string
  readonly path: string
}

function problemsAt({ value, type, path }: Place, version: string): readonly string[] {
  // The API server treats null as absent.
  if (type === 'any' || value === null) return []
  const [inner = ''] = /(?<=^[[{]).*(?=[\]}]$)/.exec(type) ?? []
  if (type.startsWith('[')) {
    if (!Array.isArray(value)) return [`${path}: is no list`]
    return value.flatMap((one: unknown, at) => problemsAt({ value: one, type: inner, path: `${path}[${at}]` }, version))
  }
  const fields = apis.types[type]
  if (fields === undefined && !type.startsWith('{')) return isScalar(value, type) ? [] : [`${path}: is no ${type}`]
  if (typeof value !== 'object' || Array.isArray(value)) return [`${path}: is no object`]
  const entries = Object.entries(value as Readonly<Record<string, unknown>>)
  if (fields === undefined) return entries.flatMap(([key, one]) => problemsAt({ value: one, type: inner, path: `${path}.${key}` }, version))
  const missing = Object.entries(fields).filter(([field, entry]) => typeIn(entry, version)?.endsWith('!') && !(field in value))
  return [
    ...missing.map(([field]) => `${path}.${field}: is required`),
    ...entries.flatMap(([field, one]) => {
      const known = typeIn(fields[field] ?? [], version)?.replace('!', '')
      if (known === undefined) return [`${path}.${field}: is not in ${version}`]
      return problemsAt({ value: one, type: known, path: `${path}.${field}` }, version)
    }),
  ]
}

function isScalar(value: unknown, type: string): boolean {
  return type.split('|').some((one) => (one === 'integer' ? Number.isInteger(value) : typeof value === one))
}

/** @returns the type in this version, with `!` if it is required; undefined if the version lacks it */
function typeIn(entry: Entry, version: string): string | undefined {
  const at = kubernetesVersions.indexOf(version)
  for (const text of [entry].flat()) {
    const [type, range] = text.split(' ')
    const [first, last] = range?.split('-').map((one) => kubernetesVersions.indexOf(one)) ?? [0, Infinity]
    if (at >= first! && at <= last!) return type
  }
  return undefined
}
