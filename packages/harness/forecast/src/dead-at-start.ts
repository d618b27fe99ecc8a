import { batchScope, type Exemption, exemptNodes, nodesInFlight } from '@tranche/fence'
import { BY_STAMPS, FleetIndex, toFleetNode, toFleetPod } from '@tranche/fleet'
import type { ForecastInputs } from './to-forecast.ts'

/** What of an exemption counts in a forecast. */
export type DeadNodes = Pick<Exemption, 'dead' | 'most' | 'names'>

/**
 * Nodes that are dead at the start, and whether they cost budget. A node whose kubelet reports it NotReady counts as if it had done so for as
 * long as the policy says. One that a release took down is not dead.
 */
export function deadAtStart({ timeline, snapshot, daemonSet }: ForecastInputs): DeadNodes {
  const { canaryRevision: canary, stableRevision: stable, formerRevisions: former = [], nodes: rules } = timeline.firstSpec ?? {}
  if (canary === undefined) return { dead: [], most: 0, names: new Set() }
  const fleet = new FleetIndex()
  for (const node of snapshot.nodes) fleet.nodeChanged(undefined, toFleetNode(node, undefined, BY_STAMPS))
  for (const pod of snapshot.pods) {
    const kept = toFleetPod(pod, undefined, BY_STAMPS)
    if (kept !== null) fleet.podChanged(undefined, kept)
  }
  const view = fleet.view(snapshot.daemonSet ?? daemonSet)
  const { nodes, desired } = view
  const unavailable = nodes.filter((node) => node.desired && !node.pods.some(({ ready, terminating }) => ready && !terminating))
  return exemptNodes({
    unavailable,
    revisions: { canary, stable, former },
    inFlight: nodesInFlight(snapshot.release?.status?.flight?.permits ?? [], view),
    rules: batchScope(rules, null).rules,
    desired,
    monotonicMs: Number.MAX_SAFE_INTEGER,
  })
}
