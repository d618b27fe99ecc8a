import type { BatchState, ReleasePlan } from '@tranche/api-schema'
import { type FleetPod, type FleetView, isAvailable, type NodeView } from '@tranche/fleet'
import { scaleIntOrPercent } from '@tranche/kube-types'

/** Where one batch stands, counted over the desired nodes. */
export interface BatchProgress {
  readonly desired: number
  /** Cumulative nodes that the batch should have on the revision (clamped to the desired ones). */
  readonly size: number
  /** Nodes to keep on the old revision: desired − size. */
  readonly partition: number
  /** The size less the nodes that cannot be taken: min(size, desired − skipped). */
  readonly effectiveSize: number
  /** Nodes with a standing pod of the revision and none of another. */
  readonly updated: number
  readonly updatedReady: number
  readonly updatedAvailable: number
  /** NotReady nodes that still run an old pod: passed over, done when they are back. */
  readonly skipped: readonly string[]
  /** Desired nodes that run an old pod, skipped ones too. */
  readonly old: readonly string[]
  /** Updated nodes that are not available, with their pods. */
  readonly unwell: readonly { readonly node: string; readonly pod: FleetPod }[]
  /** Nodes without any standing pod: between two pods. */
  readonly between: readonly string[]
  /**
   * Nodes that went away while they were being updated: NotReady, without a pod of the revision that their kubelet has
   * taken up. A batch is ready without them; they are done when they are back.
   */
  readonly away: readonly string[]
  /** Desired nodes without an available pod, whatever its revision: what uses the budget up. */
  readonly unavailable: readonly string[]
  readonly state: BatchState
}

/** What the count rests on. */
export interface BatchQuestion {
  readonly fleet: FleetView
  readonly revision: string
  readonly plan: ReleasePlan
  /** Batch from 0; null for all nodes. */
  readonly batch: number | null
  readonly minReadyMs: number
  readonly monotonicMs: number
}

/** Counts where the batch stands. A batch is ready when `effectiveSize` nodes, less those tolerated, are updated and available. */
export function batchProgress(question: BatchQuestion): BatchProgress {
  const nodes = question.fleet.nodes.filter((node) => node.desired)
  const isUp = (pod: FleetPod): boolean => isAvailable(pod, question.minReadyMs, question.monotonicMs)
  const old = nodes.filter((node) => node.pods.some((pod) => !pod.terminating && pod.hash !== question.revision))
  const skipped = old.filter((node) => !node.ready)
  const updated = nodes.flatMap((node) => updatedPod(node, question.revision))
  const available = updated.filter(({ pod }) => isUp(pod))
  const size = batchSize(question.plan, question.batch, nodes.length)
  const effectiveSize = Math.min(size, nodes.length - skipped.length)
  const between = nodes.filter((node) => node.pods.every((pod) => pod.terminating))
  const away = awayNodes(nodes, between, updated)
  const threshold = tolerated(question.plan, effectiveSize)
  return {
    desired: nodes.length,
    size,
    partition: nodes.length - size,
    effectiveSize,
    updated: updated.length,
    updatedReady: updated.filter(({ pod }) => pod.ready).length,
    updatedAvailable: available.length,
    skipped: skipped.map(({ name }) => name),
    old: old.map(({ name }) => name),
    unwell: updated.filter((entry) => !available.includes(entry)),
    between: between.map(({ name }) => name),
    away,
    unavailable: nodes.filter(({ pods }) => !pods.some(isUp)).map(({ name }) => name),
    state: stateOf(updated.length + between.length, available.length, effectiveSize, threshold + away.length),
  }
}

/**
 * Cumulative nodes after the batch: rounded up, clamped to the desired nodes, never less than an earlier batch (whole
 * numbers and percentages may cross when nodes go); all of them without a batch. A batch
 * outside the plan is none: reading a missing one as "everything" would release to every node.
 */
export function batchSize(plan: ReleasePlan, batch: number | null, desired: number): number {
  if (batch === null) return desired
  if (plan.batches?.[batch] === undefined) return 0
  const sizes = plan.batches.slice(0, batch + 1).map(({ canaryReplicas }) => scaleIntOrPercent(canaryReplicas, desired) ?? 0)
  return Math.min(Math.max(...sizes), desired)
}

/** A percent failureThreshold is ⌈% × effective size⌉. */
function tolerated(plan: ReleasePlan, effectiveSize: number): number {
  return plan.failureThreshold === undefined ? 0 : (scaleIntOrPercent(plan.failureThreshold, effectiveSize) ?? 0)
}

/** One that its kubelet has taken up and that then turned NotReady counts against the new version instead (G6). */
function awayNodes(
  nodes: readonly NodeView[],
  between: readonly NodeView[],
  updated: readonly { node: string; pod: FleetPod }[],
): readonly string[] {
  const waiting = new Set([...between.map(({ name }) => name), ...updated.filter(({ pod }) => !pod.acknowledged).map(({ node }) => node)])
  return nodes.filter(({ name, ready }) => !ready && waiting.has(name)).map(({ name }) => name)
}

/**
 * Tolerance is for nodes that were updated and are not well, or went away meanwhile, never for nodes that nobody touched;
 * and one node at least must show that the revision works.
 */
function stateOf(onTheWay: number, available: number, effectiveSize: number, toleratedNodes: number): BatchState {
  if (onTheWay < effectiveSize) return 'Upgrading'
  const needed = effectiveSize - Math.max(0, Math.min(toleratedNodes, effectiveSize - 1))
  return available >= needed ? 'Ready' : 'Verifying'
}

function updatedPod(node: NodeView, revision: string): { node: string; pod: FleetPod }[] {
  const standing = node.pods.filter((pod) => !pod.terminating)
  const pod = standing[0]
  return pod !== undefined && standing.every((other) => other.hash === revision) ? [{ node: node.name, pod }] : []
}
