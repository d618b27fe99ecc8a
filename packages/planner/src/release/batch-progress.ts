import type { BatchState, ReleasePlan } from '@tranche/api-schema'
import { availableFromMs, type FleetPod, type FleetView, isAvailable, keptPerBlock, type NodeBlock, type NodeView } from '@tranche/fleet'
import { scaleIntOrPercent } from '@tranche/kube-types'
import { type CountQuestion, isSameAnswer } from '../count-question.ts'
import { hasOldPod } from '../old-nodes.ts'
import { updatedPod } from '../updated-nodes.ts'

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
export interface BatchQuestion extends CountQuestion {
  readonly fleet: FleetView
  readonly plan: ReleasePlan
  /** Batch from 0; null for all nodes. */
  readonly batch: number | null
}

/** Counts where the batch stands. A batch is ready when `effectiveSize` nodes, less those tolerated, are updated and available. */
export function batchProgress(question: BatchQuestion): BatchProgress {
  const { fleet, revision, minReadyMs, monotonicMs } = question
  const { desired } = fleet
  const counts = sumOf(countPerBlock(fleet, { revision, minReadyMs, monotonicMs }))
  const size = batchSize(question.plan, question.batch, desired)
  const effectiveSize = Math.min(size, desired - counts.skipped.length)
  const threshold = tolerated(question.plan, effectiveSize)
  const onTheWay = counts.updated + counts.between.length
  return {
    ...counts,
    desired,
    size,
    partition: desired - size,
    effectiveSize,
    state: stateOf(onTheWay, counts.updatedAvailable, effectiveSize, threshold + counts.away.length),
  }
}

/** What is counted node by node. */
type NodeCounts = Omit<BatchProgress, 'desired' | 'size' | 'partition' | 'effectiveSize' | 'state'>

/** The counts of one block; they hold until `changesAtMs` (monotonic), when a Ready pod becomes available by the clock alone. */
interface BlockCounts extends NodeCounts {
  readonly changesAtMs: number
}

const countPerBlock = keptPerBlock<CountQuestion, BlockCounts>({
  count: countBlock,
  holds: (known, asked, { changesAtMs }) => isSameAnswer(known, asked, changesAtMs),
})

function countBlock(block: NodeBlock, { revision, minReadyMs, monotonicMs }: CountQuestion): BlockCounts {
  const nodes = block.filter((node) => node.desired)
  const isUp = (pod: FleetPod): boolean => isAvailable(pod, minReadyMs, monotonicMs)
  const old = nodes.filter((node) => hasOldPod(node, revision))
  const updated = nodes.flatMap((node) => {
    const pod = updatedPod(node, revision)
    return pod === undefined ? [] : [{ node: node.name, pod }]
  })
  const unwell = updated.filter(({ pod }) => !isUp(pod))
  const between = nodes.filter((node) => node.pods.every((pod) => pod.terminating))
  const comingUp = nodes.flatMap(({ pods }) => pods.filter((pod) => pod.ready && !pod.terminating && !isUp(pod)))
  return {
    updated: updated.length,
    updatedReady: updated.filter(({ pod }) => pod.ready).length,
    updatedAvailable: updated.length - unwell.length,
    skipped: old.filter((node) => !node.ready).map(({ name }) => name),
    old: old.map(({ name }) => name),
    unwell,
    between: between.map(({ name }) => name),
    away: awayNodes(nodes, between, updated),
    unavailable: nodes.filter(({ pods }) => !pods.some(isUp)).map(({ name }) => name),
    changesAtMs: Math.min(...comingUp.map((pod) => availableFromMs(pod, minReadyMs) ?? Number.POSITIVE_INFINITY)),
  }
}

function sumOf(blocks: readonly NodeCounts[]): NodeCounts {
  return {
    updated: blocks.reduce((sum, { updated }) => sum + updated, 0),
    updatedReady: blocks.reduce((sum, { updatedReady }) => sum + updatedReady, 0),
    updatedAvailable: blocks.reduce((sum, { updatedAvailable }) => sum + updatedAvailable, 0),
    skipped: blocks.flatMap(({ skipped }) => skipped),
    old: blocks.flatMap(({ old }) => old),
    unwell: blocks.flatMap(({ unwell }) => unwell),
    between: blocks.flatMap(({ between }) => between),
    away: blocks.flatMap(({ away }) => away),
    unavailable: blocks.flatMap(({ unavailable }) => unavailable),
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
