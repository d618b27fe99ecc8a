import type { JudgeQuery } from './breach.ts'

/** A `Date` is cut to whole seconds when it is stamped and when it is read (F14). */
const ROUNDED_MS = 2_000

/** Time after which a process knows that the API server's clock was set, in milliseconds: it reads that clock from answers. */
const KNOWN_AFTER_MS = 300_000

/** A wait, in epoch milliseconds. */
export interface JudgedWait {
  readonly sinceMs: number
  readonly nowMs: number
}

/**
 * @returns milliseconds by which a wait measured from a stamp may seem shorter than it was. Our own clocks shorten no wait (F14), but the
 *   API server's clock may be set during the wait, or shortly before it.
 */
export function clockDoubtMs({ clockSteps = [] }: JudgeQuery, { sinceMs, nowMs }: JudgedWait): number {
  const counted = clockSteps.filter(({ atMs }) => atMs <= nowMs && atMs > sinceMs - KNOWN_AFTER_MS)
  return counted.reduce((sum, { ms }) => sum + Math.abs(ms), ROUNDED_MS)
}
