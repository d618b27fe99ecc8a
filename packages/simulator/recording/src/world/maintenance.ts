import type { RecordedNode } from '../record/recorded-write.ts'

/** Conditions of maintenance. @see KEP-5683 */
const conditionTypes: ReadonlySet<string> = new Set([
  'DrainInProgress',
  'Drained',
  'MaintenancePlanned',
  'MaintenanceInProgress',
  'GracefulNodeShutdownInProgress',
])

/** Whether a condition takes the node out of service: a release leaves it out until it is back. */
export function isInMaintenance({ conditions = [] }: RecordedNode): boolean {
  return conditions.some((type) => conditionTypes.has(type))
}
