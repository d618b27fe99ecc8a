import { valueIn } from '@tranche/kube-types'
import { type ApiObject, resources } from '../model/client.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { forbidden } from '../model/errors.ts'
import { type NanoAmounts, podAmounts, readAmounts } from './pod-resources.ts'

const ANNOTATION = 'kubernetes.io/limit-ranger'

/**
 * Sets each container's missing amounts from the LimitRanges, and checks the pod against them.
 *
 * @returns the same pod without LimitRanges
 * @throws {ApiStatusError} 403 with every violation
 */
export function withLimits(ranges: readonly ApiObject[], pod: ApiObject): ApiObject {
  if (ranges.length === 0) return pod
  let next = pod
  for (const range of ranges) next = withDefaultAmounts(next, itemsOf(range))
  for (const range of ranges) {
    const faults = itemsOf(range).flatMap((item) => faultsOf(objectOrEmpty(next['spec']), item))
    if (faults.length > 0) throw forbidden(resources.pods, pod.metadata.name, faults.length === 1 ? faults[0]! : `[${faults.join(', ')}]`)
  }
  return next
}

function itemsOf(range: ApiObject): readonly JsonObject[] {
  return listOrEmpty(objectOrEmpty(range['spec'])['limits']).map(objectOrEmpty)
}

function withDefaultAmounts(pod: ApiObject, items: readonly JsonObject[]): ApiObject {
  const forContainers = items.filter(({ type }) => type === 'Container')
  const merge = (field: string): JsonObject =>
    Object.fromEntries(forContainers.flatMap((item) => Object.entries(objectOrEmpty(item[field]))))
  const defaults = { requests: merge('defaultRequest'), limits: merge('default') }
  const spec = objectOrEmpty(pod['spec'])
  const notes: string[] = []
  const fill = (list: unknown, word: string): readonly unknown[] =>
    listOrEmpty(list).map((container) =>
      filled(objectOrEmpty(container), defaults, (note) => notes.push(`${note} for ${word} ${objectOrEmpty(container)['name']}`)),
    )
  const containers = fill(spec['containers'], 'container')
  const initContainers = fill(spec['initContainers'], 'init container')
  if (notes.length === 0) return pod
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` }
  const nextSpec = { ...spec, containers, ...(initContainers.length > 0 && { initContainers }) }
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec: nextSpec }
}

function filled(
  container: JsonObject,
  defaults: { readonly requests: JsonObject; readonly limits: JsonObject },
  note: (text: string) => void,
): JsonObject {
  const own = objectOrEmpty(container['resources'])
  const result: Record<string, unknown> = { ...own }
  for (const [kind, word] of [
    ['requests', 'request'],
    ['limits', 'limit'],
  ] as const) {
    const given = objectOrEmpty(own[kind])
    const missing = Object.keys(defaults[kind]).filter((name) => valueIn(given, name) === undefined)
    if (missing.length === 0) continue
    result[kind] = { ...given, ...Object.fromEntries(missing.map((name) => [name, defaults[kind][name]])) }
    note(`${missing.sort().join(', ')} ${word}`)
  }
  return { ...container, resources: result }
}

function faultsOf(spec: JsonObject, item: JsonObject): readonly string[] {
  if (item['type'] === 'Pod') return rangeFaults(item, podAmounts(spec, 'requests'), podAmounts(spec, 'limits'))
  if (item['type'] !== 'Container') return []
  return [...listOrEmpty(spec['containers']), ...listOrEmpty(spec['initContainers'])].flatMap((container) => {
    const { requests, limits } = objectOrEmpty(objectOrEmpty(container)['resources'])
    return rangeFaults(item, readAmounts(requests), readAmounts(limits), {
      requests: objectOrEmpty(requests),
      limits: objectOrEmpty(limits),
    })
  })
}

interface Texts {
  readonly requests: JsonObject
  readonly limits: JsonObject
}

function rangeFaults(item: JsonObject, requests: NanoAmounts, limits: NanoAmounts, texts?: Texts): readonly string[] {
  const { type } = item
  const min = objectOrEmpty(item['min'])
  const max = objectOrEmpty(item['max'])
  const faults: string[] = []
  for (const [name, bound] of readAmounts(min)) {
    const begin = `minimum ${name} usage per ${type} is ${min[name]}`
    const [request, limit] = [requests.get(name), limits.get(name)]
    if (request === undefined) faults.push(`${begin}.  No request is specified`)
    else if (request < bound) faults.push(`${begin}, but request is ${textOf(texts?.requests, name, request)}`)
    else if (limit !== undefined && limit < bound) faults.push(`${begin}, but limit is ${textOf(texts?.limits, name, limit)}`)
  }
  for (const [name, bound] of readAmounts(max)) {
    const begin = `maximum ${name} usage per ${type} is ${max[name]}`
    const [request, limit] = [requests.get(name), limits.get(name)]
    if (limit === undefined) faults.push(`${begin}.  No limit is specified`)
    else if (limit > bound) faults.push(`${begin}, but limit is ${textOf(texts?.limits, name, limit)}`)
    else if (request !== undefined && request > bound) faults.push(`${begin}, but request is ${textOf(texts?.requests, name, request)}`)
  }
  return [...faults, ...ratioFaults(item, requests, limits)]
}

function ratioFaults(item: JsonObject, requests: NanoAmounts, limits: NanoAmounts): readonly string[] {
  const bounds = objectOrEmpty(item['maxLimitRequestRatio'])
  return [...readAmounts(bounds)].flatMap(([name, bound]) => {
    const begin = `${name} max limit to request ratio per ${item['type']} is ${bounds[name]}`
    const [request = 0n, limit = 0n] = [requests.get(name), limits.get(name)]
    if (request === 0n) return [`${begin}, but no request is specified or request is 0`]
    if (limit === 0n) return [`${begin}, but no limit is specified or limit is 0`]
    const ratio = Number(limit) / Number(request)
    return ratio * 1e9 > Number(bound) ? [`${begin}, but provided ratio is ${ratio.toFixed(6)}`] : []
  })
}

/** The amount as written, or a number for a sum. */
function textOf(texts: JsonObject | undefined, name: string, nano: bigint): string {
  return String(valueIn(texts, name) ?? Number(nano) / 1e9)
}
