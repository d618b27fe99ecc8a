import type { DaemonSet } from '@tranche/kube-types'
import type { NodeCounts } from './nodes/judge-node.ts'

/**
 * Computes the status to write.
 *
 * @param observed generation that this pass has acted on; undefined keeps `observedGeneration`
 * @returns undefined when the stored status is up to date
 */
export function planStatus(
  daemonSet: DaemonSet,
  counts: NodeCounts,
  observed: number | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const stored = (daemonSet.status ?? {}) as Readonly<Record<string, unknown>>
  const observedGeneration = daemonSet.status?.observedGeneration ?? 0
  const always = {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
  }
  const unlessZero = {
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    observedGeneration: observed ?? observedGeneration,
  }
  const numbers: Readonly<Record<string, number>> = { ...always, ...unlessZero }
  const unchanged = Object.entries(numbers).every(([field, number]) => field === 'observedGeneration' || (stored[field] ?? 0) === number)
  if (unchanged && observedGeneration >= (observed ?? 0)) return undefined
  const kept = Object.entries(stored).filter(([field]) => !Object.hasOwn(unlessZero, field))
  return { ...Object.fromEntries(kept), ...always, ...Object.fromEntries(Object.entries(unlessZero).filter(([, number]) => number !== 0)) }
}
