import type { Node, Pod } from '@tranche/kube-types'
import { isTerminal } from '@tranche/sim-api'
import { nodeEligibility } from '../../placement/node-eligibility.ts'
import { matchesSelector } from '../../placement/requirements.ts'
import { placementOf, type NodePlacement } from './node-placement.ts'
import { availableAtMs, byPrecedence, isAvailable, isReady, isTerminating, minReadyMsOf } from './pod-facts.ts'
import { isUpdated, type Target } from './pod-template.ts'
import { isServing, rollingStateOf, type RollingState, type Situation } from './rolling-state.ts'

/** Contribution of one node to the DaemonSet's status. */
export interface NodeCounts {
  readonly desired: number
  readonly current: number
  readonly misscheduled: number
  readonly ready: number
  readonly available: number
  readonly updated: number
}

/** State of one node for a DaemonSet's controller. */
export interface NodeVerdict extends NodePlacement {
  /** Pods whose labels no longer match: their owner reference is removed. */
  readonly release: readonly Pod[]
  readonly counts: NodeCounts
  readonly rolling: RollingState
  /** Counts towards the available pods that a surge must preserve. */
  readonly serving: boolean
  /** Whether time alone may change this verdict: a ready pod is not available yet. */
  readonly ripening: boolean
}

/**
 * Evaluates one node for one DaemonSet. Pure.
 *
 * @param node undefined when no such node exists
 * @param owned the DaemonSet's pods that are bound or pinned to the node, in any order
 */
export function judgeNode(target: Target, node: Node | undefined, owned: readonly Pod[], nowMs: number): NodeVerdict {
  const { daemonSet } = target
  const claimed = owned.filter((pod) => matchesSelector(daemonSet.spec.selector, pod.metadata.labels))
  const pods = claimed.filter((pod) => !(isTerminal(pod) && isTerminating(pod))).sort(byPrecedence)
  const eligibility = node === undefined ? undefined : nodeEligibility(daemonSet.spec.template.spec ?? {}, node)
  const situation: Situation = { target, eligibility, pods, nowMs }
  const minReadyMs = minReadyMsOf(daemonSet)
  return {
    ...placementOf(situation),
    release: owned.filter((pod) => !claimed.includes(pod)),
    counts: countsOf(situation),
    rolling: rollingStateOf(situation),
    serving: isServing(situation),
    ripening: minReadyMs > 0 && pods.some((pod) => (availableAtMs(pod, minReadyMs) ?? -Infinity) > nowMs),
  }
}

function countsOf({ target, eligibility, pods, nowMs }: Situation): NodeCounts {
  const first = pods[0]
  const desired = eligibility?.shouldRun === true
  const counted = desired && first !== undefined
  return {
    desired: Number(desired),
    current: Number(counted),
    misscheduled: Number(eligibility !== undefined && !desired && first !== undefined),
    ready: Number(counted && isReady(first)),
    available: Number(counted && isAvailable(first, minReadyMsOf(target.daemonSet), nowMs)),
    updated: Number(counted && isUpdated(first, target)),
  }
}
