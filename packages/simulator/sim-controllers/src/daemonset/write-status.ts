import { keyOf, keyText, type DaemonSet } from '@tranche/kube-types'
import { isStatus, resources, type ApiObject } from '@tranche/sim-api'
import { planStatus } from './daemon-set-status.ts'
import type { NodeCounts } from './judge-node.ts'
import type { Ledger } from './node-ledger.ts'
import { minReadyMsOf } from './pod-facts.ts'
import type { Target } from './pod-template.ts'
import type { SyncPorts } from './sync-ports.ts'

type StatusPorts = Pick<SyncPorts, 'client' | 'ownWrites' | 'wakeAfter'>

/**
 * Writes the counts where they differ from what is stored, and comes back when ready pods are to become available.
 *
 * @param observed the generation that this pass has acted on; undefined lets `observedGeneration` stay
 * @throws what the second of two writes answers, or the reading between them; a DaemonSet that is gone needs no status
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

/** One retry with a fresh copy, since others write to the DaemonSet too. */
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
