import type { RolloutSummary } from '@tranche/api-schema'
import { displayWidth } from '../styled-line.ts'
import type { Drawing } from './drawing.ts'
import { ageText, downCount, isOurs, outcomeStyles, shortImage, stateWord, stepFraction, versionsOf, waitingText } from './report-words.ts'
import { type Column, GAP, tableLines } from './table.ts'

/** Optional columns of a list. */
export interface ListColumns {
  /** Whether to show the namespace. */
  readonly namespaces: boolean
  /** Whether to show the columns of `-o wide`. */
  readonly wide: boolean
}

/** Width in columns below which sentences would be cut too early. */
const NARROW = 120
/** Heading of the last column. */
const WAITS_FOR = 'WAITS FOR'
/** Minimum width of the column WAITS FOR; other columns shrink for it. */
const LEAST_REASON = 12

/** Formats Rollouts as a table; colours highlight those that wait for a person or failed. Pure. */
export function listView(rollouts: readonly RolloutSummary[], columns: ListColumns, drawing: Drawing): readonly string[] {
  const roomyColumns = [...(rollouts.some(({ nodes }) => (nodes.dead ?? 0) > 0) ? [deadColumn] : []), ...otherColumns]
  const omitted = rollouts.some(isUsedUp) ? [...roomyColumns].reverse() : roomyColumns
  const fewerColumns = omitted.map((_, at) => roomyColumns.filter((column) => !omitted.slice(0, at + 1).includes(column)))
  const [all, ...fewer] = columns.wide ? [roomyColumns] : [roomyColumns, ...fewerColumns]
  const whole = columnsOf(columns, all!, drawing)
  const isShort = !columns.wide && widthLeft(rollouts, whole, drawing.width) < longestReason(rollouts)
  // On a narrow terminal, a column without any text makes room first.
  const shownOf = (roomy: readonly Column<RolloutSummary>[]): readonly Column<RolloutSummary>[] =>
    columnsOf(columns, roomy, drawing).filter(({ cell }) => !isShort || rollouts.some((rollout) => cell(rollout) !== ''))
  const fits = (roomy: readonly Column<RolloutSummary>[]): boolean => {
    const shown = shownOf(roomy)
    const least = shown.some(({ heading }) => heading === WAITS_FOR) ? longestReason(rollouts) : 0
    return widthLeft(rollouts, shown, drawing.width) >= least
  }
  const roomy = [all!, ...fewer].find(fits) ?? fewer.at(-1) ?? all!
  return tableLines(rollouts, shownOf(roomy), drawing)
}

/** Whether a used-up budget may be what blocks a release: the column DOWN then says more than VERSION. */
function isUsedUp({ nodes, maxUnavailable, outcome }: RolloutSummary): boolean {
  return maxUnavailable !== undefined && outcome === 'Blocked' && downCount(nodes) >= maxUnavailable
}

/** @returns width that is left for the column WAITS FOR if no other is cut */
function widthLeft(rollouts: readonly RolloutSummary[], columns: readonly Column<RolloutSummary>[], width: number): number {
  const taken = columns
    .filter(({ heading }) => heading !== WAITS_FOR)
    .map(({ heading, cell }) => Math.max(heading.length, ...rollouts.map((rollout) => displayWidth(cell(rollout)))))
  return taken.reduce((left, one) => left - one - GAP, width)
}

/** Width of the longest reason: it is never cut in favour of optional columns. */
function longestReason(rollouts: readonly RolloutSummary[]): number {
  return Math.max(LEAST_REASON, ...rollouts.map(({ need }) => displayWidth(need?.reason ?? '')))
}

function columnsOf(
  { namespaces, wide }: ListColumns,
  roomy: readonly Column<RolloutSummary>[],
  { nowMs, width }: Drawing,
): readonly Column<RolloutSummary>[] {
  return [
    ...(namespaces ? [{ heading: 'NAMESPACE', cell: ({ namespace }: RolloutSummary) => namespace, least: 8 }] : []),
    { heading: 'NAME', cell: ({ name }) => name, least: 12 },
    { heading: 'STATE', cell: stateWord, style: ({ outcome }) => outcomeStyles[outcome] },
    { heading: 'STEP', cell: stepFraction },
    { heading: 'UPDATED', cell: (rollout) => (isOurs(rollout) ? `${rollout.nodes.updated}/${rollout.nodes.desired}` : '') },
    ...roomy,
    ...(wide ? wideColumns(nowMs) : []),
    { heading: WAITS_FOR, cell: (rollout) => waitsFor(rollout, width < NARROW), least: 12 },
  ]
}

/** Only where a node is dead: most fleets have none, and the column takes room from the others. */
const deadColumn: Column<RolloutSummary> = {
  heading: 'DEAD',
  cell: (rollout) => (isOurs(rollout) ? String(rollout.nodes.dead ?? 0) : ''),
  style: ({ nodes: { dead = 0, exempt = 0 } }) => (dead > exempt ? 'yellow' : null),
}

/** Columns that are omitted on a narrow terminal, in this order. */
const otherColumns: readonly Column<RolloutSummary>[] = [
  {
    heading: 'DOWN',
    cell: (rollout) => (isOurs(rollout) ? downText(rollout) : ''),
    style: ({ nodes, maxUnavailable }) => (downCount(nodes) > (maxUnavailable ?? downCount(nodes)) ? 'yellow' : null),
  },
  { heading: 'VERSION', cell: ({ images }) => versionsOf(images), least: 10 },
]

function wideColumns(nowMs: number): readonly Column<RolloutSummary>[] {
  return [
    {
      heading: 'FAILED',
      cell: (rollout) => (isOurs(rollout) ? String(rollout.nodes.failed) : ''),
      style: ({ nodes }) => (nodes.failed > 0 ? 'red' : null),
    },
    { heading: 'PHASE', cell: ({ phase }) => phase },
    { heading: 'REASON', cell: ({ reason }) => reason },
    { heading: 'SINCE', cell: ({ step }) => ageText(step?.since, nowMs) },
    { heading: 'STABLE', cell: ({ stableRevision }) => stableRevision ?? '' },
    { heading: 'CANARY', cell: ({ canaryRevision }) => canaryRevision ?? '' },
    { heading: 'DAEMONSET', cell: ({ daemonSet }) => daemonSet },
    { heading: 'IMAGES', cell: ({ images }) => images.map(shortImage).join(', ') },
  ]
}

function downText({ nodes, maxUnavailable }: RolloutSummary): string {
  return `${downCount(nodes)}${maxUnavailable === undefined ? '' : `/${maxUnavailable}`}`
}

/** Text of the column WAITS FOR; empty for a release that is over and needs no person. In short form the reason, since a cut sentence says less. */
function waitsFor(rollout: RolloutSummary, inShort: boolean): string {
  const { outcome, need, message } = rollout
  if ((outcome === 'Done' || outcome === 'RolledBack') && need === undefined) return ''
  // The step has a column of its own.
  return inShort ? (need?.reason ?? waitingText(rollout)) : (need?.message ?? message)
}
