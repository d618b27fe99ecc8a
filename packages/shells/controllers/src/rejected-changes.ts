import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import { changeOf, type RejectedChange, type RolloutPlan } from '@tranche/planner'

/** Minimum interval between two texts for the same change, in milliseconds: each is a write of the status, after which a retry comes at once. */
export const REJECTED_TEXT_EVERY_MS = 60_000

/** Statuses of HTTP with which the API server rejects a change for its content or for a rule; others pass. */
const REJECTIONS: ReadonlySet<unknown> = new Set([400, 403, 422])

/** Remembers the last rejected change of each Rollout. A new leader learns it with its first attempt. */
export interface RejectedChanges {
  of(key: string): RejectedChange | undefined
  /**
   * Carries out the plan, and remembers it if the API server rejects it.
   *
   * @throws what `apply` throws
   */
  watch(key: string, plan: RolloutPlan, apply: () => Promise<void>): Promise<void>
  /** Forgets an object that is gone. */
  forget(key: string): void
}

/** @returns no rejections so far */
export function createRejectedChanges(clock: Clock): RejectedChanges {
  const known = new Map<string, RejectedChange & { readonly sinceMs: number }>()
  return {
    of: (key) => known.get(key),
    async watch(key, plan, apply) {
      // The status says so; the change is tried again.
      const isKept = plan.kind === 'writeStatus' || plan.kind === 'setAnnotations' || plan.kind === 'wait'
      try {
        await apply()
        if (!isKept) known.delete(key)
      } catch (error) {
        const change = changeOf(plan)
        if (change !== undefined && isRejection(error)) {
          const before = known.get(key)
          const nowMs = clock.monotonicMs()
          const isSaid = before?.change === change && nowMs - before.sinceMs < REJECTED_TEXT_EVERY_MS
          if (!isSaid) known.set(key, { change, message: error.message, sinceMs: nowMs })
        }
        throw error
      }
    },
    forget: (key) => void known.delete(key),
  }
}

/** Whether the API server rejected a change for its content or for a rule, so that it may do so again. */
export function isRejection(error: unknown): error is Error {
  return isAppError(error) && error.code === 'API_REFUSED' && REJECTIONS.has(error.details['status'])
}
