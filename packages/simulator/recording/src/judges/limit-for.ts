import type { LimitInForce } from '../world/orders.ts'
import type { Deletion } from '../world/world.ts'

/**
 * The limit that a deletion is held against: the largest in force since the oldest permit that had not settled, its own
 * among them. Undefined where no record sets one.
 */
export function limitFor({ daemonSet, permittedMs, atMs }: Deletion): LimitInForce | undefined {
  let sinceMs = Math.min(atMs, permittedMs ?? atMs)
  for (const { flight } of daemonSet.inFlight) sinceMs = Math.min(sinceMs, flight?.sinceMs ?? sinceMs)
  return daemonSet.orders.limitSince(sinceMs)
}
