import { keyOf, keyText, type Pod } from '@tranche/kube-types'
import { changePods } from './change-pods.ts'
import type { Ledger } from './nodes/node-ledger.ts'
import type { Target } from './nodes/pod-template.ts'
import type { SyncPorts } from './sync-ports.ts'

/**
 * Placement: one pod on every eligible node, and no others.
 *
 * @throws error of a write
 */
export async function manage(ports: SyncPorts, target: Target, ledger: Ledger): Promise<void> {
  const removed = [...ledger.removals].flatMap((name) => ledger.verdict(name)!.remove)
  const ended = [...ledger.ended].flatMap((name) => endedPods(ports, target, name, ledger.verdict(name)!.ended))
  await changePods(ports, target, [...ledger.creates], [...removed, ...ended])
}

/** Deletes failed pods with back-off, succeeded ones at once. */
function endedPods(ports: SyncPorts, { daemonSet }: Target, nodeName: string, pods: readonly Pod[]): readonly Pod[] {
  const place = `${daemonSet.metadata.uid}/${daemonSet.status?.observedGeneration ?? 0}/${nodeName}`
  return pods.filter((pod) => {
    if (pod.status?.phase === 'Succeeded') {
      const message = `Found succeeded daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${nodeName}, will try to delete it`
      ports.events.record(daemonSet, 'Normal', 'SucceededDaemonPod', message)
      return true
    }
    const delayMs = ports.backoff.tryNow(place)
    if (delayMs > 0) {
      ports.wakeAfter(keyText(keyOf(daemonSet)), delayMs)
      return false
    }
    const message = `Found failed daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${nodeName}, will try to kill it`
    ports.events.record(daemonSet, 'Warning', 'FailedDaemonPod', message)
    return true
  })
}
