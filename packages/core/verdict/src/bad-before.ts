import type { Permit } from '@tranche/api-schema'
import { type FleetView, nodeInView } from '@tranche/fleet'
import { type Availability, lastPermits, permitState } from '@tranche/fence'

/** Nodes that were unhealthy before their last update and have not settled since: their failures are not the new version's fault. */
export function badBefore({
  fleet,
  permits,
  ...availability
}: Availability & { fleet: FleetView; permits: readonly Permit[] }): ReadonlySet<string> {
  const bad = lastPermits(permits).filter(
    (permit) => permit.wasBad === true && permitState(permit, nodeInView(fleet, permit.node), availability) !== 'settled',
  )
  return new Set(bad.map(({ node }) => node))
}
