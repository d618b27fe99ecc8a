import type { AnalysisReport } from '@tranche/api-schema'
import { type ReactNode, useMemo } from 'react'
import { countText, timeSpanText } from '../../../format/duration.ts'
import { partLoadedLater } from '../../../parts/part-loaded-later.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Until } from '../../../parts/time.tsx'
import { chartText, intervalMs, limitText, lookOfPhase, type AnalysisMeasurement, roleText, measuredText } from './analysis-texts.ts'
import { chartDataOf } from './chart-data.ts'
import { MeasurementTable } from './measurement-table.tsx'

const MeasurementChart = partLoadedLater(async () => (await import('./measurement-chart.tsx')).MeasurementChart, 'Loading the chart…')

/** Properties of {@link AnalysisTile}. */
interface AnalysisTileProps {
  readonly analysis: AnalysisReport
  /** Measurements that this page has seen, oldest first. */
  readonly measurements: readonly AnalysisMeasurement[]
}

/** One metric: its value now, its limit, and its measurements as a chart and as a table. */
export function AnalysisTile({ analysis, measurements }: AnalysisTileProps): ReactNode {
  const { name, phase, message, limit } = analysis
  const data = useMemo(() => chartDataOf(measurements, limit), [measurements, limit])
  const last = measurements.at(-1)
  return (
    <li className="analysis">
      <h3>
        <bdi>{name}</bdi> <StateBadge look={lookOfPhase(phase)} />
      </h3>
      {last === undefined ? null : <ValueNow last={last} limit={limit} />}
      {message === undefined ? null : <p className="prose">{message}</p>}
      {data === undefined ? null : <MeasurementChart data={data} text={chartText(analysis, measurements)} />}
      <Terms analysis={analysis} measurements={measurements} />
      <MeasurementTable name={name} measurements={measurements} />
    </li>
  )
}

/** A longer value is an answer rather than a number: it is shown in normal size. */
const LARGE_VALUE_MAX = 12

function ValueNow({ last, limit }: { readonly last: AnalysisMeasurement; readonly limit: AnalysisReport['limit'] }): ReactNode {
  const value = measuredText(last)
  const { tone, glyph, word } = lookOfPhase(last.phase)
  return (
    <div className="analysis-now">
      <p className={value.length <= LARGE_VALUE_MAX ? `analysis-value tone-${tone}` : 'prose'}>
        <span className="visually-hidden">Value now: </span>
        <span aria-hidden="true" className={`tone-${tone}`}>
          {glyph}{' '}
        </span>
        <bdi>{value}</bdi>
        <span className="visually-hidden">, {word}</span>
      </p>
      {limit === undefined ? null : <p>{limitText(limit)}</p>}
    </div>
  )
}

function Terms({ analysis, measurements }: AnalysisTileProps): ReactNode {
  const { phase, nextAt, successCondition, failureCondition } = analysis
  const interval = intervalMs(nextAt, measurements)
  const size = measurements.at(-1)?.size
  return (
    <dl className="analysis-terms">
      <Term name="Runs">{roleText(analysis)}</Term>
      {interval === undefined ? null : (
        <Term name="Interval">
          {timeSpanText(Math.round(interval / 1000) * 1000)}
          {phase === 'Running' && nextAt !== undefined ? (
            <>
              ; next: <Until at={nextAt} />
            </>
          ) : null}
        </Term>
      )}
      {size === undefined ? null : <Term name="Sample size">{countText(size, 'value')} in the last answer</Term>}
      {successCondition === undefined ? null : (
        <Term name="Succeeds if">
          <code className="prose">{successCondition}</code>
        </Term>
      )}
      {failureCondition === undefined ? null : (
        <Term name="Fails if">
          <code className="prose">{failureCondition}</code>
        </Term>
      )}
    </dl>
  )
}

function Term({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
