import type { Judge, JudgeParts } from './judge-parts.ts'
import { limitFor } from './limit-for.ts'

/**
 * G2: nodes on which we deleted a pod and which have had no available one since are never more than the limit, and the
 * limit is one that the DaemonSet declared. A node that is no longer wanted counts no more, also when it is wanted again.
 * Deleting again on such a node adds nothing; nor does it on one whose permitted pod somebody else deleted.
 */
export function createFlightJudge({ breach }: JudgeParts): Judge {
  return {
    onDeletion(deletion) {
      const { daemonSet, pod, atMs } = deletion
      const force = limitFor(deletion)
      const { limit, recorded, declared } = force ?? { limit: 0, recorded: 0, declared: 0 }
      const node = daemonSet.node(pod.node)
      const addsNothing = node !== undefined && (daemonSet.inFlight.has(node) || daemonSet.robbed.has(node) || !node.wanted)
      const inFlight = daemonSet.inFlight.size + (addsNothing ? 0 : 1)
      const report = (text: string): void => breach({ guarantee: 'G2', atMs, node: pod.node, text })
      if (recorded > declared) report(`the limit is ${recorded}, but the DaemonSet allowed no more than ${declared} when it was set`)
      if (!addsNothing && inFlight > limit) report(`${inFlight} nodes are in flight, ${limit} are allowed`)
    },
  }
}
