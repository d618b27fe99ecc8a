import type { Forecast } from '@tranche/api-schema'
import { type ReactNode, useMemo } from 'react'
import { timeSpanText } from '../../format/duration.ts'
import { clockText } from '../../format/moment.ts'
import { timelineOf, type TimelineRow } from './plan-timeline.ts'

/** Properties of {@link PlanTimelineTable}. */
interface PlanTimelineTableProps {
  readonly forecast: Forecast
  /** Moment from which the forecast starts, in epoch milliseconds. */
  readonly atMs: number
  readonly wholeSeconds: number
}

/** The batches over time: a bar while nodes are updated, a thin one while the release pauses; the numbers say the same. */
export function PlanTimelineTable({ forecast, atMs, wholeSeconds }: PlanTimelineTableProps): ReactNode {
  const { rows } = useMemo(() => timelineOf(forecast, wholeSeconds), [forecast, wholeSeconds])
  return (
    <table className="plain timeline">
      <caption>Batches, in time from the forecast</caption>
      <thead>
        <tr>
          <th scope="col">Batch</th>
          <th scope="col">Nodes</th>
          <th scope="col" className="timeline-axis">
            <span>0s</span>
            <span>{timeSpanText(wholeSeconds * 1_000)}</span>
          </th>
          <th scope="col">Begins</th>
          <th scope="col">Ready</th>
          <th scope="col">Then</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <BatchRow key={row.index} row={row} atMs={atMs} />
        ))}
      </tbody>
    </table>
  )
}

function BatchRow({ row, atMs }: { readonly row: TimelineRow; readonly atMs: number }): ReactNode {
  const { index, nodes, startSeconds, readySeconds, after, work, pause } = row
  const clock = (seconds: number): string => clockText(new Date(atMs + seconds * 1_000).toISOString())
  return (
    <tr>
      <th scope="row">
        <span className="visually-hidden">Batch </span>
        {index}
      </th>
      <td data-label="Nodes">{nodes}</td>
      <td className="timeline-cell">
        <svg viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
          <rect className="track" width="1000" height="12" />
          <rect className={readySeconds === null ? 'fill-bad' : 'fill-busy'} x={work.x} width={work.width} height="12" />
          {pause === null ? null : <rect className="fill-wait" x={pause.x} width={pause.width} y="4" height="4" />}
        </svg>
      </td>
      <td className="nowrap" data-label="Begins" title={clock(startSeconds)}>
        {timeSpanText(startSeconds * 1_000)}
      </td>
      <td className="nowrap" data-label="Ready" title={readySeconds === null ? undefined : clock(readySeconds)}>
        {readySeconds === null ? <strong className="tone-bad">✕ never</strong> : timeSpanText(readySeconds * 1_000)}
      </td>
      <td className="timeline-after">{after}</td>
    </tr>
  )
}
