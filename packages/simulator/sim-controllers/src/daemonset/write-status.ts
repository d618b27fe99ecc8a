import { keyOf, keyText, type DaemonSet } from '@tranche/kube-types'
import { isStatus, resources, type ApiObject } from '@tranche/sim-api'
import { planStatus } from './daemon-set-status.ts'
import type { NodeCounts } from './nodes/judge-node.ts'
import type { Ledger } from './nodes/node-ledger.ts'
import { minReadyMsOf } from './nodes/pod-facts.ts'
import type { Target } from './nodes/pod-template.ts'
import type { SyncPorts } from './sync-ports.ts'

type StatusPorts = Pick<SyncPorts, 'client' | 'ownWrites' | 'wakeAfter'>

/**
 * Writes changed counts, and requeues the DaemonSet for when ready pods become available.
 *
 * @param observed generation that this pass has acted on; undefined keeps `observedGeneration`
 * @throws error of the second of two writes, or of the read in between; a deleted DaemonSet needs no status
 */
export async function writeStatus(
  ports: StatusPorts,
  { daemonSet }: Target,
  { counts }: Ledger,
  observed: number | undefined,
): Promise<void> {
  await storeStatus(ports, daemonSet, counts, observed)
  const minReadyMs = minReadyMsOf(daemonSet)
  if (minReadyMs > 0 && counts.ready !== counts.available) ports.wakeAfter(keyText(keyOf(daemonSet)), minReadyMs)
}

/** Retries once with a fresh copy, because others write to the DaemonSet too. */
async function storeStatus(
  { client, ownWrites }: StatusPorts,
  daemonSet: DaemonSet,
  counts: NodeCounts,
  observed: number | undefined,
): Promise<void> {
  const { name, namespace } = daemonSet.metadata
  const put = async (base: DaemonSet): Promise<void> => {
    const status = planStatus(base, counts, observed)
    if (status === undefined) return
    const written = await client.update(resources.daemonSets, { ...base, status } as unknown as ApiObject, 'status')
    ownWrites.statusWritten(daemonSet, written.metadata.resourceVersion)
  }
  try {
    await put(daemonSet).catch(async () => put((await client.get(resources.daemonSets, name, namespace)) as unknown as DaemonSet))
  } catch (error) {
    if (!isStatus(error, 404)) throw error
  }
}
