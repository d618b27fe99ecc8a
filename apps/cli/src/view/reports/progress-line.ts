import type { RolloutSummary } from '@tranche/api-schema'
import type { Drawing } from './drawing.ts'
import { backText, downAndDead, goesBackAtOnce, isOurs, messageBesideBack, outcomeStyles, stateWord } from './report-words.ts'

/** Last printed report of a Rollout, and its time in monotonic milliseconds. */
export interface PrintedProgress {
  readonly report: RolloutSummary
  readonly atMs: number
}

/** Minimum interval between lines in which only counts differ, in milliseconds. */
const COUNTS_EVERY_MS = 5_000

/** @returns whether `report` differs enough from the last `printed` one to print a line */
export function isNews(printed: PrintedProgress | null, report: RolloutSummary, nowMs: number): boolean {
  if (printed === null || turningPoint(printed.report) !== turningPoint(report)) return true
  return counts(printed.report) !== counts(report) && nowMs - printed.atMs >= COUNTS_EVERY_MS
}

/** @returns the progress of a release in one line: state, step, nodes, and what it waits for */
export function progressLine(report: RolloutSummary, drawing: Drawing): string {
  const { namespace, name, nodes, outcome, need, rollbackFrom } = report
  const failed = nodes.failed === 0 ? '' : `, ${nodes.failed} failed`
  const available = nodes.updated === nodes.updatedAvailable ? '' : ` (${nodes.updatedAvailable} available)`
  const text = need?.message ?? messageBesideBack(report)
  const done = `${nodes.updated}/${nodes.desired} ${rollbackFrom === undefined ? 'updated' : 'back'}${available}`
  const countsText = `${placeText(report)}  ${done}, ${downAndDead(nodes)}${failed}`
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
  return JSON.stringify([nodes.updated, nodes.updatedAvailable, nodes.unavailable, nodes.dead, nodes.exempt])
}
