import { type ReactNode, useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clockText } from '../../../format/moment.ts'
import { useTheme } from '../../../parts/use-theme.ts'
import { useWidth } from '../../../parts/use-width.ts'
import { lookOfPhase, numberText } from './analysis-texts.ts'
import { chartColours } from '../../../parts/chart-colours.ts'
import type { ChartData } from './chart-data.ts'
import { chartOptions, HEIGHT } from './chart-options.ts'

/** Properties of {@link MeasurementChart}. */
interface MeasurementChartProps {
  readonly data: ChartData
  /** What the chart shows, for a screen reader. */
  readonly text: string
}

/** Measurements over time with the limit. A chunk of its own: only a release with analyses loads it. */
export function MeasurementChart({ data, text }: MeasurementChartProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const shown = useRef(data)
  const width = useWidth(box)
  const theme = useTheme()
  const [pointed, setPointed] = useState<number | null>(null)
  useEffect(() => {
    if (box.current === null) return
    const options = chartOptions({ colours: chartColours(box.current), data: () => shown.current, onPoint: setPointed })
    const chart = new uPlot({ ...options, width: box.current.clientWidth }, pointsOf(shown.current), box.current)
    plot.current = chart
    return () => {
      plot.current = null
      chart.destroy()
    }
  }, [theme])
  useEffect(() => {
    shown.current = data
    plot.current?.setData(pointsOf(data))
  }, [data])
  useEffect(() => plot.current?.setSize({ width: box.current?.clientWidth ?? width, height: HEIGHT }), [width])
  return (
    <>
      <div ref={box} className="chart" role="img" aria-label={text} />
      <p className="pointed" aria-hidden="true">
        {pointedText(data, pointed)}
      </p>
    </>
  )
}

function pointsOf({ times, samples }: ChartData): uPlot.AlignedData {
  return [[...times], [...samples]]
}

function pointedText({ times, samples, phases }: ChartData, at: number | null): string {
  const time = at === null ? undefined : times[at]
  if (at === null || time === undefined) return 'Point at the chart for a value.'
  const sample = samples[at]
  const value = sample === null || sample === undefined ? 'no number' : numberText(sample)
  return `${clockText(new Date(time * 1000).toISOString())}: ${value} (${lookOfPhase(phases[at] ?? '').word.toLowerCase()})`
}
