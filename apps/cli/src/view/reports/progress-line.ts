import type { RolloutSummary } from '@tranche/api-schema'
import type { Drawing } from './drawing.ts'
import { backText, goesBackAtOnce, isOurs, messageBesideBack, outcomeStyles, stateWord } from './report-words.ts'

/** What was told of a Rollout, and when (monotonic milliseconds). */
export interface PrintedProgress {
  readonly report: RolloutSummary
  readonly atMs: number
}

/** Counts move all the time; they alone are told no more often than this. */
const COUNTS_EVERY_MS = 5_000

/** @returns whether `report` says something that a reader of a log has to be told, `told` being the last that they were */
export function isNews(printed: PrintedProgress | null, report: RolloutSummary, nowMs: number): boolean {
  if (printed === null || turningPoint(printed.report) !== turningPoint(report)) return true
  return counts(printed.report) !== counts(report) && nowMs - printed.atMs >= COUNTS_EVERY_MS
}

/** @returns where a release stands, in one line: state, step, nodes, and what it waits for */
export function progressLine(report: RolloutSummary, drawing: Drawing): string {
  const { namespace, name, nodes, outcome, need, rollbackFrom } = report
  const failed = nodes.failed === 0 ? '' : `, ${nodes.failed} failed`
  const available = nodes.updated === nodes.updatedAvailable ? '' : ` (${nodes.updatedAvailable} available)`
  const text = need?.message ?? messageBesideBack(report)
  const done = `${nodes.updated}/${nodes.desired} ${rollbackFrom === undefined ? 'updated' : 'back'}${available}`
  const countsText = `${placeText(report)}  ${done}, ${nodes.unavailable} down${failed}`
  return drawing.line(
    `${namespace}/${name}  `,
    [outcomeStyles[outcome], stateWord(report)],
    isOurs(report) ? countsText : '',
    text === '' ? '' : `  ${text}`,
  )
}

function placeText(report: RolloutSummary): string {
  const { step, phase } = report
  const back = backText(report)
  const isInStep = step !== undefined && phase !== 'Healthy' && !goesBackAtOnce(report)
  return [back, isInStep ? `step ${step.index}/${step.count} ${step.state}` : ''].map((part) => (part === '' ? '' : `  ${part}`)).join('')
}

function turningPoint({ outcome, reason, phase, step, need, nodes, canaryRevision, rollbackFrom }: RolloutSummary): string {
  return JSON.stringify([outcome, reason, phase, step?.index, step?.state, need?.reason, nodes.failed, canaryRevision, rollbackFrom])
}

function counts({ nodes }: RolloutSummary): string {
  return JSON.stringify([nodes.updated, nodes.updatedAvailable, nodes.unavailable])
}
