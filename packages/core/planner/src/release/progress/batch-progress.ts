import type { BatchState, Permit, ReleaseNodeRules, ReleasePlan } from '@tranche/api-schema'
import { availableFromMs, type FleetPod, type FleetView, isAvailable, keptPerBlock, type NodeBlock, type NodeView } from '@tranche/fleet'
import { scaleIntOrPercent } from '@tranche/kube-types'
import {
  type CountQuestion,
  isSameAnswer,
  type BatchScope,
  batchScope,
  isInSteps,
  isSameScope,
  type Exemption,
  exemptNodes,
  hasOldPod,
  idleNodes,
  takesPlace,
  isInReach,
  isInScope,
  nodesInFlight,
  updatedPod,
} from '@tranche/fence'

/** Progress of one batch, counted over the desired nodes. */
export interface BatchProgress {
  readonly desired: number
  /** Cumulative nodes that the batch should have on the revision (at most the desired ones). */
  readonly size: number
  /** Nodes of `size` that no step so far selects, and that have no old pod any more. */
  readonly outside: number
  /** Nodes to keep on the old revision: desired − size. */
  readonly partition: number
  /**
   * The size without nodes that cannot be taken. Some run an old pod, and are skipped, excluded, or not in the steps so far. The others are
   * exempt without an old pod: those that this release moved, and those that are not in the steps so far.
   */
  readonly effectiveSize: number
  /** Nodes that the batch still has to take: without those between the old and the new pod. Exempt nodes fill no place. */
  readonly missing: number
  /** Nodes with a standing pod of the revision and none of another. */
  readonly updated: number
  readonly updatedReady: number
  readonly updatedAvailable: number
  /** NotReady nodes of the batch that still run an old pod and are out of reach: skipped, and updated when they are back. */
  readonly skipped: readonly string[]
  /** NotReady nodes of the batch, out of reach with an old pod or a terminating one, for which the policy makes the batch wait. */
  readonly waitedFor: readonly string[]
  /** Nodes that the policy excludes and that still run an old pod. */
  readonly excluded: readonly string[]
  /** Desired nodes that run an old pod, including skipped ones. */
  readonly old: readonly string[]
  /** Updated nodes that are not available, with their pods; without the exempt ones. So are the next two. */
  readonly unwell: readonly { readonly node: string; readonly pod: FleetPod }[]
  /** Nodes without a standing pod, between the old and the new one. */
  readonly between: readonly string[]
  /**
   * Nodes that became NotReady during their update, before their kubelet acknowledged a pod of the revision. A batch is ready
   * without them; they finish when they are back.
   */
  readonly away: readonly string[]
  /** Desired nodes without an available pod of any revision, minus the exempt ones: what uses the budget. */
  readonly unavailable: readonly string[]
  /** Dead nodes, and whether the policy exempts them from the budget. */
  readonly exemption: Exemption
  /**
   * Nodes of a batch that reaches none. Each is skipped, exempt without an old pod, or desired only on its return. Empty where the policy
   * excludes all of them. Absent where the batch reaches a node or takes none, and in a rollback.
   */
  readonly outOfReach?: readonly string[]
  /**
   * Which watch is behind. `pods`: executors recorded newer pods, so that nodes may seem updated that are not. `nodes`: the DaemonSet controller
   * counts more nodes, so that some may be missing. `loss`: it may not show yet whether a node was lost after its update. Absent: none is known.
   */
  readonly behind?: 'pods' | 'nodes' | 'loss'
  readonly state: BatchState
}

/** Input of the count. */
export interface BatchQuestion extends CountQuestion {
  readonly fleet: FleetView
  readonly plan: ReleasePlan
  /** The stable revision; undefined where it is unknown. */
  readonly stable?: string | undefined
  /** Revisions that were stable once, or ran before the first release. @default none */
  readonly former?: readonly string[] | undefined
  /** When the release began; undefined where it is unknown. See `begunAt`. */
  readonly begunAt?: string | undefined
  /** Permits of the record. @default none */
  readonly permits?: readonly Permit[] | undefined
  /** Batch from 0; null for all nodes. */
  readonly batch: number | null
  /** Node rules of the batch; undefined: every node. */
  readonly nodes?: ReleaseNodeRules | undefined
  /** Failed nodes that are tolerated; undefined: none. */
  readonly excused?: readonly string[] | undefined
}

