import type { JudgeQuery } from './breach.ts'

/** A `Date` is cut to whole seconds when it is stamped and when it is read (F14). */
const ROUNDED_MS = 2_000

/**
 * @returns milliseconds by which a wait measured from a stamp may seem shorter than it was. Our own clocks shorten no wait (F14), but the
 *   API server's clock may be set.
 */
export function clockDoubtMs({ clockSteps = [] }: JudgeQuery, nowMs: number): number {
  return clockSteps.filter(({ atMs }) => atMs <= nowMs).reduce((sum, { ms }) => sum + Math.abs(ms), ROUNDED_MS)
}
