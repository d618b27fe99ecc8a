import type { BatchRelease } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import { dueNotReadyNodes } from './candidate-order.ts'
import { tallyNodes } from './node-tally.ts'
import { batchPlaces } from './batch-places.ts'
import { begunAt } from '../record/begun-at.ts'
import { scopeInRecord } from '../nodes/batch-scope.ts'
import { exemptNodes, idleNodes, nodesInFlight, takesPlace } from '../nodes/exempt-nodes.ts'

/** The release, and the clock, for which due nodes are computed. */
export interface DueNodesQuery {
  readonly release: Pick<BatchRelease, 'metadata' | 'spec' | 'status'>
  readonly fleet: FleetView
  /** How long (ms) a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
}

/**
 * NotReady nodes that are due, where the policy counts such a node as failed: with a healthy pod, the batch would take each
 * of them next. They count while the record is stopped, too: otherwise the stop would remove its own cause.
 *
 * @returns names
 */
export function failedDueNodes({ release, fleet, minReadyMs, monotonicMs }: DueNodesQuery): readonly string[] {
  const { tranche } = release.spec
  const record = release.status?.flight
  if (tranche?.nodes?.notReady?.action !== 'Fail' || record === undefined) return []
  const scope = scopeInRecord(record.scope, tranche.nodes)
  if (scope === null) return []
  const tally = tallyNodes(fleet, { revision: record.revision, minReadyMs, monotonicMs })
  const { desired, old, unavailable } = tally
  const { stableRevision: stable, formerRevisions: former = [] } = tranche
  const revisions = { canary: record.revision, stable, former, begunAt: begunAt(release) }
  const inFlight = nodesInFlight(record.permits, fleet)
  const exemption = exemptNodes({ unavailable, revisions, inFlight, rules: scope.rules, desired, monotonicMs })
  const idle = idleNodes(unavailable, exemption, revisions).filter((node) => !takesPlace(node, scope, revisions))
  const { size, taken } = batchPlaces({ record, fleet, scope, tally, idle, permitted: 0 })
  return dueNotReadyNodes(old, { ...revisions, scope }, size - taken).map(({ name }) => name)
}
