import type { ReportedNodeState, RevisionRole } from '@tranche/api-schema'
import { type FleetPod, type FleetView, isAvailable, keptPerBlock, type NodeView } from '@tranche/fleet'
import { type BatchScope, batchScope, hasOldPod, updatedPod } from '@tranche/fence'
import { isLostAfterUpdate } from '@tranche/verdict'
import type { Outline } from './outline.ts'

/** Facts besides the node that its state depends on. */
export interface StateQuestion {
  readonly canary: string
  readonly stable: string | undefined
  /** Revisions that were stable once, or ran before the first release. */
  readonly former: readonly string[]
  readonly minReadyMs: number
  readonly monotonicMs: number
  readonly scope: BatchScope
  /** Nodes on which the new version failed. */
  readonly failed: ReadonlySet<string>
}

/** @returns the facts for all nodes of a release */
export function stateQuestion(outline: Outline): StateQuestion {
  const { facts, canary, stable, minReadyMs, rules, batch, failure } = outline
  const scope = batchScope(rules, batch)
  return { canary, stable, former: formerIn(outline), minReadyMs, monotonicMs: facts.monotonicMs, scope, failed: new Set(failure?.nodes) }
}

/** Whether reports list the node: it is desired, or it was lost after its update and counts all the same. */
export function isReported(node: NodeView, { canary, failed }: StateQuestion): boolean {
  return node.desired || isLostAfterUpdate(node, canary) || (node.desiredOnReturn === true && failed.has(node.name))
}

/** State of a node in the release; the first state that applies. */
export function nodeState(node: NodeView, question: StateQuestion): ReportedNodeState {
  const { canary, scope, failed } = question
  const isOld = hasOldPod(node, canary)
  if (failed.has(node.name)) return 'failing'
  if (isOld && scope.rules.factsOf(node.labels).isExcluded) return 'excluded'
  if (!node.ready) return 'notReady'
  if (shownPod(node, canary)?.trouble !== undefined && !isUnplaced(node, canary)) return 'failing'
  const isUp = node.pods.some((pod) => isUpPod(pod, question))
  if (isOld) return isUp ? 'old' : 'down'
  return isUp && updatedPod(node, canary) !== undefined ? 'updated' : 'updating'
}

/** The pod that represents the node: a non-terminating one of another revision, else a non-terminating one, else the last. */
export function shownPod({ pods }: NodeView, canary: string): FleetPod | undefined {
  const standing = pods.filter(({ terminating }) => !terminating)
  return standing.find(({ hash }) => hash !== canary) ?? standing[0] ?? pods.at(-1)
}

/** Why a release leaves a node out for now: it is in maintenance, or NotReady. */
export function outOfReachText({ answers, ready, maintenance, isDeleted }: NodeView): string {
  if (isDeleted === true) return 'the node was deleted'
  const parts = [
    ...(ready ? [] : [answers ? 'the node is NotReady' : 'its kubelet does not respond (NotReady)']),
    ...(maintenance === undefined ? [] : [`${ready ? 'the node' : 'it'} is in maintenance (condition ${maintenance})`]),
  ]
  return parts.join(', and ')
}

/**
 * Revisions that have the role `former`. The terms of a release lack the one that it replaces, which it makes a former one; executors count
 * by these terms, and only they do.
 */
export function formerIn({ facts, former }: Pick<Outline, 'facts' | 'former'>): readonly string[] {
  return facts.rollout.status?.formerRevisions ?? former
}

/** Role of a revision in the release; `stable` wins when canary and stable are the same. */
export function roleOf(hash: string | undefined, question: Pick<StateQuestion, 'canary' | 'stable' | 'former'>): RevisionRole {
  if (hash === undefined || hash === '') return 'none'
  if (hash === question.stable) return 'stable'
  if (hash === question.canary) return 'canary'
  return question.former.includes(hash) ? 'former' : 'superseded'
}

/** Nodes of one zone, by state. */
export type StateCounts = Partial<Record<ReportedNodeState, number>>

/** Counts the reported nodes of each zone by state, incrementally. Zones by name; the empty name has the nodes without a zone. */
export function countZones(fleet: FleetView, question: StateQuestion): readonly { readonly zone: string; readonly states: StateCounts }[] {
  const zones = new Map<string, StateCounts>()
  for (const block of zonesPerBlock(fleet, question)) {
    for (const [zone, states] of block.zones) {
      const sum = zones.get(zone)
      if (sum === undefined) zones.set(zone, { ...states })
      else addTo(sum, states)
    }
  }
  return [...zones].sort(([a], [b]) => (a < b ? -1 : 1)).map(([zone, states]) => ({ zone, states }))
}

/** @returns the zone of a node from its labels; empty without one */
export function zoneOf({ labels }: Pick<NodeView, 'labels'>): string {
  return labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? ''
}

interface BlockZones {
  readonly zones: ReadonlyMap<string, StateCounts>
  /** Monotonic time at which a Ready pod becomes available by the clock alone; Infinity without one. */
  readonly changesAtMs: number
}

const zonesPerBlock = keptPerBlock<StateQuestion, BlockZones>({
  count(block, question) {
    const zones = new Map<string, StateCounts>()
    let changesAtMs = Number.POSITIVE_INFINITY
    for (const node of block) {
      if (!isReported(node, question)) continue
      const zone = zoneOf(node)
      const states = zones.get(zone) ?? {}
      zones.set(zone, states)
      addTo(states, { [nodeState(node, question)]: 1 })
      for (const pod of node.pods) changesAtMs = Math.min(changesAtMs, comesUpAtMs(pod, question))
    }
    return { zones, changesAtMs }
  },
  holds: (known, asked, { changesAtMs }) =>
    known.canary === asked.canary &&
    known.minReadyMs === asked.minReadyMs &&
    known.scope.rules === asked.scope.rules &&
    known.monotonicMs <= asked.monotonicMs &&
    asked.monotonicMs < changesAtMs &&
    isSameSet(known.failed, asked.failed),
})

/** Monotonic time at which a Ready pod becomes available by the clock alone; Infinity for any other pod. */
export function comesUpAtMs(pod: FleetPod, question: StateQuestion): number {
  return pod.ready && !pod.terminating && pod.readyFromMs !== null && !isUpPod(pod, question)
    ? pod.readyFromMs + question.minReadyMs
    : Number.POSITIVE_INFINITY
}

function isUpPod(pod: FleetPod, { minReadyMs, monotonicMs }: StateQuestion): boolean {
  return isAvailable(pod, minReadyMs, monotonicMs)
}

/** Whether its pod cannot be scheduled until resources become free. */
function isUnplaced(node: NodeView, canary: string): boolean {
  return shownPod(node, canary)?.trouble?.reason === 'Unschedulable'
}

function addTo(sum: StateCounts, states: StateCounts): void {
  for (const [state, count] of Object.entries(states) as [ReportedNodeState, number][]) sum[state] = (sum[state] ?? 0) + count
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a === b || (a.size === b.size && [...a].every((one) => b.has(one)))
}
