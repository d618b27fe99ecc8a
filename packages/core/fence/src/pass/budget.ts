import { nodeInView, type NodeView } from '@tranche/fleet'
import { type TrackedPermit, isGone, isUnsettled, type FenceState } from './fence-state.ts'

/**
 * The budget of F4, as a walk over the permits in the order of the record: earlier permits reserve first. The limit is a rule
 * over all nodes. Each spread rule is one over the nodes with the same value of its label (L20).
 */
export interface Budget {
  /** Whether the permit may be executed within the limit and every spread rule. */
  fitsBudget(tracked: TrackedPermit): boolean
  /** Whether the permit fits the spread rules alone. */
  fitsSpread(tracked: TrackedPermit): boolean
  /** Whether the permit would fit once as many nodes of its value have settled as may be down. */
  fitsSpreadNext(tracked: TrackedPermit): boolean
  /** Reserves budget for the permit and moves to the next one. */
  reserve(tracked: TrackedPermit): void
}

/** Nodes of which only a limited number may be down at a time. */
interface Group {
  readonly limit: number
  /** D: nodes of earlier unsettled permits, executed or not. */
  readonly taken: Set<string>
  /** D, U, and the nodes whose pods our view shows deleted by Tranche. */
  readonly down: Set<string>
  /** Node of the last permit so far whose pod is gone. */
  lastGone: string | undefined
  /** Whether no standing permit has come yet. */
  isFirst: boolean
}

/** Starts the walk. */
export function budgetIn(fence: FenceState): Budget {
  const { rules } = fence.scope
  const down = downNodes(fence)
  const all = groupOf(
    fence.record.limit,
    down.map(({ name }) => name),
  )
  const spread = rules.spread.map((limit, rule) => valueGroups(limit, (node) => rules.factsOf(node.labels).values[rule] ?? '', down))

  const spreadGroups = (name: string): readonly Group[] => {
    if (spread.length === 0) return []
    const node = nodeInView(fence.view.fleet, name)
    return node === undefined ? [] : spread.map((groups) => groups.of(node))
  }
  const fitsSpread = (tracked: TrackedPermit): boolean => spreadGroups(tracked.permit.node).every((group) => fits(group, tracked))
  return {
    fitsBudget: (tracked) => fits(all, tracked) && fitsSpread(tracked),
    fitsSpread,
    fitsSpreadNext: ({ permit: { node } }) => spreadGroups(node).every((group) => fitsNext(group, node)),
    reserve(tracked) {
      reserveIn(all, tracked)
      if (tracked.state === 'left') for (const groups of spread) groups.reserveEverywhere(tracked)
      else for (const group of spreadGroups(tracked.permit.node)) reserveIn(group, tracked)
    },
  }
}

/** U without the exempt nodes, plus the part of D that our view shows deleted by Tranche. */
export function namesDown(fence: FenceState): Set<string> {
  return new Set(downNodes(fence).map(({ name }) => name))
}

function downNodes(fence: FenceState): readonly Pick<NodeView, 'name' | 'labels'>[] {
  const { tally, exemption, permits, view } = fence
  const exempt = exemption.names
  const unavailable = exempt.size === 0 ? tally.unavailable : tally.unavailable.filter(({ name }) => !exempt.has(name))
  const gone = permits.filter(isGone).map(({ permit: { node } }) => nodeInView(view.fleet, node) ?? { name: node, labels: {} })
  return [...unavailable, ...gone]
}

interface ValueGroups {
  of(node: Pick<NodeView, 'labels'>): Group
  /** A permit of a node whose value is unknown counts for every value (L20). */
  reserveEverywhere(tracked: TrackedPermit): void
}

function valueGroups(
  limit: number,
  readValue: (node: Pick<NodeView, 'labels'>) => string,
  down: readonly Pick<NodeView, 'name' | 'labels'>[],
): ValueGroups {
  const groups = new Map<string, Group>()
  const everywhere: TrackedPermit[] = []
  const of = (node: Pick<NodeView, 'labels'>): Group => {
    const value = readValue(node)
    const known = groups.get(value)
    if (known !== undefined) return known
    const group = groupOf(limit, [])
    for (const tracked of everywhere) reserveIn(group, tracked)
    groups.set(value, group)
    return group
  }
  for (const node of down) of(node).down.add(node.name)
  return {
    of,
    reserveEverywhere(tracked) {
      everywhere.push(tracked)
      for (const group of groups.values()) reserveIn(group, tracked)
    },
  }
}

function groupOf(limit: number, down: readonly string[]): Group {
  return { limit, taken: new Set(), down: new Set(down), lastGone: undefined, isFirst: true }
}

function fits(group: Group, { permit: { node }, pod }: TrackedPermit): boolean {
  const isWithinLimit = sizeWithout(group.taken, node) < group.limit || (group.isFirst && group.lastGone === node)
  // A Ready pod costs budget like an available one: L8.
  return isWithinLimit && (pod?.ready === false || sizeWithout(group.down, node) < group.limit)
}

function fitsNext({ limit, taken, down }: Group, node: string): boolean {
  const brokenByOthers = [...down].filter((name) => !taken.has(name)).length
  return brokenByOthers < limit && sizeWithout(taken, node) < 2 * limit
}

function reserveIn(group: Group, tracked: TrackedPermit): void {
  const { node } = tracked.permit
  if (tracked.state === 'standing' || tracked.state === 'unseen') group.isFirst = false
  if (!isUnsettled(tracked)) return
  if (isGone(tracked)) group.lastGone = node
  group.taken.add(node)
  group.down.add(node)
}

/** F4: size without the permit's own node, which counts once (L5). */
export function sizeWithout(nodes: ReadonlySet<string>, own: string): number {
  return nodes.has(own) ? nodes.size - 1 : nodes.size
}
