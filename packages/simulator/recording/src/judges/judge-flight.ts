import type { Judge, JudgeParts } from './judge-parts.ts'
import { limitFor } from './limit-for.ts'

/**
 * G2: nodes in flight never exceed the limit, and the limit is one that the DaemonSet declared. A node is in flight from our deletion of
 * its pod until it has an available pod. A node that is no longer wanted stops counting, even if it becomes wanted again. Deleting again on
 * a node in flight adds nothing; nor does deleting on a node whose permitted pod another actor deleted.
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
      if (recorded > declared) report(`the limit is ${recorded}, but the DaemonSet allowed at most ${declared} when it was set`)
      if (!addsNothing && inFlight > limit) report(`${inFlight} nodes are in flight, but the limit is ${limit}`)
    },
  }
}