/**
 * Counts a batch. It is ready when `effectiveSize` nodes, minus the tolerated ones, are updated and available. A batch that reaches no node is
 * not ready, while no desired node runs the revision: it would open the next step, and become stable, without having run (G3).
 */
export function batchProgress(question: BatchQuestion): BatchProgress {
  const { fleet, revision, stable, former = NONE, minReadyMs, monotonicMs, plan, batch } = question
  const { desired } = fleet
  const scope = batchScope(question.nodes, batch)
  const { inStep, outsideOld, outside, mayBeDead, gone, ...counts } = sumOf(
    countPerBlock(fleet, { revision, stable, former, minReadyMs, monotonicMs, scope }),
  )
  const size = Math.min(desired, batchSize(plan, batch, scope.rules.hasSteps && batch !== null ? cumulated(inStep) : desired) + outside)
  const revisions = { canary: revision, stable, former, begunAt: question.begunAt }
  const inFlight = nodesInFlight(question.permits ?? [], fleet)
  const exemption = exemptNodes({ unavailable: mayBeDead, revisions, inFlight, rules: scope.rules, desired, monotonicMs })
  const isCounted = (name: string): boolean => !exemption.names.has(name)
  const idle = idleNodes(mayBeDead, exemption, revisions)
  const leaked = idle.filter((node) => !isInSteps(scope, node)).length
  const waitedFor = scope.rules.notReady === 'Wait' ? idle.filter(({ name }) => counts.between.includes(name)).map(({ name }) => name) : []
  const inPlace = idle.filter((node) => takesPlace(node, scope, revisions) && !waitedFor.includes(node.name)).length
  const reachable = desired - outsideOld - counts.excluded.length - counts.skipped.length - (idle.length - waitedFor.length)
  const effectiveSize = Math.max(0, Math.min(size - inPlace, reachable))
  const away = counts.away.filter(isCounted)
  const threshold = Math.max(tolerated(plan, effectiveSize), excusedDown(question, { ...counts, away }))
  const onTheWay = counts.updated + counts.between.length - idle.length
  const isOutOfReach = revision !== stable && (size > leaked || gone.length > 0) && reachable <= 0
  return {
    ...counts,
    desired,
    size,
    outside,
    partition: desired - size,
    effectiveSize,
    missing: Math.max(0, effectiveSize - onTheWay),
    waitedFor: [...counts.waitedFor, ...waitedFor],
    unwell: counts.unwell.filter(({ node }) => isCounted(node)),
    between: counts.between.filter(isCounted),
    away,
    unavailable: counts.unavailable.filter(isCounted),
    exemption,
    ...(isOutOfReach && { outOfReach: [...counts.skipped, ...idle.map(({ name }) => name), ...gone] }),
    state: isOutOfReach ? 'Upgrading' : stateOf(onTheWay, counts.updatedAvailable, effectiveSize, threshold + away.length),
  }
}

/** Tolerated nodes that are down. Nodes that are away are not part of the batch anyway. */
function excusedDown({ excused = [] }: BatchQuestion, { unavailable, away }: Pick<BatchProgress, 'unavailable' | 'away'>): number {
  if (excused.length === 0) return 0
  const down = new Set(unavailable)
  return excused.filter((node) => down.has(node) && !away.includes(node)).length
}

/** Counts made node by node. */
interface NodeCounts
  extends Omit<
    BatchProgress,
    'desired' | 'size' | 'outside' | 'partition' | 'effectiveSize' | 'missing' | 'exemption' | 'outOfReach' | 'behind' | 'state'
  > {
  /** Desired nodes by the first step that takes them, from 0; the array is sparse. */
  readonly inStep: readonly number[]
  /** Desired nodes with an old pod that are not in the steps so far. */
  readonly outsideOld: number
  /** Desired nodes without an old pod that are not in the steps so far: leaked. */
  readonly outside: number
  /** Nodes without an available pod that are NotReady or in maintenance. */
  readonly mayBeDead: readonly NodeView[]
  /** Nodes in the steps so far that only a taint for their own failure keeps from being desired; without excluded ones. */
  readonly gone: readonly string[]
}

