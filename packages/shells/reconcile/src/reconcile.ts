import type { ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'

/**
 * One pass over one key: read everything, decide, write one thing.
 *
 * Runs for one key at a time per runner, but possibly in another process at the same moment. Change signals collapse, so a pass reads the
 * present state and never asks what happened. The signal aborts at the deadline of the pass and when the runner stops.
 *
 * `log` adds the id of the pass (`reconcileId`) to each line.
 *
 * @throws AppError or any error; the runner logs it once and derives the next pass of the key from its remedy
 */
export type Reconcile = (key: ObjectKey, signal: AbortSignal, log: Logger) => Promise<ReconcileResult>

/**
 * What the runner does next with the key: nothing until a watch reports a change, or another pass in `ms` (≥ 0) at the latest. A failure is
 * not an outcome; it is thrown.
 */
export type ReconcileResult = { readonly kind: 'awaitChange' } | { readonly kind: 'recheckAfter'; readonly ms: number }

/** Outcome of a pass that waits for no timer. */
export const awaitChange: ReconcileResult = { kind: 'awaitChange' }

/**
 * Minimum time between two passes of the same key, in milliseconds. Never zero: a pass that repeats immediately must leave time for the
 * watches that it waits for.
 */
export const SOONEST_RECHECK_MS = 1

/**
 * @returns the outcome of a pass that wants another one in `ms` (≥ 0; at least {@link SOONEST_RECHECK_MS} is waited) at the latest
 * @throws {RangeError} where `ms` is NaN or infinite: within the pass, so that the failure is logged and retried as the failure of its key
 */
export function recheckAfter(ms: number): ReconcileResult {
  if (!Number.isFinite(ms)) throw new RangeError(`the next pass is due in ${ms} ms; use a finite number of milliseconds`)
  return { kind: 'recheckAfter', ms }
}
