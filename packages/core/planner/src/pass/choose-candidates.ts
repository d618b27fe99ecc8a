import type { NodeView } from '@tranche/fleet'
import { type Candidate, type ChoiceRules, firstOfEachKind, notReadyTurns } from './candidate-order.ts'
import { isBroken } from './node-tally.ts'
import { namesDown, placesIn } from './places.ts'
import { type FlownPermit, isGone, isUnsettled, type Scene } from './scene.ts'

/** Among which nodes is chosen, and how many. */
export interface Choice {
  /** Nodes with an old pod and without a permit. */
  readonly free: readonly NodeView[]
  /** Permits that stay in the record. */
  readonly stay: readonly FlownPermit[]
  /** The most that the record has room for; never more are chosen than the batch lacks. */
  readonly count: number
}

/**
 * The pods to permit next, in the order of G5. While nothing of the budget is left, the broken come first: a Ready one in
 * front of them would be withdrawn again (F7). Where the policy has the batch wait for NotReady nodes, each whose turn it is
 * keeps its place. Pods that a spread rule would have wait come after all that could go, and only where the nodes of their
 * value that are down will make room.
 */
export function chooseCandidates(scene: Scene, choice: Choice): readonly Candidate[] {
  const { revisions, scope } = scene
  const rules = { ...revisions, scope }
  const waitsForNotReady = scope.rules.notReady === 'Wait'
  const kept = waitsForNotReady ? notReadyTurns(choice.free, rules, scene.lack).length : 0
  const count = Math.min(choice.count, scene.lack - kept)
  if (count <= 0) return []
  const ordered = inOrder(scene, { ...choice, count }, rules)
  return scope.rules.spread.length === 0 ? ordered.slice(0, count) : spreadOut(scene, { ...choice, count }, ordered)
}

/** Enough of each kind of nodes, the broken first where nothing of the budget is left. */
function inOrder(scene: Scene, { free, count }: Choice, rules: ChoiceRules): readonly Candidate[] {
  const { spread, factsOf } = scene.scope.rules
  // Deleting again on a node in flight needs no place of its own, and only that of the last permit may go: each is a kind for itself.
  const gone = spread.length === 0 ? [] : scene.permits.filter(isGone)
  const inFlight = new Map(gone.map(({ permit }, at) => [permit.node, IN_FLIGHT + at]))
  const kinds = {
    count: Math.min(count, 2 * Math.min(...spread)),
    kindOf: (node: NodeView) => inFlight.get(node.name) ?? factsOf(node.labels).kind,
  }
  const first = (nodes: readonly NodeView[]): readonly Candidate[] => firstOfEachKind(nodes, rules, kinds)
  if (hasBudgetLeft(scene)) return first(free)
  return [...first(free.filter(isBroken)), ...first(free.filter((node) => !isBroken(node)))]
}

/** More than there are kinds. */
const IN_FLIGHT = 1_000_000

/** First those that the spread rules let go at once, then those that are next. */
function spreadOut(scene: Scene, { stay, count }: Choice, ordered: readonly Candidate[]): readonly Candidate[] {
  const places = placesIn(scene)
  for (const flown of stay) places.pass(flown)
  const chosen: Candidate[] = []
  const later: Candidate[] = []
  for (const candidate of ordered) {
    const flown = toFlownPermit(candidate)
    if (chosen.length < count && places.hasRoomFor(flown)) {
      chosen.push(candidate)
      places.pass(flown)
    } else later.push(candidate)
  }
  for (const candidate of later) {
    const flown = toFlownPermit(candidate)
    if (chosen.length >= count || !places.isNextFor(flown)) continue
    chosen.push(candidate)
    places.pass(flown)
  }
  return chosen
}

function toFlownPermit({ node, pod }: Candidate): FlownPermit {
  return {
    permit: { node: node.name, podUid: pod.uid, podResourceVersion: pod.resourceVersion },
    state: 'standing',
    pod,
    isSent: false,
  }
}

function hasBudgetLeft(scene: Scene): boolean {
  const down = namesDown(scene)
  for (const flown of scene.permits) if (isUnsettled(flown)) down.add(flown.permit.node)
  return down.size < scene.record.limit
}
