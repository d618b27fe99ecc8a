import { followDeadNodes } from '../world/dead-nodes.ts'
import { followFormerRevisions } from '../world/former-revisions.ts'
import { takenBy } from '../world/node-story.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * G3: the nodes that we moved to the ordered revision never exceed the batch. A node counts when it runs the revision or will come back on
 * it. Nodes that others moved count as soon as the watches of the deciding process had reported them. Nodes that it may
 * have taken for dead since before the release do not, also where an earlier release had moved them to the revision: a rollback returns to it.
 */
export function createBatchJudge({ world, observations, query, breach }: JudgeParts): Judge {
  const dead = followDeadNodes(observations, followFormerRevisions(world, observations, query.isOurs))

  function countTaken(deletion: Deletion): number {
    const { daemonSet, pod, decision } = deletion
    const exempt = dead.exemptFor(deletion)
    const sinceMs = daemonSet.templateSinceMs(world.templateOf(daemonSet.orders.revision ?? '') ?? '') ?? 0
    let count = 1
    for (const node of daemonSet.taken) {
      if (node.name === pod.node) continue
      const taken = takenBy(node, daemonSet.orders.revision)
      const isOfRelease = taken?.byUs === true && taken.cause.t >= sinceMs
      if (!isOfRelease && exempt.has(node.name)) continue
      if (taken === null || taken.byUs || observations.hasSeen(decision, taken.cause)) count++
    }
    return count
  }

  return {
    onWrite: (write) => dead.onWrite(write),
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
