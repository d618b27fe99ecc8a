import { type Condition, isSameJson } from '@tranche/kube-types'
import { type ApiObject, type ResourceId, resources, type SimClient, timestamp } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { planNamespaceConditions } from './namespace-conditions.ts'

const WORKERS = 2
const LOOK_AGAIN_MS = 500

/** Runs the namespace controller, which empties terminating namespaces and then removes their finalizer. */
export function startNamespaceController({ client, clock, onError }: ControllerOptions): RunningController {
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(() => clock.monotonicMs()),
    workers: WORKERS,
    async work(name) {
      if (!(await empty(client, name, timestamp(clock.nowMs())))) queue.addAfter(name, LOOK_AGAIN_MS)
    },
    onError,
  })
  const watching = client.watch(resources.namespaces, {}, (event) => {
    if (event.type === 'SYNCED' || event.type === 'DELETED') return
    if (event.object.metadata.deletionTimestamp !== undefined) queue.add(event.object.metadata.name)
  })
  return {
    stop() {
      queue.stop()
      watching.stop()
    },
  }
}

/** @returns whether nothing is left to do: the namespace is finalized or gone */
async function empty(client: SimClient, name: string, nowText: string): Promise<boolean> {
  const content = await contentOf(client, name)
  // Pods are deleted first, because they use other objects.
  const pods = content.filter(({ id }) => id.group === '' && id.resource === 'pods')
  for (const { id, items } of pods.length > 0 ? pods : content)
    await Promise.all(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map((object) => remove(client, id, object)))
  const left = content.length > 0 ? await contentOf(client, name) : content
  const [namespace] = (await client.list(resources.namespaces, { fieldSelector: `metadata.name=${name}` })).items
  if (namespace === undefined) return true
  if (left.length === 0) await ignoreMissing(client.update(resources.namespaces, { ...namespace, spec: { finalizers: [] } }, 'finalize'))
  else await writeConditions(client, namespace, planNamespaceConditions(conditionsOf(namespace), left, nowText))
  return left.length === 0
}

/** Objects of one resource in a namespace. */
interface Content {
  readonly id: ResourceId
  readonly items: readonly ApiObject[]
}

async function contentOf(client: SimClient, namespace: string): Promise<readonly Content[]> {
  const content: Content[] = []
  for (const { id, namespaced } of client.discover()) {
    if (!namespaced) continue
    const { items } = await client.list(id, { namespace })
    if (items.length > 0) content.push({ id, items })
  }
  return content
}

async function remove(client: SimClient, id: ResourceId, { metadata }: ApiObject): Promise<void> {
  await ignoreMissing(client.delete(id, metadata.name, metadata.namespace, { propagationPolicy: 'Background' }))
}

async function writeConditions(client: SimClient, namespace: ApiObject, conditions: readonly Condition[]): Promise<void> {
  if (isSameJson(conditions, conditionsOf(namespace))) return
  const { name, resourceVersion } = namespace.metadata
  await ignoreMissing(
    client.patch(resources.namespaces, name, undefined, { metadata: { resourceVersion }, status: { conditions } }, 'status'),
  )
}

function conditionsOf(namespace: ApiObject): readonly Condition[] {
  return ((namespace['status'] ?? {}) as { readonly conditions?: readonly Condition[] }).conditions ?? []
}
