import { type ReactNode, useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { countText, timeSpanText } from '../../format/duration.ts'
import { chartColours } from '../../parts/chart-colours.ts'
import { useTheme } from '../../parts/use-theme.ts'
import { useWidth } from '../../parts/use-width.ts'
import { curveOptions, CURVE_HEIGHT } from './curve-options.ts'
import type { UnavailableCurve } from './unavailable-curve.ts'

/** Properties of {@link UnavailableChart}. */
interface UnavailableChartProps {
  readonly curve: UnavailableCurve
  /** What the chart shows, for a screen reader. */
  readonly text: string
}

/** Unavailable nodes over time with the limit. Loaded with the first forecast that has such nodes. */
export function UnavailableChart({ curve, text }: UnavailableChartProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const shown = useRef(curve)
  const width = useWidth(box)
  const theme = useTheme()
  const [pointed, setPointed] = useState<number | null>(null)
  useEffect(() => {
    if (box.current === null) return
    const options = curveOptions({ colours: chartColours(box.current), curve: () => shown.current, onPoint: setPointed })
    const chart = new uPlot({ ...options, width: box.current.clientWidth }, pointsOf(shown.current), box.current)
    plot.current = chart
    return () => {
      plot.current = null
      chart.destroy()
    }
  }, [theme])
  useEffect(() => {
    shown.current = curve
    plot.current?.setData(pointsOf(curve))
  }, [curve])
  useEffect(() => plot.current?.setSize({ width: box.current?.clientWidth ?? width, height: CURVE_HEIGHT }), [width])
  return (
    <>
      <div ref={box} className="chart" role="img" aria-label={text} />
      <p className="pointed" aria-hidden="true">
        {pointedText(curve, pointed)}
      </p>
    </>
  )
}

function pointsOf({ seconds, nodes }: UnavailableCurve): uPlot.AlignedData {
  return [[...seconds], [...nodes]]
}

function pointedText({ seconds, nodes }: UnavailableCurve, at: number | null): string {
  const [time, count] = at === null ? [] : [seconds[at], nodes[at]]
  if (time === undefined || count === undefined) return 'Point at the chart for a value.'
  return `From ${timeSpanText(time * 1_000)} on: ${countText(count, 'node')} unavailable`
}