interface ScopedQuestion extends CountQuestion {
  readonly stable: string | undefined
  readonly former: readonly string[]
  readonly scope: BatchScope
}

/** Counts of one block of nodes; valid until `changesAtMs` (monotonic), when a Ready pod becomes available by the clock alone. */
interface BlockCounts extends NodeCounts {
  readonly changesAtMs: number
}

const countPerBlock = keptPerBlock<ScopedQuestion, BlockCounts>({
  count: countBlock,
  holds: (known, asked, { changesAtMs }) =>
    known.stable === asked.stable &&
    isSameList(known.former, asked.former) &&
    isSameScope(known.scope, asked.scope) &&
    isSameAnswer(known, asked, changesAtMs),
})

const NONE: readonly string[] = []

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((one, at) => one === b[at]))
}

function countBlock(block: NodeBlock, question: ScopedQuestion): BlockCounts {
  const { revision, minReadyMs, monotonicMs } = question
  const nodes = block.filter((node) => node.desired)
  const isUp = (pod: FleetPod): boolean => isAvailable(pod, minReadyMs, monotonicMs)
  const old = nodes.filter((node) => hasOldPod(node, revision))
  const updated = nodes.flatMap((node) => {
    const pod = updatedPod(node, revision)
    return pod === undefined ? [] : [{ node: node.name, pod }]
  })
  const unwell = updated.filter(({ pod }) => !isUp(pod))
  const between = nodes.filter((node) => node.pods.every((pod) => pod.terminating))
  const unavailable = nodes.filter(({ pods }) => !pods.some(isUp))
  const comingUp = nodes.flatMap(({ pods }) => pods.filter((pod) => pod.ready && !pod.terminating && !isUp(pod)))
  return {
    updated: updated.length,
    updatedReady: updated.filter(({ pod }) => pod.ready).length,
    updatedAvailable: updated.length - unwell.length,
    ...countInScope(nodes, old, question),
    mayBeDead: unavailable.filter(({ ready, maintenance }) => !ready || maintenance !== undefined),
    gone: goneNodes(block, question),
    old: old.map(({ name }) => name),
    unwell,
    between: between.map(({ name }) => name),
    away: awayNodes(nodes, between, updated),
    unavailable: unavailable.map(({ name }) => name),
    changesAtMs: Math.min(...comingUp.map((pod) => availableFromMs(pod, minReadyMs) ?? Number.POSITIVE_INFINITY)),
  }
}

/**
 * Their pods do not matter. Another client or Kubernetes may have deleted them, and a node that was lost after its update shows nothing. Nor
 * does it matter that a node is Ready: Kubernetes removes the taint a moment later, and only then the DaemonSet is back on it.
 */
function goneNodes(block: NodeBlock, { scope }: ScopedQuestion): readonly string[] {
  return block.filter((node) => node.desiredOnReturn === true && isInScope(scope, node)).map(({ name }) => name)
}

type ScopeCounts = Pick<NodeCounts, 'skipped' | 'waitedFor' | 'excluded' | 'inStep' | 'outsideOld' | 'outside'>

function countInScope(
  nodes: readonly NodeView[],
  old: readonly NodeView[],
  { scope, revision, stable, former }: ScopedQuestion,
): ScopeCounts {
  const { rules } = scope
  const inside = old.filter((node) => isInSteps(scope, node))
  const excluded = inside.filter(({ labels }) => rules.factsOf(labels).isExcluded)
  const revisions = { canary: revision, stable, former }
  const notReady = inside.filter((node) => !isInReach(node, revisions) && !excluded.includes(node)).map(({ name }) => name)
  const inStep: number[] = []
  for (const { labels } of rules.hasSteps ? nodes : []) {
    const { step } = rules.factsOf(labels)
    if (Number.isFinite(step)) inStep[step] = (inStep[step] ?? 0) + 1
  }
  const outsideOld = old.length - inside.length
  return {
    skipped: rules.notReady === 'Wait' ? [] : notReady,
    waitedFor: rules.notReady === 'Wait' ? notReady : [],
    excluded: excluded.map(({ name }) => name),
    inStep,
    outsideOld,
    outside: nodes.filter((node) => !isInSteps(scope, node)).length - outsideOld,
  }
}

