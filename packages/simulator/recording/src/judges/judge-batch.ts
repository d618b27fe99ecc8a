import { takenBy } from '../world/node-story.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G3: the nodes that we moved to the ordered revision never exceed the batch. A node counts when it runs the revision or will come back on
 * it. Nodes that others moved count as soon as the watches of the deciding process had reported them.
 */
export function createBatchJudge({ observations, breach }: JudgeParts): Judge {
  function countTaken({ daemonSet, pod, decision }: Deletion): number {
    let count = 1
    for (const node of daemonSet.taken) {
      if (node.name === pod.node) continue
      const taken = takenBy(node, daemonSet.orders.revision)
      if (taken === null || taken.byUs || observations.hasSeen(decision, taken.cause)) count++
    }
    return count
  }

  return {
    onDeletion(deletion) {
      const { daemonSet, pod, atMs, decision } = deletion
      const { partition, isSilent } = daemonSet.orders
      if (daemonSet.latest === undefined) return
      const report = (text: string): void => breach({ guarantee: 'G3', atMs, node: pod.node, text })
      if (isSilent || partition === undefined) return report('no batch was ordered')
      if (daemonSet.taken.size + 1 <= daemonSet.wanted - partition) return
      const size = daemonSet.mostWanted(decision, observations) - partition
      const taken = countTaken(deletion)
      if (taken > size) report(`${taken} nodes run or will run the released revision, but the batch has ${size}`)
    },
  }
}
