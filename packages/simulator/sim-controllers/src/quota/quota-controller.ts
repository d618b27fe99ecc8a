import { isSameJson, keyOf, keyText, type KubeObject, parseKey } from '@tranche/kube-types'
import {
  type ApiObject,
  isInScope,
  isTerminal,
  type ResourceId,
  resources,
  resourcesFor,
  type SimClient,
  usageOf,
  type Watching,
} from '@tranche/sim-api'
import { formatQuantity, quantityForm } from '@tranche/kube-types'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createInformer } from '../machinery/informer.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'

const WORKERS = 5
/** Deletions within this time are counted together. */
const GATHER_MS = 100

interface Quota extends KubeObject {
  readonly spec: { readonly hard?: Readonly<Record<string, string>> }
}

/**
 * Runs the quota controller. It counts the usage of a namespace when a quota is new or changed, and when a counted object is deleted. The
 * API server itself charges created objects. Without quotas, nothing is watched.
 */
export function startQuotaController({ client, clock, onError }: ControllerOptions): RunningController {
  const limiter = createRateLimiter(() => clock.monotonicMs())
  const queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: count, onError })
  const gathering = new Set<string>()
  const watches = new Map<string, Watching>()
  const quotas = createInformer<Quota>(client, resources.resourceQuotas, {
    added: take,
    updated(quota, before) {
      if (quota.spec !== before.spec) take(quota)
    },
  })

  function take(quota: Quota): void {
    for (const { id } of limitedBy(client, quota)) watchReleases(id)
    queue.add(keyText(keyOf(quota)))
  }

  function watchReleases(id: ResourceId): void {
    const key = `${id.group}/${id.resource}`
    if (watches.has(key)) return
    watches.set(
      key,
      client.watch(id, {}, (event) => {
        if (event.type === 'DELETED' || (event.type === 'MODIFIED' && isTerminal(event.object))) release(event.object)
      }),
    )
  }

  function release({ metadata }: ApiObject): void {
    for (const quota of quotas.values()) {
      const key = keyText(keyOf(quota))
      if (quota.metadata.namespace !== metadata.namespace || gathering.has(key)) continue
      gathering.add(key)
      queue.addAfter(key, GATHER_MS)
    }
  }

  async function count(key: string): Promise<void> {
    gathering.delete(key)
    const { namespace, name } = parseKey(key)
    if (quotas.get(name, namespace) === undefined) return
    // Counts the stored objects, and writes only if nothing was charged meanwhile.
    const quota = await client.get(resources.resourceQuotas, name, namespace)
    const hard = (quota as unknown as Quota).spec.hard ?? {}
    const status = { hard, used: await countUsed(client, quota, hard, clock.nowMs()) }
    if (isSameJson(status, quota['status'] ?? {})) return
    await ignoreMissing(client.update(resources.resourceQuotas, { ...quota, status }, 'status'))
  }

  return {
    stop() {
      queue.stop()
      quotas.stop()
      for (const watching of watches.values()) watching.stop()
    },
  }
}

async function countUsed(
  client: SimClient,
  quota: ApiObject,
  hard: Readonly<Record<string, string>>,
  nowMs: number,
): Promise<Readonly<Record<string, string>>> {
  const used = new Map<string, bigint>()
  for (const { id, names } of limitedBy(client, quota as unknown as Quota)) {
    for (const name of names) used.set(name, used.get(name) ?? 0n)
    const { items } = await client.list(id, { namespace: quota.metadata.namespace ?? '' })
    for (const object of items) {
      if (!isInScope(quota['spec'] as Readonly<Record<string, unknown>>, id, object)) continue
      const usage = usageOf(id, object, nowMs)
      for (const name of names) used.set(name, used.get(name)! + (usage.get(name) ?? 0n))
    }
  }
  return Object.fromEntries([...used].map(([name, nano]) => [name, formatQuantity(nano, quantityForm(hard[name]))]))
}

/** Resources whose objects count towards the quota. */
function limitedBy(client: SimClient, { spec }: Quota): readonly { readonly id: ResourceId; readonly names: readonly string[] }[] {
  const hard = Object.keys(spec.hard ?? {})
  return client
    .discover()
    .filter(({ namespaced }) => namespaced)
    .map(({ id }) => ({ id, names: resourcesFor(id, hard) }))
    .filter(({ names }) => names.length > 0)
}
