import { durationText } from '@tranche/clock'
import { plainLine } from './plain-lines.ts'
import type { ReleaseSnapshot } from './release-snapshot.ts'

/** State of a wait at the last call. */
export interface WaitSeen {
  /** Reason and nodes of the wait, without counts and times. */
  readonly subject: string
  /** Start of the wait, epoch milliseconds by the cluster's clock. */
  readonly sinceMs: number
  /** Time of the last line about it, by the same clock; null before the first. */
  readonly printedAtMs: number | null
}

/** Minimum duration of a wait that is printed, in milliseconds: in a normal batch, waits change with every node. */
const TOLD_AFTER_MS = 2_000
/** Interval of repeated lines about the same wait, in milliseconds. */
const PRINT_AGAIN_AFTER_MS = 30_000

/**
 * Formats what a release waits for, for output that is not a terminal: after two seconds of the same wait, and again every
 * thirty. A wait for a person is printed at once.
 *
 * @param seen `seen` of the last result; null at the start, and after no wait
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
