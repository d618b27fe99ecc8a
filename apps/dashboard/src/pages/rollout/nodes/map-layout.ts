import type { NodeReport } from '@tranche/api-schema'

/** One zone of a map. All lengths are CSS pixels. */
export interface MapZone {
  readonly zone: string
  readonly x: number
  readonly y: number
  readonly width: number
  /** Nodes row by row. */
  readonly nodes: readonly NodeReport[]
  readonly perRow: number
}

/** A map of nodes by zone. */
export interface MapLayout {
  readonly zones: readonly MapZone[]
  readonly height: number
  /** Side of a cell with its gap. */
  readonly cell: number
}

/** Height of the name of a zone. */
export const ZONE_TITLE = 18
const ZONE_GAP = 14
const LARGEST_CELL = 22
const SMALLEST_CELL = 8
/** Height that a map should not exceed. */
const WANTED_HEIGHT = 420
const NARROWEST_ZONE = 120

/**
 * Lays out nodes by zone, the zones side by side as far as they fit. Cells are as large as possible within a height of 420 pixels, and never
 * smaller than 8 pixels: a larger fleet makes a higher map.
 *
 * @param nodes in the order in which they are drawn
 */
export function layOut(nodes: readonly NodeReport[], width: number): MapLayout {
  const zones = [...Map.groupBy(nodes, ({ zone }) => zone)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (let cell = LARGEST_CELL; ; cell--) {
    const layout = layOutWith(zones, width, cell)
    if (layout.height <= WANTED_HEIGHT || cell === SMALLEST_CELL) return layout
  }
}

function layOutWith(zones: readonly (readonly [string, readonly NodeReport[]])[], width: number, cell: number): MapLayout {
  const columns = Math.max(1, Math.min(zones.length, Math.floor((width + ZONE_GAP) / (NARROWEST_ZONE + ZONE_GAP)), 6))
  const zoneWidth = (width - ZONE_GAP * (columns - 1)) / columns
  const perRow = Math.max(1, Math.floor(zoneWidth / cell))
  let y = 0
  const placed: MapZone[] = []
  for (let first = 0; first < zones.length; first += columns) {
    const row = zones.slice(first, first + columns)
    for (const [at, [zone, nodes]] of row.entries())
      placed.push({ zone, x: at * (zoneWidth + ZONE_GAP), y, width: zoneWidth, nodes, perRow })
    y += ZONE_TITLE + Math.max(...row.map(([, nodes]) => Math.ceil(nodes.length / perRow))) * cell + ZONE_GAP
  }
  return { zones: placed, height: Math.max(0, y - ZONE_GAP), cell }
}

/** @returns the node at a point; undefined between nodes */
export function nodeAt({ zones, cell }: MapLayout, x: number, y: number): NodeReport | undefined {
  for (const zone of zones) {
    const column = Math.floor((x - zone.x) / cell)
    const row = Math.floor((y - zone.y - ZONE_TITLE) / cell)
    if (column < 0 || column >= zone.perRow || row < 0) continue
    const node = zone.nodes[row * zone.perRow + column]
    if (node !== undefined) return node
  }
  return undefined
}
