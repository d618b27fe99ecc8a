import type { ReactNode } from 'react'
import { clockText } from '../../../format/moment.ts'
import { type ChartKind, TimeChart } from '../../../parts/charts/time-chart.tsx'
import { lookOfPhase, numberText } from './analysis-texts.ts'
import type { ChartData } from './chart-data.ts'
import { chartOptions } from './chart-options.ts'

/** Properties of {@link MeasurementChart}. */
interface MeasurementChartProps {
  readonly data: ChartData
  /** What the chart shows, for a screen reader. */
  readonly text: string
}

const measurements: ChartKind<ChartData> = {
  options: chartOptions,
  points: ({ times, samples }) => [[...times], [...samples]],
  pointedText({ times, samples, phases }, at) {
    const time = at === null ? undefined : times[at]
    if (at === null || time === undefined) return 'Point at the chart for a value.'
    const sample = samples[at]
    const value = sample === null || sample === undefined ? 'no number' : numberText(sample)
    return `${clockText(new Date(time * 1000).toISOString())}: ${value} (${lookOfPhase(phases[at] ?? '').word.toLowerCase()})`
  },
}

/** Measurements over time with the limit. A chunk of its own: only a release with analyses loads it. */
export function MeasurementChart({ data, text }: MeasurementChartProps): ReactNode {
  return <TimeChart kind={measurements} data={data} text={text} />
}
