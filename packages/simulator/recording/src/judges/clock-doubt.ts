import type { JudgeQuery } from '../breach.ts'

/** A `Date` has whole seconds, at the stamp and at its reading (F14). */
const ROUNDED_MS = 2_000

/**
 * @returns by how much a wait that a stamp began may seem shorter than it was, in milliseconds: the clocks of our machines shorten none
 * (F14), but the API server's may be set
 */
export function clockDoubtMs({ clockSteps = [] }: JudgeQuery, nowMs: number): number {
  return clockSteps.filter(({ atMs }) => atMs <= nowMs).reduce((sum, { ms }) => sum + Math.abs(ms), ROUNDED_MS)
}