function sumOf(blocks: readonly NodeCounts[]): NodeCounts {
  return {
    updated: blocks.reduce((sum, { updated }) => sum + updated, 0),
    updatedReady: blocks.reduce((sum, { updatedReady }) => sum + updatedReady, 0),
    updatedAvailable: blocks.reduce((sum, { updatedAvailable }) => sum + updatedAvailable, 0),
    skipped: blocks.flatMap(({ skipped }) => skipped),
    waitedFor: blocks.flatMap(({ waitedFor }) => waitedFor),
    excluded: blocks.flatMap(({ excluded }) => excluded),
    inStep: blocks.reduce<readonly number[]>((sum, { inStep }) => (inStep.length === 0 ? sum : addedUp(sum, inStep)), []),
    outsideOld: blocks.reduce((sum, { outsideOld }) => sum + outsideOld, 0),
    outside: blocks.reduce((sum, { outside }) => sum + outside, 0),
    mayBeDead: blocks.flatMap(({ mayBeDead }) => mayBeDead),
    gone: blocks.flatMap(({ gone }) => gone),
    old: blocks.flatMap(({ old }) => old),
    unwell: blocks.flatMap(({ unwell }) => unwell),
    between: blocks.flatMap(({ between }) => between),
    away: blocks.flatMap(({ away }) => away),
    unavailable: blocks.flatMap(({ unavailable }) => unavailable),
  }
}

/** Sum by position; a missing position counts as 0. */
function addedUp(a: readonly number[], b: readonly number[]): readonly number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, at) => (a[at] ?? 0) + (b[at] ?? 0))
}

/** Number of desired nodes that each step and those before it take. */
function cumulated(inStep: readonly number[]): (step: number) => number {
  return (step) =>
    addedUp(inStep, [])
      .slice(0, step + 1)
      .reduce((sum, count) => sum + count, 0)
}

/**
 * Cumulative nodes after the batch: rounded up, at most the nodes of the steps so far. Never less than an earlier batch:
 * whole numbers and percentages may cross when nodes leave. Without a batch, all of them. A batch outside the plan has size
 * 0: reading a missing one as "everything" would release to every node.
 *
 * @param nodes number of desired nodes; or the number that a step, from 0, and those before it take
 */
export function batchSize(plan: Pick<ReleasePlan, 'batches'>, batch: number | null, nodes: number | ((step: number) => number)): number {
  const within = typeof nodes === 'number' ? (): number => nodes : nodes
  if (batch === null) return within(Number.POSITIVE_INFINITY)
  if (plan.batches?.[batch] === undefined) return 0
  const sizes = plan.batches.slice(0, batch + 1).map(({ canaryReplicas }, step) => {
    const takeable = within(step)
    return Math.min(scaleIntOrPercent(canaryReplicas, takeable) ?? 0, takeable)
  })
  return Math.max(...sizes)
}

/** A failureThreshold in percent is ⌈% × effective size⌉. */
function tolerated(plan: ReleasePlan, effectiveSize: number): number {
  return plan.failureThreshold === undefined ? 0 : (scaleIntOrPercent(plan.failureThreshold, effectiveSize) ?? 0)
}

/** A node that turned NotReady after its kubelet acknowledged the new pod counts as a failure instead (G6). */
function awayNodes(
  nodes: readonly NodeView[],
  between: readonly NodeView[],
  updated: readonly { node: string; pod: FleetPod }[],
): readonly string[] {
  const waiting = new Set([...between.map(({ name }) => name), ...updated.filter(({ pod }) => !pod.acknowledged).map(({ node }) => node)])
  return nodes.filter(({ name, ready }) => !ready && waiting.has(name)).map(({ name }) => name)
}

/**
 * Tolerance covers updated nodes that are not well or went away, never nodes that were not updated. At least one node must
 * show that the revision works.
 */
function stateOf(onTheWay: number, available: number, effectiveSize: number, toleratedNodes: number): BatchState {
  if (onTheWay < effectiveSize) return 'Upgrading'
  const needed = effectiveSize - Math.max(0, Math.min(toleratedNodes, effectiveSize - 1))
  return available >= needed ? 'Ready' : 'Verifying'
}
