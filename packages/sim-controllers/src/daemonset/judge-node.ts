import type { DaemonSet, Node, Pod } from '@tranche/kube-types'
import { nodeEligibility, type Eligibility } from '../placement/node-eligibility.ts'
import { matchesSelector } from '../placement/requirements.ts'
import { availableAtMs, byPrecedence, isAvailable, isReady, isTerminal, isTerminating } from './pod-facts.ts'

/** A DaemonSet at its current revision. */
export interface Target {
  readonly daemonSet: DaemonSet
  /** `controller-revision-hash` of the current revision. */
  readonly hash: string
}

/** What one node adds to the DaemonSet's status. */
export interface NodeCounts {
  readonly desired: number
  readonly current: number
  readonly misscheduled: number
  readonly ready: number
  readonly available: number
  readonly updated: number
}

/** What a rolling update without surge makes of one node. */
export type RollingState =
  /** Neither wanted nor occupied, or its pod is updated and available. */
  | { readonly kind: 'settled' }
  /** Uses up one of maxUnavailable. */
  | { readonly kind: 'unavailable' }
  /** An old pod that is not available: goes at once, and uses up one of maxUnavailable. */
  | { readonly kind: 'replaceNow'; readonly pod: Pod }
  /** An old pod that is available: goes when maxUnavailable has room. */
  | { readonly kind: 'candidate'; readonly pod: Pod }

/** Everything a DaemonSet's controller has to know about one node. */
export interface NodeVerdict {
  /** A pod is to be created there. */
  readonly create: boolean
  /** Pods to delete: duplicates, pods that may not stay, unbound pods of a node that is gone. */
  readonly remove: readonly Pod[]
  /** Ended pods to delete, the failed ones with back-off. */
  readonly ended: readonly Pod[]
  /** Pods whose labels no longer match: their owner reference is to go. */
  readonly release: readonly Pod[]
  readonly counts: NodeCounts
  readonly rolling: RollingState
  /** Time alone may change this verdict: a ready pod is not available yet. */
  readonly ripening: boolean
}

/**
 * Judges one node for one DaemonSet. Pure.
 *
 * @param node undefined when no such node exists (any more)
 * @param owned the DaemonSet's pods that are bound or pinned to the node, in any order
 */
export function judgeNode(target: Target, node: Node | undefined, owned: readonly Pod[], nowMs: number): NodeVerdict {
  const { daemonSet } = target
  const claimed = owned.filter((pod) => matchesSelector(daemonSet.spec.selector, pod.metadata.labels))
  const pods = claimed.filter((pod) => !(isTerminal(pod) && isTerminating(pod))).sort(byPrecedence)
  const eligibility = node === undefined ? undefined : nodeEligibility(daemonSet.spec.template.spec ?? {}, node)
  const minReadyMs = minReadyMsOf(daemonSet)
  return {
    ...placementOf(eligibility, pods),
    release: owned.filter((pod) => !claimed.includes(pod)),
    counts: countsOf(target, eligibility, pods, nowMs),
    rolling: rollingOf(target, eligibility?.shouldRun === true, pods, nowMs),
    ripening: minReadyMs > 0 && pods.some((pod) => (availableAtMs(pod, minReadyMs) ?? -Infinity) > nowMs),
  }
}

/** @returns `spec.minReadySeconds` in milliseconds */
export function minReadyMsOf(daemonSet: DaemonSet): number {
  return (daemonSet.spec.minReadySeconds ?? 0) * 1000
}

type Placement = Pick<NodeVerdict, 'create' | 'remove' | 'ended'>

function placementOf(eligibility: Eligibility | undefined, pods: readonly Pod[]): Placement {
  const living = pods.filter((pod) => !isTerminating(pod))
  // Bound pods of a vanished node are left to the pod garbage collector.
  if (eligibility === undefined) return { create: false, remove: living.filter((pod) => !pod.spec?.nodeName), ended: [] }
  if (eligibility.shouldRun && pods.length === 0) return { create: true, remove: [], ended: [] }
  if (!eligibility.shouldContinue) return { create: false, remove: living, ended: [] }
  return { create: false, remove: living.filter((pod) => !isTerminal(pod)).slice(1), ended: living.filter(isTerminal) }
}

function countsOf(target: Target, eligibility: Eligibility | undefined, pods: readonly Pod[], nowMs: number): NodeCounts {
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

function rollingOf(target: Target, shouldRun: boolean, pods: readonly Pod[], nowMs: number): RollingState {
  if (pods.length === 0 && !shouldRun) return settled
  const living = pods.filter((pod) => !isTerminating(pod))
  const [pod] = living
  // None, or an old one beside a new one, or more than one of a kind.
  if (pod === undefined || living.length > 1) return unavailable
  const available = isAvailable(pod, minReadyMsOf(target.daemonSet), nowMs)
  if (isUpdated(pod, target)) return available ? settled : unavailable
  return available ? { kind: 'candidate', pod } : { kind: 'replaceNow', pod }
}

const settled: RollingState = { kind: 'settled' }
const unavailable: RollingState = { kind: 'unavailable' }

function isUpdated(pod: Pod, target: Target): boolean {
  return pod.metadata.labels?.['controller-revision-hash'] === target.hash
}
