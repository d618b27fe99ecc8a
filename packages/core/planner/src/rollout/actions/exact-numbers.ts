import type { CanaryStatus, RolloutStatus } from '@tranche/api-schema'
import { generationOfRelease } from './kept-status.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The status without integers that a number cannot hold, which a user may have written. A program reads such an integer as another one, and
 * would write that. It may have more than 64 bits, so that the API server rejects each status.
 *
 * @returns null where all numbers are exact
 */
export function statusWithExactNumbers(view: RolloutView): RolloutStatus | null {
  const { status } = view.rollout
  if (status === undefined || hasExactNumbers(status)) return null
  const exact = withoutOthers(status) as RolloutStatus
  const generation = view.daemonSet?.metadata.generation
  const canaryStatus = exact.canaryStatus && withGeneration(exact.canaryStatus, generation)
  const releaseGeneration = exact.releaseGeneration ?? generationOfRelease({ ...view, rollout: { ...view.rollout, status: exact } })
  return {
    ...exact,
    ...(canaryStatus !== undefined && { canaryStatus }),
    ...(releaseGeneration !== undefined && { releaseGeneration }),
  }
}

function withGeneration(canary: CanaryStatus, generation: number | undefined): CanaryStatus {
  if (canary.observedWorkloadGeneration !== undefined || generation === undefined) return canary
  return { ...canary, observedWorkloadGeneration: generation }
}

function hasExactNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(hasExactNumbers)
}

function withoutOthers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const isOther = (member: unknown): boolean => typeof member === 'number' && !Number.isSafeInteger(member)
  if (Array.isArray(value)) return value.filter((item) => !isOther(item)).map(withoutOthers)
  return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => (isOther(member) ? [] : [[key, withoutOthers(member)]])))
}
