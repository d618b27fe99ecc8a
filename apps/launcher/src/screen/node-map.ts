import type { CellState } from './cell-glyphs.ts'
import type { NodeSnapshot, NodeState } from './release-snapshot.ts'

/** One zone of the map. */
export interface ZoneRow {
  /** Empty if the nodes have no zone. */
  readonly zone: string
  readonly nodes: number
  /** Nodes whose pod is on the canary revision and available. */
  readonly updated: number
  readonly failing: number
  /** Cells in order of node names; each represents one node, or several if there are more nodes than cells. */
  readonly cells: readonly CellState[]
}

/** Worst first: a cell of several nodes shows the worst state. */
const worstFirst: readonly NodeState[] = ['failing', 'notReady', 'down', 'updating']

/**
 * Maps the nodes of each zone to one row, so that 30 nodes and 5,000 take the same space. A failing node stays visible in
 * a shared cell.
 *
 * @param nodes sorted by zone
 * @param cells maximum number of cells in a row (≥ 1)
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

/** Distributes nodes evenly: the node counts of two cells differ by at most one. */
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
