import type { FlightRecord } from '@tranche/api-schema'
import type { FleetView, NodeView } from '@tranche/fleet'
import { type BatchScope, isInSteps } from '../nodes/batch-scope.ts'
import { hasOldPod } from '../nodes/old-nodes.ts'
import type { NodeTally } from './node-tally.ts'

/** Facts about the nodes of a batch. */
export interface PlacesQuestion {
  readonly record: FlightRecord
  readonly fleet: FleetView
  readonly scope: BatchScope
  readonly tally: Pick<NodeTally, 'desired' | 'onRevision'>
  /** Nodes of the steps so far without an old pod that take no place. */
  readonly idle: readonly NodeView[]
  /** Number of nodes whose old pod has a permit. */
  readonly permitted: number
}

/**
 * G3, F3: how many nodes may have the revision (`size`), and how many of them run it, will come back on it, or have a permit (`taken`). Our own
 * count of desired nodes only lowers the size; a record without a size, from an earlier version, allows no new permit. See L16.
 *
 * Where the size has nodes that no step so far selects, neither number counts those. Our view may still show the old pod of one of them, and
 * its place would go to a node of the batch. Or it shows more of them than the size has: a controller of an earlier version, which does not
 * know them apart, leaves the former number in the record.
 */
export function batchPlaces({ record, fleet, scope, tally, idle, permitted }: PlacesQuestion): {
  readonly size: number
  readonly taken: number
} {
  const { partition } = record
  const outside = Number.isFinite(scope.steps) ? (record.outside ?? 0) : 0
  const isInside = (node: NodeView): boolean => node.desired && !hasOldPod(node, record.revision) && isInSteps(scope, node)
  const inside = outside === 0 ? tally.onRevision : fleet.nodes.filter(isInside).length
  const taken = Math.max(inside, tally.onRevision - outside) - idle.length + permitted
  const size = record.size === undefined ? taken : record.size - outside
  return { size: Math.max(0, Math.min(tally.desired - partition - outside, size)), taken }
}
