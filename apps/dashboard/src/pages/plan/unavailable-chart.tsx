import type { ReactNode } from 'react'
import { countText, timeSpanText } from '../../format/duration.ts'
import { type ChartKind, TimeChart } from '../../parts/charts/time-chart.tsx'
import { curveOptions } from './curve-options.ts'
import type { UnavailableCurve } from './unavailable-curve.ts'

/** Properties of {@link UnavailableChart}. */
interface UnavailableChartProps {
  readonly curve: UnavailableCurve
  /** What the chart shows, for a screen reader. */
  readonly text: string
}

const unavailableNodes: ChartKind<UnavailableCurve> = {
  options: curveOptions,
  points: ({ seconds, nodes }) => [[...seconds], [...nodes]],
  pointedText({ seconds, nodes }, at) {
    const [time, count] = at === null ? [] : [seconds[at], nodes[at]]
    if (time === undefined || count === undefined) return 'Point at the chart for a value.'
    return `From ${timeSpanText(time * 1_000)} on: ${countText(count, 'node')} unavailable`
  },
}

/** Unavailable nodes over time with the limit. Loaded with the first forecast that has such nodes. */
export function UnavailableChart({ curve, text }: UnavailableChartProps): ReactNode {
  return <TimeChart kind={unavailableNodes} data={curve} text={text} />
}
