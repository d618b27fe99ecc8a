import type { NodeView } from '@tranche/fleet'
import { type Candidate, type ChoiceRules, firstOfEachKind, dueNotReadyNodes } from './candidate-order.ts'
import { isBroken } from './node-tally.ts'
import { namesDown, budgetIn } from './budget.ts'
import { type TrackedPermit, isGone, isUnsettled, type FenceState } from './fence-state.ts'

/** Nodes to choose from, and how many. */
export interface Choice {
  /** Nodes with an old pod and without a permit. */
  readonly free: readonly NodeView[]
  /** Permits that remain in the record. */
  readonly stay: readonly TrackedPermit[]
  /** Maximum that the record has room for; never more are chosen than the batch lacks. */
  readonly count: number
}

/**
 * The pods to permit next, in the order of G5. While no budget is left, broken pods come first: a Ready one before them would
 * be withdrawn again (F7; see L18). Where the policy makes the batch wait for NotReady nodes, each due one keeps its slot. Pods that a
 * spread rule holds back come last, and only where nodes of their value that are down will free budget.
 */
export function chooseCandidates(fence: FenceState, choice: Choice): readonly Candidate[] {
  const { revisions, scope } = fence
  const rules = { ...revisions, scope }
  const waitsForNotReady = scope.rules.notReady === 'Wait'
  const kept = waitsForNotReady ? dueNotReadyNodes(choice.free, rules, fence.lack).length : 0
  const count = Math.min(choice.count, fence.lack - kept)
  if (count <= 0) return []
  const ordered = inOrder(fence, { ...choice, count }, rules)
  return scope.rules.spread.length === 0 ? ordered.slice(0, count) : spreadOut(fence, { ...choice, count }, ordered)
}

/** Enough candidates of each group; broken ones first while no budget is left. */
function inOrder(fence: FenceState, { free, count }: Choice, rules: ChoiceRules): readonly Candidate[] {
  const { spread, factsOf } = fence.scope.rules
  // Only the node of the last permit in flight may be taken again (L6), so each is its own group.
  const gone = spread.length === 0 ? [] : fence.permits.filter(isGone)
  const inFlight = new Map(gone.map(({ permit }, at) => [permit.node, IN_FLIGHT + at]))
  // A broken pod may go where a spread rule keeps Ready ones of its value that come before it.
  const kindOf = (node: NodeView): number => 2 * factsOf(node.labels).kind + (spread.length > 0 && isBroken(node) ? 1 : 0)
  const kinds = {
    count: Math.min(count, 2 * Math.min(...spread)),
    kindOf: (node: NodeView) => inFlight.get(node.name) ?? kindOf(node),
  }
  const first = (nodes: readonly NodeView[]): readonly Candidate[] => firstOfEachKind(nodes, rules, kinds)
  if (hasBudgetLeft(fence)) return first(free)
  return [...first(free.filter(isBroken)), ...first(free.filter((node) => !isBroken(node)))]
}

/** Larger than any group number. */
const IN_FLIGHT = 1_000_000

/** First the candidates that the spread rules allow now, then those they allow next. */
function spreadOut(fence: FenceState, { stay, count }: Choice, ordered: readonly Candidate[]): readonly Candidate[] {
  const budget = budgetIn(fence)
  for (const tracked of stay) budget.reserve(tracked)
  const chosen: Candidate[] = []
  const later: Candidate[] = []
  for (const candidate of ordered) {
    const tracked = toTrackedPermit(candidate)
    if (chosen.length < count && budget.fitsSpread(tracked)) {
      chosen.push(candidate)
      budget.reserve(tracked)
    } else later.push(candidate)
  }
  for (const candidate of later) {
    const tracked = toTrackedPermit(candidate)
    if (chosen.length >= count || !budget.fitsSpreadNext(tracked)) continue
    chosen.push(candidate)
    budget.reserve(tracked)
  }
  return chosen
}

/** @returns the candidate as a standing permit */
export function toTrackedPermit({ node, pod }: Candidate): TrackedPermit {
  return {
    permit: { node: node.name, podUid: pod.uid, podResourceVersion: pod.resourceVersion },
    state: 'standing',
    pod,
    isSent: false,
  }
}

function hasBudgetLeft(fence: FenceState): boolean {
  const down = namesDown(fence)
  for (const tracked of fence.permits) if (isUnsettled(tracked)) down.add(tracked.permit.node)
  return down.size < fence.record.limit
}
