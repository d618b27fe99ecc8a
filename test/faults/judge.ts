import { findBreaches, readRecording } from '@tranche/recording'
import { stageKey } from '../scenarios/stage-objects.ts'
import type { Played } from './play.ts'

/** A guarantee that a run has broken. */
export interface Violation {
  /** `G1`…`G12`. */
  readonly guarantee: string
  /** When, in epoch milliseconds by the recording's clock. */
  readonly atMs: number
  /** One sentence with the numbers. */
  readonly text: string
}

/** How late watches count as being where nothing made them late, in milliseconds. */
const LAG_MS = 5_000

/** Holds what was played against the guarantees: the recording, and the end. */
export function judge(played: Played): readonly Violation[] {
  const { lines, unended, endMs } = played
  const recording = readRecording(lines)
  const isOurs = (actor: string): boolean => /^(controller|executor)-/.test(actor)
  const breaches = findBreaches(recording, { daemonSet: stageKey.name, isOurs, watchLagMs: lagOf(played) })
  const broken = breaches.map(({ guarantee, atMs, node, text }) => ({ guarantee, atMs, text: `a pod on ${node} was deleted, and ${text}` }))
  const g6 = unended.length === 0 ? [] : [{ guarantee: 'G6', atMs: endMs, text: unended.join('; ') }]
  return [...broken, ...g6]
}

/** Infinity where watches may have been late by any time: then what others did is not held against us. */
function lagOf({ schedule }: Played): number {
  const isLate = schedule.incidents.some(({ kind }) => ['weather', 'lag', 'freeze', 'freezeBefore', 'trap', 'cutOff'].includes(kind))
  return isLate ? Number.POSITIVE_INFINITY : LAG_MS + schedule.shape.watchDelayMs
}
