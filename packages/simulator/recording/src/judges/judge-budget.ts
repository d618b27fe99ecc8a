import type { NodeStory } from '../world/node-story.ts'
import type { RecordedNode, RecordedWrite } from '../record/recorded-write.ts'
import { inNodes } from '../world/resolve-limit.ts'
import type { Cause, Decision } from '../world/observations.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { limitFor } from './limit-for.ts'

/**
 * G1: no Ready pod is deleted while as many other wanted nodes as the limit are down. Nodes in flight count, and nodes that are down for
 * another reason that the watches of the deciding process had reported. Of the latter, the policy exempts up to `notReady.exempt` nodes
 * that are NotReady, or may have looked so to the deciding process.
 */
export function createBudgetJudge({ observations, breach }: JudgeParts): Judge {
  /** By node name: its Ready status, and the last write that changed it. */
  const readiness = new Map<string, { readonly ready: string | undefined; readonly by: Cause }>()

  function downBeside(deletion: Deletion): ReadonlySet<string> {
    const { daemonSet, pod, decision } = deletion
    const names = new Set<string>()
    for (const { name } of daemonSet.inFlight) if (name !== pod.node) names.add(name)
    let exempt = mostExempt(deletion)
    for (const node of daemonSet.down) {
      if (node.name === pod.node || names.has(node.name) || !observations.hasSeen(decision, node.downBy)) continue
      if (isDead(node, decision) && exempt-- > 0) continue
      names.add(node.name)
    }
    return names
  }

  function mostExempt({ daemonSet, decision }: Deletion): number {
    let most = 0
    const wanted = daemonSet.mostWanted(decision, observations)
    for (const terms of daemonSet.terms.possible(decision, observations))
      most = Math.max(most, inNodes(terms?.nodes?.notReady?.exempt ?? 0, wanted))
    return most
  }

  function isDead({ name, node }: NodeStory, decision: Decision): boolean {
    if (node?.ready === undefined) return false
    const last = readiness.get(name)
    return node.ready !== 'True' || (last !== undefined && !observations.hasSeen(decision, last.by))
  }

  function noteReady({ t, rv, o }: RecordedWrite): void {
    const { name, ready } = o as unknown as RecordedNode
    if (readiness.get(name)?.ready !== ready) readiness.set(name, { ready, by: { t, rv, of: 'nodes' } })
  }

  return {
    onWrite(write) {
      if (write.kind === 'Node') noteReady(write)
    },
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
