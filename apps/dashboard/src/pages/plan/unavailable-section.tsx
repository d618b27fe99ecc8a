import type { Forecast } from '@tranche/api-schema'
import { type ReactNode, useId, useMemo } from 'react'
import { timeSpanText } from '../../format/duration.ts'
import { clockText } from '../../format/moment.ts'
import { partLoadedLater } from '../../parts/part-loaded-later.tsx'
import { curveOf, curveText } from './unavailable-curve.ts'

const UnavailableChart = partLoadedLater(async () => (await import('./unavailable-chart.tsx')).UnavailableChart, 'Loading the chart…')

/** Properties of {@link UnavailableSection}. */
interface UnavailableSectionProps {
  readonly forecast: Forecast
  /** Moment from which the forecast starts, in epoch milliseconds. */
  readonly atMs: number
  readonly wholeSeconds: number
}

/** Unavailable nodes of a forecast over time, as a chart and as a table. */
export function UnavailableSection({ forecast, atMs, wholeSeconds }: UnavailableSectionProps): ReactNode {
  const id = useId()
  const curve = useMemo(() => curveOf(forecast, wholeSeconds), [forecast, wholeSeconds])
  if (curve === null) return null
  return (
    <div className="unavailable">
      <h3 id={id}>Unavailable nodes over time</h3>
      <UnavailableChart curve={curve} text={curveText(forecast)} />
      <details>
        <summary>As a table</summary>
        <table className="plain" aria-labelledby={id}>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Unavailable nodes</th>
            </tr>
          </thead>
          <tbody>
            {forecast.unavailable.map(({ atSeconds, nodes }, at) => (
              <tr key={at}>
                <td title={clockText(new Date(atMs + atSeconds * 1_000).toISOString())}>{timeSpanText(atSeconds * 1_000)}</td>
                <td className={nodes > forecast.maxUnavailable ? 'tone-bad' : undefined}>
                  {nodes}
                  {nodes > forecast.maxUnavailable ? `, more than the ${forecast.maxUnavailable} allowed` : ''}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  )
}
