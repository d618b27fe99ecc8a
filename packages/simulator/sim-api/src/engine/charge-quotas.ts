import { type ApiObject, resources } from '../model/client.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { type Engine, putObject } from './engine.ts'
import { forbidden } from '../model/errors.ts'
import { type NanoAmounts, readAmounts } from '../quota/pod-resources.ts'
import { formatQuantity, quantityForm, valueIn } from '@tranche/kube-types'
import type { Served } from '../resources/registry.ts'
import type { ApiRequest } from '../model/request.ts'
import { isInScope, isPods, resourcesFor, usageOf } from '../quota/usage.ts'

/**
 * Charges a new object to the quotas of its namespace, right before it is stored: to all of them, or to none. A dry run charges nothing but
 * is refused in the same way.
 *
 * @throws {ApiStatusError} 403 when a quota is exceeded, is not counted yet, or requires a resource amount that a container does not state
 */
export function chargeQuotas(engine: Engine, request: ApiRequest, served: Served, object: ApiObject): void {
  const bucket = engine.store.bucket(resources.resourceQuotas)
  if (bucket.size === 0 || object.metadata.namespace === undefined) return
  const all = [...bucket.current().objects.values()].filter((quota) => quota.metadata.namespace === object.metadata.namespace)
  const usage = usageOf(served.id, object, engine.clock.nowMs())
  const charges = all.flatMap((quota) => chargeOf(served, object, usage, quota) ?? [])
  if (request.options?.dryRun) return
  const quotas = engine.registry.get(resources.resourceQuotas)
  const write: ApiRequest = { ...request, actor: { name: 'system:apiserver' }, verb: 'update' }
  for (const { quota, used } of charges) {
    const status = objectOrEmpty(quota['status'])
    putObject(engine, write, quotas, { ...quota, status: { ...status, used: { ...objectOrEmpty(status['used']), ...used } } })
  }
}

interface Charge {
  readonly quota: ApiObject
  readonly used: Readonly<Record<string, string>>
}

/** @returns undefined when the quota does not apply to the object */
function chargeOf(served: Served, object: ApiObject, usage: NanoAmounts, quota: ApiObject): Charge | undefined {
  const { name } = object.metadata
  if (!isInScope(objectOrEmpty(quota['spec']), served.id, object)) return undefined
  const status = objectOrEmpty(quota['status'])
  const hard = objectOrEmpty(status['hard'])
  const used = objectOrEmpty(status['used'])
  const limited = resourcesFor(served.id, Object.keys(hard))
  if (limited.length === 0) return undefined
  const refuse = (why: string): Error => forbidden(served.id, name, why)
  const missing = isPods(served.id) ? missingAmounts(objectOrEmpty(object['spec']), limited) : []
  if (missing.length > 0) throw refuse(`failed quota: ${quota.metadata.name}: must specify ${missing.join('; ')}`)
  if (limited.some((resource) => valueIn(used, resource) === undefined))
    throw refuse(`status unknown for quota: ${quota.metadata.name}, resources: ${[...limited].sort().join(',')}`)
  const asked = limited.filter((resource) => (usage.get(resource) ?? 0n) > 0n).sort()
  const [isUsed, isHard] = [readAmounts(used), readAmounts(hard)]
  const total = (resource: string): bigint => (isUsed.get(resource) ?? 0n) + usage.get(resource)!
  const exceeded = asked.filter((resource) => total(resource) > isHard.get(resource)!)
  if (exceeded.length > 0) throw refuse(exceededText(quota, exceeded, { usage, used, hard, object }))
  const form = (resource: string) => quantityForm(formSource(used[resource], object, resource))
  return { quota, used: Object.fromEntries(asked.map((resource) => [resource, formatQuantity(total(resource), form(resource))])) }
}

interface QuotaState {
  readonly usage: NanoAmounts
  readonly used: JsonObject
  readonly hard: JsonObject
  readonly object: ApiObject
}

function exceededText(quota: ApiObject, exceeded: readonly string[], { usage, used, hard, object }: QuotaState): string {
  const list = (textOf: (resource: string) => string): string => exceeded.map((resource) => `${resource}=${textOf(resource)}`).join(',')
  const requested = list((resource) => formatQuantity(usage.get(resource)!, quantityForm(formSource(undefined, object, resource))))
  const usedText = list((resource) => String(used[resource]))
  return `exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${usedText}, limited: ${list((resource) => String(hard[resource]))}`
}

/** Sums keep the format of their first amount; zero has none. */
function formSource(used: unknown, pod: ApiObject, resource: string): unknown {
  if (used !== undefined && used !== '0') return used
  const [, kind = 'requests', plain = resource] = /^(requests|limits)\.(.*)$/.exec(resource) ?? []
  const containers = listOrEmpty(objectOrEmpty(pod['spec'])['containers'])
  const amounts = containers.map((container) => objectOrEmpty(objectOrEmpty(objectOrEmpty(container)['resources'])[kind])[plain])
  return amounts.find((amount) => amount !== undefined)
}

const MUST_SPECIFY = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']

/** Quotas of cpu and memory require amounts in every container, unless the pod states them as a whole. */
function missingAmounts(spec: JsonObject, limited: readonly string[]): readonly string[] {
  if (Object.keys(objectOrEmpty(spec['resources'])).length > 0) return []
  const containers = [...listOrEmpty(spec['containers']), ...listOrEmpty(spec['initContainers'])].map(objectOrEmpty)
  return MUST_SPECIFY.filter((name) => limited.includes(name))
    .sort()
    .flatMap((name) => {
      const [, kind = 'requests', plain = name] = /^(requests|limits)\.(.*)$/.exec(name) ?? []
      const silent = containers.filter((container) => objectOrEmpty(objectOrEmpty(container['resources'])[kind])[plain] === undefined)
      return silent.length === 0
        ? []
        : [
            `${name} for: ${silent
              .map((container) => String(container['name']))
              .sort()
              .join(',')}`,
          ]
    })
}
