import type { LimitInForce } from '../world/orders.ts'
import type { Deletion } from '../world/world.ts'

/**
 * Limit that a deletion is judged by: the largest one in force since the oldest permit that had not settled, including the deletion's own.
 * Undefined when no record sets a limit.
 */
export function limitFor({ daemonSet, permittedMs, atMs }: Deletion): LimitInForce | undefined {
  let sinceMs = Math.min(atMs, permittedMs ?? atMs)
  for (const { flight } of daemonSet.inFlight) sinceMs = Math.min(sinceMs, flight?.sinceMs ?? sinceMs)
  return daemonSet.orders.limitSince(sinceMs)
}
