import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { limitFor } from './limit-for.ts'

/**
 * G1: no Ready pod is deleted while as many other wanted nodes as the limit are down. Those count on which we deleted a
 * pod, and those that are down for another reason of which the watches of whoever decided had told.
 */
export function createBudgetJudge({ sight, breach }: JudgeParts): Judge {
  function downBeside({ daemonSet, pod, decision }: Deletion): ReadonlySet<string> {
    const names = new Set<string>()
    for (const { name } of daemonSet.inFlight) if (name !== pod.node) names.add(name)
    for (const { name, downBy } of daemonSet.down) if (name !== pod.node && sight.hasSeen(decision, downBy)) names.add(name)
    return names
  }

  return {
    onDeletion(deletion) {
      const { daemonSet, pod, atMs } = deletion
      if (!pod.last.ready || pod.ended !== null) return
      const limit = limitFor(deletion)?.limit
      if (limit === undefined || daemonSet.inFlight.size + daemonSet.down.size < limit) return
      const down = downBeside(deletion)
      if (down.size < limit) return
      const names = [...down].sort().join(', ')
      breach({ guarantee: 'G1', atMs, node: pod.node, text: `${down.size} other nodes are down, ${limit} are allowed: ${names}` })
    },
  }
}
