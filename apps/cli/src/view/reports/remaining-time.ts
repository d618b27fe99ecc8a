import { durationText } from '@tranche/clock'
import type { ReleasePicture } from '@tranche/release-client'
import { parseTime } from '@tranche/kube-types'
import { goesBackAtOnce } from './report-words.ts'

/**
 * Remaining time of a timed pause, or of the current batch at its speed so far.
 *
 * @returns a sentence without a stop; null if it waits for a person, or too few nodes are done
 */
export function remainingTime({ report }: ReleasePicture, nowMs: number): string | null {
  const { remaining, step } = report
  if (remaining === undefined || goesBackAtOnce(report)) return null
  const endMs = parseTime(remaining.until)
  if (endMs === null) return null
  const left = durationText(endMs - nowMs)
  switch (remaining.of) {
    case 'pause':
      return `the pause ends in ${left}`
    case 'batch':
      return `batch ${step?.index ?? 1} finishes in about ${left} at its current speed`
    default:
      return null
  }
}
