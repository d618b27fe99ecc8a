import type { Forecast } from '@tranche/api-schema'
import { durationText } from '@tranche/clock'
import { foldNames, foldNamesWithin } from '../../plan/fold-names.ts'
import type { StyledSpan, Style } from '../styled-line.ts'
import type { Drawing } from './drawing.ts'
import { counted } from './report-words.ts'
import { type Column, isTableCut, tableLines, uncutTableLines } from './table.ts'
import { wrapText } from '../wrap-text.ts'

type Batch = Forecast['batches'][number]
type PlannedNode = Forecast['nodes'][number]

const WIDEST_TEXT = 120
const BULLET_WIDTH = 4
const outcomeStyles: Readonly<Record<Forecast['outcome'], Style>> = {
  Completes: 'green',
  Stops: 'red',
  RollsBack: 'yellow',
  Blocked: 'red',
}

/** Formats a forecast: outcome, duration, batches and assumptions. With `wide`, node by node. Pure. */
export function planView(forecast: Forecast, drawing: Drawing, wide: boolean): readonly string[] {
  const taken = forecast.nodes.filter(({ order }) => order > 0)
  const updated = wide ? uncutTableLines(taken, nodeColumns, drawing) : batchLines(forecast, taken, drawing)
  return [
    ...paragraph(forecast.message, drawing, outcomeStyles[forecast.outcome]),
    ...(taken.length === 0 ? [] : factLines(forecast, drawing)),
    ...deadLine(forecast.dead, drawing),
    ...(taken.length === 0 ? [] : ['', ...updated]),
    ...restLines(forecast, drawing),
    '',
    drawing.line(['dim', 'assumes']),
    ...forecast.assumptions.flatMap((text) => bulleted(text, drawing)),
  ]
}

function paragraph(text: string, drawing: Drawing, style?: Style): readonly string[] {
  const spanOf = (line: string): StyledSpan => (style === undefined ? line : [style, line])
  return wrapText(text, Math.min(drawing.width, WIDEST_TEXT)).map((line) => drawing.line(spanOf(line)))
}

function bulleted(text: string, drawing: Drawing): readonly string[] {
  return wrapText(text, Math.max(20, Math.min(drawing.width, WIDEST_TEXT) - BULLET_WIDTH)).map((line, at) =>
    drawing.line(at === 0 ? '  - ' : '    ', line),
  )
}

function factLines({ etaSeconds, peakUnavailable, maxUnavailable, unavailable, outcome }: Forecast, drawing: Drawing): readonly string[] {
  const over = outcome === 'RollsBack' ? 'rolls back in' : 'over in'
  return [
    ...(etaSeconds === null ? [] : [drawing.line(['dim', `  ${over.padEnd(14)}`], rangeText(etaSeconds))]),
    ...(maxUnavailable === 0
      ? []
      : [drawing.line(['dim', `  ${'down at most'.padEnd(14)}`], `${peakUnavailable} of ${maxUnavailable} nodes${downNow(unavailable)}`)]),
  ]
}

/** Nodes that are down before the release updates any: they alone may be more than the limit. */
function downNow([start]: Forecast['unavailable']): string {
  return start === undefined || start.nodes === 0 ? '' : `; ${start.nodes} ${start.nodes === 1 ? 'is' : 'are'} down already`
}

/** Dead nodes are in no batch, and not in the duration. */
function deadLine(dead: Forecast['dead'], drawing: Drawing): readonly string[] {
  if (dead === undefined || dead.count === 0) return []
  const budget = dead.exempt > 0 ? `at most ${dead.exemptLimit} cost no budget` : `all count as down: more than ${dead.exemptLimit}`
  return [drawing.line(['dim', `  ${'dead'.padEnd(14)}`], `${counted(dead.count, 'node')}, updated on return (${budget})`)]
}

function rangeText({ low, high }: NonNullable<Forecast['etaSeconds']>): string {
  const [from, to] = [durationText(low * 1000), durationText(high * 1000)]
  return from === to ? from : `${from} to ${to}`
}

function batchLines({ batches }: Forecast, taken: readonly PlannedNode[], drawing: Drawing): readonly string[] {
  const namesIn = (index: number): readonly string[] => taken.filter(({ batch }) => batch === index).map(({ name }) => name)
  const columns: readonly Column<Batch>[] = [
    { heading: 'BATCH', cell: ({ index }) => String(index) },
    { heading: 'NODES', cell: ({ nodes }) => String(nodes) },
    { heading: 'BEGINS', cell: ({ startSeconds }) => durationText(startSeconds * 1000) },
    { heading: 'READY', cell: readyText },
    {
      heading: 'THEN',
      cell: ({ pause }) =>
        pause === undefined ? '' : pause === 'person' ? 'approval' : `waits ${durationText(Number.parseInt(pause, 10) * 1000)}`,
    },
    {
      heading: 'WHICH',
      cell: ({ index }) => foldNames(namesIn(index)).join(' '),
      within: ({ index }, width) => foldNamesWithin(namesIn(index), width),
    },
  ]
  return [
    ...tableLines(batches, columns, drawing),
    ...(isTableCut(batches, columns, drawing) ? [drawing.line(['dim', '-o wide shows all nodes'])] : []),
  ]
}

/** A step that matches no node has nothing to wait for. */
function readyText({ nodes, endSeconds }: Batch): string {
  if (endSeconds === null) return 'never'
  return nodes === 0 ? 'no node' : durationText(endSeconds * 1000)
}

const nodeColumns: readonly Column<PlannedNode>[] = [
  { heading: 'ORDER', cell: ({ order }) => String(order) },
  { heading: 'NODE', cell: ({ name }) => name, least: 12 },
  { heading: 'BATCH', cell: ({ batch }) => String(batch) },
  { heading: 'AT', cell: ({ atSeconds }) => durationText((atSeconds ?? 0) * 1000) },
  { heading: 'WHY', cell: ({ reason }) => reason },
]

/** Nodes that the release updates in no batch, by reason; omitted if the message already says that there is nothing to do. */
function restLines({ nodes, outcome, nodesHit }: Forecast, drawing: Drawing): readonly string[] {
  const byReason = [
    ...Map.groupBy(
      nodes.filter(({ order }) => order === 0),
      ({ reason }) => reason,
    ),
  ]
  const isIdle = outcome === 'Completes' && nodesHit === 0 && byReason.length === 1
  if (byReason.length === 0 || isIdle) return []
  return [
    '',
    drawing.line(['dim', 'in no batch']),
    ...byReason.flatMap(([reason, alike]) =>
      bulleted(
        `${reason}: ${foldNamesWithin(
          alike.map(({ name }) => name),
          drawing.width - BULLET_WIDTH,
        )}`,
        drawing,
      ),
    ),
  ]
}
