import type { ApiKey } from '@tranche/api-client'
import type { Forecast } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { countText, timeSpanText } from '../../format/duration.ts'
import { clockText } from '../../format/moment.ts'
import { LongText } from '../../parts/long-text.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useNow } from '../../parts/use-now.ts'
import { forecastLooks } from './outcome-words.ts'
import { PlanNodes } from './plan-nodes.tsx'
import { PlanTimelineTable } from './plan-timeline-table.tsx'
import { rangeText } from './plan-timeline.ts'
import { UnavailableSection } from './unavailable-section.tsx'
import type { DatedForecast } from './use-plan.ts'

/** Properties of {@link PlanResult}. */
interface PlanResultProps {
  readonly rollout: ApiKey
  readonly dated: DatedForecast
  readonly wholeSeconds: number
  readonly node: string
  readonly onNode: (node: string) => void
  readonly command: string
}

/** A forecast: outcome, duration, nodes down, batches over time, nodes in order, and what it assumes. */
export function PlanResult({ rollout, dated, wholeSeconds, node, onNode, command }: PlanResultProps): ReactNode {
  const { forecast, atMs } = dated
  const { outcome, message, batches, assumptions } = forecast
  return (
    <div className="plan-result">
      <div role="status">
        <StateBadge look={forecastLooks[outcome]} />
        <LongText>{message}</LongText>
      </div>
      <PlanFigures forecast={forecast} atMs={atMs} />
      {batches.length === 0 ? null : <PlanTimelineTable forecast={forecast} atMs={atMs} wholeSeconds={wholeSeconds} />}
      <UnavailableSection forecast={forecast} atMs={atMs} wholeSeconds={wholeSeconds} />
      <h3>Assumes</h3>
      <ul className="assumptions">
        {assumptions.map((assumption) => (
          <li key={assumption}>
            <bdi>{assumption}</bdi>
          </li>
        ))}
      </ul>
      <details>
        <summary>The same in a terminal</summary>
        <pre className="command">
          <code>{command}</code>
        </pre>
      </details>
      <PlanNodes rollout={rollout} nodes={forecast.nodes} filter={node} onFilter={onNode} />
    </div>
  )
}

function PlanFigures({ forecast, atMs }: Pick<DatedForecast, 'forecast' | 'atMs'>): ReactNode {
  const { etaSeconds, nodesHit } = forecast
  const clock = (seconds: number): string => clockText(new Date(atMs + seconds * 1_000).toISOString())
  return (
    <dl className="facts">
      <div>
        <dt>Ends</dt>
        <dd>
          {etaSeconds === null ? 'not by itself' : `after ${rangeText(etaSeconds)}`}
          {etaSeconds === null ? null : (
            <span className="count">
              {' '}
              {clock(etaSeconds.low)} to {clock(etaSeconds.high)}
            </span>
          )}
        </dd>
      </div>
      <div>
        <dt>New version on</dt>
        <dd>{countText(nodesHit, 'node')}</dd>
      </div>
      <div>
        <dt>Down at a time</dt>
        <dd>
          <DownBar forecast={forecast} />
        </dd>
      </div>
      <div>
        <dt>Forecast made at</dt>
        <dd>
          {clockText(new Date(atMs).toISOString())} <span className="count">{timeSpanText(useNow() - atMs)} old</span>
        </dd>
      </div>
    </dl>
  )
}

/** Most nodes that are down at a time, against the limit. */
function DownBar({ forecast: { peakUnavailable: peak, maxUnavailable: limit, unavailable } }: { readonly forecast: Forecast }): ReactNode {
  const isOver = peak > limit
  const now = unavailable[0]?.nodes ?? 0
  const whole = Math.max(peak, limit, 1)
  return (
    <>
      <span className={isOver ? 'tone-bad' : undefined}>
        {isOver ? '! ' : ''}at most {peak}; {limit} allowed
        {now === 0 ? '' : `; ${now} down already`}
      </span>
      <svg className="progress" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        <rect className="track" width="1000" height="10" />
        <rect className={isOver ? 'fill-bad' : 'fill-busy'} width={(peak / whole) * 1000} height="10" />
        <line className="mark" x1={(limit / whole) * 1000} x2={(limit / whole) * 1000} y1="0" y2="10" />
      </svg>
    </>
  )
}
