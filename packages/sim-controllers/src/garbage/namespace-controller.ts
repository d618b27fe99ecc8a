import { type ApiObject, isStatus, type ResourceId, resources, type SimClient } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../daemonset/daemon-set-controller.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'

const WORKERS = 2
const LOOK_AGAIN_MS = 500

const namespaced: readonly ResourceId[] = [
  resources.daemonSets,
  resources.controllerRevisions,
  resources.pods,
  resources.configMaps,
  resources.secrets,
  resources.serviceAccounts,
  resources.leases,
  resources.events,
]

/** Runs the controller of namespaces: one that is being deleted is emptied, then let go. */
export function startNamespaceController({ client, clock, onError }: ControllerOptions): RunningController {
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(() => clock.monotonicMs()),
    workers: WORKERS,
    async work(name) {
      if (!(await empty(client, name))) queue.addAfter(name, LOOK_AGAIN_MS)
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

/** @returns whether nothing is left to be done: the namespace is let go, or gone */
async function empty(client: SimClient, name: string): Promise<boolean> {
  let left = 0
  for (const id of [...(await customResources(client)), ...namespaced]) {
    const { items } = await client.list(id, { namespace: name })
    left += items.length
    await Promise.all(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map((object) => remove(client, id, object)))
  }
  if (left > 0) return false
  try {
    const namespace = await client.get(resources.namespaces, name)
    await client.update(resources.namespaces, { ...namespace, spec: { finalizers: [] } }, 'finalize')
  } catch (error) {
    if (!isStatus(error, 404)) throw error
  }
  return true
}

async function customResources(client: SimClient): Promise<readonly ResourceId[]> {
  const { items } = await client.list(resources.customResourceDefinitions)
  return items.flatMap((item) => {
    const { group, scope, names } = item['spec'] as {
      readonly group: string
      readonly scope: string
      readonly names: { readonly plural: string }
    }
    return scope === 'Namespaced' ? [{ group, resource: names.plural }] : []
  })
}

async function remove(client: SimClient, id: ResourceId, { metadata }: ApiObject): Promise<void> {
  await client.delete(id, metadata.name, metadata.namespace, { propagationPolicy: 'Background' }).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error
  })
}
