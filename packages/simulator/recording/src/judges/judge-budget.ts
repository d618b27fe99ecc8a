import type { NodeStory } from '../world/node-story.ts'
import type { Decision } from '../world/observations.ts'
import type { Deletion } from '../world/world.ts'
import { followDeadNodes } from '../world/dead-nodes.ts'
import { followFormerRevisions } from '../world/former-revisions.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { limitFor } from './limit-for.ts'

/**
 * G1: no Ready pod is deleted while as many other wanted nodes as the limit are down. Nodes in flight count, and nodes that are down for
 * another reason that the watches of the deciding process had reported, but for those that were dead before their update. Where a list took its
 * watch past the time in which a pod was not Ready, the time in the status of the pod says since when it has been.
 */
export function createBudgetJudge({ world, observations, query, breach }: JudgeParts): Judge {
  const dead = followDeadNodes(observations, followFormerRevisions(world, observations, query.isOurs))

  function downBeside(deletion: Deletion): ReadonlySet<string> {
    const { daemonSet, pod, decision } = deletion
    const exempt = dead.exemptFor(deletion)
    const inFlight = [...daemonSet.inFlight].map(({ name }) => name)
    const isSeen = ({ name, downBy }: NodeStory): boolean => !exempt.has(name) && observations.hasSeen(decision, downBy)
    const others = [...daemonSet.down].filter((node) => isSeen(node) && !looksAvailable(node, decision)).map(({ name }) => name)
    return new Set([...inFlight, ...others].filter((name) => name !== pod.node))
  }

  /** Whether the process cannot have seen the time without a Ready pod, and the status of the pod says that it has been Ready for long enough. */
  function looksAvailable({ pods, downBy }: NodeStory, { actor, atMs }: Decision): boolean {
    if (downBy.of !== 'pods') return false
    return [...pods.values()].some(({ ended, readyRv, last, neededMs }) => {
      const isOldEnough = Date.parse(last.readyAt ?? '') + neededMs <= atMs
      return ended === null && readyRv !== null && isOldEnough && observations.hasSkipped(actor, downBy, readyRv)
    })
  }

  return {
    onWrite: (write) => dead.onWrite(write),
    onDeletion(deletion) {
      const { daemonSet, pod, atMs } = deletion
      if (!pod.last.ready || pod.ended !== null) return
      const limit = limitFor(deletion)?.limit
      if (limit === undefined || daemonSet.inFlight.size + daemonSet.down.size < limit) return
      const down = downBeside(deletion)
      if (down.size < limit) return
      const names = [...down].sort().join(', ')
      breach({ guarantee: 'G1', atMs, node: pod.node, text: `${down.size} other nodes are down, but the limit is ${limit}: ${names}` })
    },
  }
}
