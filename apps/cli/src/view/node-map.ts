import type { CellState } from './glyphs.ts'
import type { NodeSnapshot, NodeState } from './release-snapshot.ts'

/** One zone of the map. */
export interface ZoneRow {
  /** Empty where nodes have no zone. */
  readonly zone: string
  readonly nodes: number
  /** Nodes whose pod is on the canary revision and available. */
  readonly updated: number
  readonly failing: number
  /** Left to right in order of node names; each cell stands for one node, or for several when there are more nodes than cells. */
  readonly cells: readonly CellState[]
}

/** Most telling first: a cell for several nodes shows the worst of them. */
const worstFirst: readonly NodeState[] = ['failing', 'notReady', 'down', 'updating']

/**
 * Draws the nodes of each zone in one row, so that 30 nodes and 5,000 take the same room: a failing node is seen in
 * its cell however many share it.
 *
 * @param nodes by zone
 * @param cells most cells in a row (≥ 1)
 */
export function nodeMap(nodes: readonly NodeSnapshot[], cells: number): readonly ZoneRow[] {
  return [...byZone(nodes)].map(([zone, members]) => ({
    zone,
    nodes: members.length,
    updated: members.filter((node) => node.state === 'updated').length,
    failing: members.filter((node) => node.state === 'failing').length,
    cells: toCells(members, Math.min(cells, members.length)),
  }))
}

function byZone(nodes: readonly NodeSnapshot[]): Map<string, NodeSnapshot[]> {
  const zones = new Map<string, NodeSnapshot[]>()
  for (const node of nodes) {
    const members = zones.get(node.zone)
    if (members === undefined) zones.set(node.zone, [node])
    else members.push(node)
  }
  return zones
}

/** Cells differ by at most one in how many nodes they stand for. */
function toCells(nodes: readonly NodeSnapshot[], count: number): CellState[] {
  return Array.from({ length: count }, (_, cell) =>
    cellState(nodes.slice(Math.floor((cell * nodes.length) / count), Math.floor(((cell + 1) * nodes.length) / count))),
  )
}

function cellState(nodes: readonly NodeSnapshot[]): CellState {
  for (const state of worstFirst) if (nodes.some((node) => node.state === state)) return state
  const updated = nodes.filter((node) => node.state === 'updated').length
  if (updated === nodes.length) return 'updated'
  return updated === 0 ? 'old' : 'mixed'
}
