import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { RejectedChange, RolloutPlan } from '@tranche/planner'

/** Minimum interval between two texts for the same change, in milliseconds: each is a write of the status, after which a retry comes at once. */
const TEXT_EVERY_MS = 60_000

/** Statuses of HTTP with which the API server rejects a change for its content or for a rule; others pass. */
const REJECTIONS: ReadonlySet<unknown> = new Set([400, 403, 422])

/** Remembers the last rejected change of each DaemonSet. A new leader learns it with its first attempt. */
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
        if (plan.kind === 'patchDaemonSet') {
          const before = known.get(key)
          const nowMs = clock.monotonicMs()
          const isSaid = before?.why === plan.why && nowMs - before.sinceMs < TEXT_EVERY_MS
          if (isRejection(error) && !isSaid) known.set(key, { why: plan.why, message: error.message, sinceMs: nowMs })
        }
        throw error
      }
    },
    forget: (key) => void known.delete(key),
  }
}

function isRejection(error: unknown): error is Error {
  return isAppError(error) && error.code === 'API_REFUSED' && REJECTIONS.has(error.details['status'])
}
