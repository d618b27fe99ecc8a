import { durationText } from '../duration-text.ts'
import type { ReleasePicture } from '@tranche/release-client'
import { goesBackAtOnce } from './report-words.ts'

const FEWEST_NODES = 2

/**
 * Estimates the remaining time of a timed pause, or of the current batch at its speed so far.
 *
 * @returns a sentence without a stop; null if it waits for a person, or too few nodes are done
 */
export function remainingTime(picture: ReleasePicture, nowMs: number): string | null {
  const { report } = picture
  if (report.outcome !== 'Running' || goesBackAtOnce(report)) return null
  return pauseEnd(picture, nowMs) ?? batchEnd(picture, nowMs)
}

function pauseEnd({ report: { step, steps } }: ReleasePicture, nowMs: number): string | null {
  if (step?.state !== 'StepPaused' || step.since === undefined) return null
  const pause = steps.find(({ index }) => index === step.index)?.pause
  const seconds = pause === undefined ? Number.NaN : Number(/^(\d+)s$/.exec(pause)?.[1])
  const leftMs = Date.parse(step.since) + seconds * 1000 - nowMs
  return Number.isNaN(leftMs) ? null : `the pause ends in ${durationText(leftMs)}`
}

function batchEnd({ report, batches }: ReleasePicture, nowMs: number): string | null {
  const batch = batches.find(({ state }) => state === 'current')
  if (report.step?.state !== 'StepUpgrade' || batch?.startedAt === undefined) return null
  const before = batches.find(({ index }) => index === batch.index - 1)?.nodes ?? 0
  const through = report.nodes.updatedAvailable - before
  const left = Math.min(batch.nodes, report.nodes.desired) - report.nodes.updatedAvailable
  const spentMs = nowMs - Date.parse(batch.startedAt)
  if (left <= 0 || through < FEWEST_NODES || !(spentMs > 0)) return null
  return `batch ${batch.index} finishes in about ${durationText((spentMs / through) * left)} at its current speed`
}
