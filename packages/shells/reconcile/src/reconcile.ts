import type { ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'

/**
 * One pass over one key: read everything, decide, write one thing.
 *
 * Runs for one key at a time per runner, but possibly elsewhere at the same moment. Signals of change collapse, so a pass
 * looks at the present and never asks what happened. The signal aborts at the deadline of the pass and when the runner stops.
 *
 * `log` adds the id of the pass (`reconcileId`) to each line.
 *
 * @throws AppError or anything; the runtime logs it once and decides by its remedy when the key comes again
 */
export type Reconcile = (key: ObjectKey, signal: AbortSignal, log: Logger) => Promise<Outcome>

/**
 * What the runtime does next with the key: nothing until a watch reports a change, or another pass in `ms` (≥ 0) at the
 * latest. A failure is not an outcome; it is thrown.
 */
export type Outcome = { readonly kind: 'awaitChange' } | { readonly kind: 'recheckAfter'; readonly ms: number }

/** The outcome of a pass that has nothing to wait for on the clock. */
export const awaitChange: Outcome = { kind: 'awaitChange' }

/**
 * How soon a pass can follow another one of the same key, in milliseconds. Never at once: a pass that asks again and again
 * leaves time for the watches that it waits for.
 */
export const SOONEST_RECHECK_MS = 1

/** @returns the outcome of a pass that wants another one in `ms` (≥ 0; at least {@link SOONEST_RECHECK_MS} is waited) at the latest */
export function recheckAfter(ms: number): Outcome {
  return { kind: 'recheckAfter', ms }
}
