import { durationText } from './duration-text.ts'
import { plainLine } from './plain-lines.ts'
import type { ReleaseSnapshot } from './release-snapshot.ts'

/** A wait, as it was last looked at. */
export interface WaitSeen {
  /** What is waited for and on which nodes, without the numbers and times of its message. */
  readonly subject: string
  /** Since when, epoch milliseconds by the cluster's clock. */
  readonly sinceMs: number
  /** When a line last spoke of it, by the same clock; null before the first. */
  readonly printedAtMs: number | null
}

/** In the ordinary course of a batch what is waited for changes with every node; only what lasts so long is told, in milliseconds. */
const TOLD_AFTER_MS = 2_000
/** Told again after so long, in milliseconds. */
const PRINT_AGAIN_AFTER_MS = 30_000

/**
 * Says what a release waits for, for output that is not a terminal: once it has waited for the same thing for two seconds,
 * and again every thirty. A wait for a person is told at once.
 *
 * @param seen what this function returned last; null at the beginning, and after nothing was waited for
 */
export function waitingLine(
  seen: WaitSeen | null,
  snapshot: ReleaseSnapshot,
): { readonly seen: WaitSeen | null; readonly line: string | null } {
  const { waiting, nowMs } = snapshot
  if (waiting === null) return { seen: null, line: null }
  const now = seen?.subject === waiting.subject ? seen : { subject: waiting.subject, sinceMs: nowMs, printedAtMs: null }
  if (now.printedAtMs === null) {
    if (nowMs - now.sinceMs < TOLD_AFTER_MS && !waitsForDecision(snapshot)) return { seen: now, line: null }
    return { seen: { ...now, printedAtMs: nowMs }, line: plainLine(snapshot, waiting.message) }
  }
  if (nowMs - now.printedAtMs < PRINT_AGAIN_AFTER_MS) return { seen: now, line: null }
  const age = durationText(nowMs - (waiting.sinceMs ?? now.sinceMs))
  return { seen: { ...now, printedAtMs: nowMs }, line: plainLine(snapshot, `unchanged for ${age}: ${waiting.message}`) }
}

function waitsForDecision({ step, phase, paused }: ReleaseSnapshot): boolean {
  return paused || step?.state === 'StepPaused' || phase !== 'Progressing'
}
