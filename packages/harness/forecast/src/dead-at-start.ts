import { batchScope, exemptNodes } from '@tranche/fence'
import { BY_STAMPS, FleetIndex, toFleetNode, toFleetPod } from '@tranche/fleet'
import type { ForecastInputs } from './to-forecast.ts'

/**
 * Number of nodes that are dead at the start and cost no budget. A node whose kubelet reports it NotReady counts as if it had done so for as
 * long as the policy says.
 */
export function exemptAtStart({ timeline, snapshot, daemonSet }: ForecastInputs): number {
  const { canaryRevision: canary, stableRevision: stable, formerRevisions: former = [], nodes: rules } = timeline.firstSpec ?? {}
  if (canary === undefined) return 0
  const fleet = new FleetIndex()
  for (const node of snapshot.nodes) fleet.nodeChanged(undefined, toFleetNode(node, undefined, BY_STAMPS))
  for (const pod of snapshot.pods) {
    const kept = toFleetPod(pod, undefined, BY_STAMPS)
    if (kept !== null) fleet.podChanged(undefined, kept)
  }
  const { nodes, desired } = fleet.view(snapshot.daemonSet ?? daemonSet)
  const unavailable = nodes.filter((node) => node.desired && !node.pods.some(({ ready, terminating }) => ready && !terminating))
  const { names } = exemptNodes({
    unavailable,
    revisions: { canary, stable, former },
    inFlight: new Set(),
    rules: batchScope(rules, null).rules,
    desired,
    monotonicMs: Number.MAX_SAFE_INTEGER,
  })
  return names.size
}
