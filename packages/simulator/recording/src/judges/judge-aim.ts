import type { RecordedDaemonSet } from '../record/recorded-write.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G4: deletes only old pods of the DaemonSet that are not terminating, on nodes that the DaemonSet wants. A record permits each pod in
 * exactly the version that is deleted, and the request carries both preconditions. The DaemonSet agrees with a record, as far as the
 * deciding process could see.
 */
export function createAimJudge({ observations, breach }: JudgeParts): Judge {
  return {
    onDeletion(deletion) {
      const { pod, daemonSet, atMs } = deletion
      const report = (text: string): void => breach({ guarantee: 'G4', atMs, node: pod.node, text })
      for (const fault of [faultOfPod(deletion), faultOfRequest(deletion)]) if (fault !== null) report(fault)
      const node = daemonSet.node(pod.node)
      if (node?.wanted === false && observations.hasSeen(deletion.decision, node.wantedBy))
        report('the DaemonSet does not place a pod on the node')
      if (!agreed(deletion)) report(`the DaemonSet did not agree with the record: ${disagreement(deletion)}`)
    },
  }

  /** Whether some version of the DaemonSet that the deciding process may have seen was published for an open record. */
  function agreed({ daemonSet, decision }: Deletion): boolean {
    const { flight } = daemonSet.orders
    if (flight?.generation === undefined) return true
    for (const version of daemonSet.possibleVersions(decision, observations)) if (agrees(version, daemonSet)) return true
    return false
  }
}

function faultOfPod({ pod, daemonSet }: Deletion): string | null {
  const { revision } = daemonSet.orders
  if (pod.ended !== null) return 'the pod was already terminating'
  return pod.last.hash !== undefined && pod.last.hash === revision ? `the pod runs ${revision}, the revision being released` : null
}

function faultOfRequest({ daemonSet, write, permittedMs }: Deletion): string | null {
  const { uid, resourceVersion } = write.preconditions ?? {}
  if (uid === undefined || resourceVersion === undefined)
    return `the delete request had no ${uid === undefined ? 'uid' : 'resourceVersion'} precondition`
  const hasPermits = daemonSet.isNamed && !daemonSet.isWithoutPermits
  return permittedMs === undefined && hasPermits ? 'no record ever permitted the deletion' : null
}

const CANARY = 'rollouts.kruise.io/daemonset-canary-revision'
const PARTITION = 'rollouts.kruise.io/daemonset-partition'
const PAUSED = 'tranche.dev/paused'

function agrees(version: RecordedDaemonSet, { orders }: Deletion['daemonSet']): boolean {
  const { generation = 0, observed, annotations = {}, strategy } = version
  return (
    observed === generation &&
    strategy?.type === 'OnDelete' &&
    annotations[PAUSED] === undefined &&
    orders.everAgreed(generation, annotations[CANARY], Number(annotations[PARTITION]))
  )
}

function disagreement({ daemonSet }: Deletion): string {
  const { generation, observed, annotations = {}, strategy } = daemonSet.latest ?? {}
  const { flight } = daemonSet.orders
  const published = `${annotations[CANARY]} with partition ${annotations[PARTITION]}${annotations[PAUSED] ? ', paused' : ''}`
  return `generation ${generation}, observed ${observed}, ${strategy?.type}, ${published}; record at ${flight?.generation}, ${flight?.revision} with partition ${flight?.partition}`
}
