import { ownValue } from '../world/own-value.ts'
import { stepsIn } from '../world/orders.ts'
import { mayBeTaken, type RecordedNodeRules } from '../world/terms.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/**
 * Node rules of a policy, as the deciding process may have seen them.
 *
 * - G3: no pod is deleted on a node that is excluded, or that the steps so far do not include.
 * - G1: per topology value, no more nodes are in flight than the spread rule allows.
 */
export function createNodeRulesJudge({ observations, breach }: JudgeParts): Judge {
  return {
    onDeletion(deletion) {
      const { daemonSet, decision, pod, atMs } = deletion
      let first: Fault | undefined
      for (const terms of daemonSet.terms.possible(decision, observations)) {
        const fault = terms?.nodes === undefined ? null : faultOf(deletion, terms.nodes)
        if (fault === null) return
        first ??= fault
      }
      if (first !== undefined) breach({ ...first, atMs, node: pod.node })
    },
  }
}

interface Fault {
  readonly guarantee: 'G1' | 'G3'
  readonly text: string
}

function faultOf({ daemonSet, pod }: Deletion, rules: RecordedNodeRules): Fault | null {
  const story = daemonSet.node(pod.node)
  if (story?.node === undefined) return null
  const { node } = story
  if (!mayBeTaken(rules, node, stepsIn(daemonSet.orders.flight?.scope)))
    return { guarantee: 'G3', text: 'the node rules of the policy exclude the node from this step' }
  if (daemonSet.inFlight.has(story) || daemonSet.robbed.has(story)) return null
  for (const { topologyKey, maxUnavailable } of rules.spread ?? []) {
    const value = ownValue(node.labels, topologyKey)
    const others = [...daemonSet.inFlight].filter((other) => ownValue(other.node?.labels, topologyKey) === value)
    if (others.length < maxUnavailable) continue
    const names = others.map(({ name }) => name).join(', ')
    return {
      guarantee: 'G1',
      text: `${others.length} other nodes with ${topologyKey} ${value} are in flight, but the spread rule allows ${maxUnavailable}: ${names}`,
    }
  }
  return null
}
