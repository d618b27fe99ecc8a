import type { ApiObject, ResourceId } from '../model/client.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { isTerminal } from '../model/is-terminal.ts'
import { type NanoAmounts, podAmounts } from './pod-resources.ts'

const ONE = 1_000_000_000n
const STANDARD = ['cpu', 'memory', 'ephemeral-storage']
/** Kinds that quotas also count under their plain names. */
const PLAIN_COUNTS = ['configmaps', 'secrets', 'services', 'persistentvolumeclaims', 'replicationcontrollers', 'resourcequotas']

/**
 * Quota usage of one object: itself as `count/<resource>.<group>`; for a pod that has not ended, also `pods` and the resources of its
 * containers.
 *
 * @param nowMs pods past their deletion deadline use only their count
 */
export function usageOf(id: ResourceId, object: ApiObject, nowMs: number): NanoAmounts {
  const usage = new Map([[countName(id), ONE]])
  if (id.group === '' && PLAIN_COUNTS.includes(id.resource)) usage.set(id.resource, ONE)
  if (isPods(id) && isCharged(object, nowMs)) for (const [name, amount] of podUsage(object)) usage.set(name, amount)
  return usage
}

/** @returns `count/pods`, `count/daemonsets.apps` */
export function countName({ group, resource }: ResourceId): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`
}

/** @returns hard limits of a quota that apply to objects of a resource */
export function resourcesFor(id: ResourceId, hard: readonly string[]): readonly string[] {
  if (!isPods(id)) return hard.filter((name) => name === countName(id) || (id.group === '' && name === id.resource))
  return hard.filter((name) => name === 'count/pods' || name === 'pods' || isComputeName(name))
}

/** @returns whether a quota with these scopes applies to the object; a quota without scopes applies to all */
export function isInScope(quotaSpec: JsonObject, id: ResourceId, object: ApiObject): boolean {
  const plain = listOrEmpty(quotaSpec['scopes']).map((scopeName) => ({ scopeName, operator: 'Exists' }))
  const selected = listOrEmpty(objectOrEmpty(quotaSpec['scopeSelector'])['matchExpressions']).map(objectOrEmpty)
  return [...plain, ...selected].every((requirement) => isPods(id) && meetsScope(objectOrEmpty(object['spec']), requirement))
}

/** @returns whether these are pods */
export function isPods({ group, resource }: ResourceId): boolean {
  return group === '' && resource === 'pods'
}

function isCharged(pod: ApiObject, nowMs: number): boolean {
  if (isTerminal(pod)) return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true
  return nowMs <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
}

function podUsage(pod: ApiObject): NanoAmounts {
  const spec = objectOrEmpty(pod['spec'])
  const usage = new Map([['pods', ONE]])
  for (const [name, amount] of podAmounts(spec, 'requests')) {
    usage.set(`requests.${name}`, amount)
    if (STANDARD.includes(name) || name.startsWith('hugepages-')) usage.set(name, amount)
  }
  for (const [name, amount] of podAmounts(spec, 'limits')) if (STANDARD.includes(name)) usage.set(`limits.${name}`, amount)
  return usage
}

function isComputeName(name: string): boolean {
  const plain = name.replace(/^(?:requests|limits)\./, '')
  return STANDARD.includes(plain) || plain.startsWith('hugepages-') || (name.startsWith('requests.') && plain.includes('/'))
}

function meetsScope(spec: JsonObject, { scopeName, operator, values }: JsonObject): boolean {
  const isTerminating = Number(spec['activeDeadlineSeconds'] ?? -1) >= 0
  switch (scopeName) {
    case 'Terminating':
      return isTerminating
    case 'NotTerminating':
      return !isTerminating
    case 'BestEffort':
      return isBestEffort(spec)
    case 'NotBestEffort':
      return !isBestEffort(spec)
    case 'PriorityClass':
      return meetsPriority(String(spec['priorityClassName'] ?? ''), operator, listOrEmpty(values))
    default:
      return false
  }
}

function isBestEffort(spec: JsonObject): boolean {
  const names = [...podAmounts(spec, 'requests').keys(), ...podAmounts(spec, 'limits').keys()]
  return !names.some((name) => name === 'cpu' || name === 'memory')
}

function meetsPriority(name: string, operator: unknown, values: readonly unknown[]): boolean {
  switch (operator) {
    case 'In':
      return values.includes(name)
    case 'NotIn':
      return !values.includes(name)
    case 'DoesNotExist':
      return name === ''
    default:
      return name !== ''
  }
}
