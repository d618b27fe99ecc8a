import { type ReactNode, useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { type ThemeColours, themeColours } from '../theme-colours.ts'
import { useTheme } from '../use-theme.ts'
import { useWidth } from '../use-width.ts'

/** Colours of a chart. */
export type ChartColours = ThemeColours<'text' | 'line'>

/** Options of a chart, except for its width. */
export type ChartOptions = Omit<uPlot.Options, 'width'>

/** What the options of a chart are made from. */
export interface ChartContext<T> {
  readonly colours: ChartColours
  /** @returns what the chart shows now */
  readonly data: () => T
  /** @param at index of the point at the pointer; null without one */
  readonly onPoint: (at: number | null) => void
}

/** A kind of chart. The same object for every drawing of it. */
export interface ChartKind<T> {
  readonly options: (context: ChartContext<T>) => ChartOptions
  readonly points: (data: T) => uPlot.AlignedData
  /** Text below the chart about the point at the pointer; null without one. */
  readonly pointedText: (data: T, at: number | null) => string
}

/** Properties of {@link TimeChart}. */
interface TimeChartProps<T> {
  readonly kind: ChartKind<T>
  readonly data: T
  /** What the chart shows, for a screen reader. */
  readonly text: string
}

/** A chart over time on a canvas. It keeps its canvas while the data change, and is drawn again with the colours of another theme. */
export function TimeChart<T>({ kind, data, text }: TimeChartProps<T>): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const shown = useRef(data)
  const width = useWidth(box)
  const theme = useTheme()
  const [pointed, setPointed] = useState<number | null>(null)
  useEffect(() => {
    if (box.current === null) return
    const options = kind.options({
      colours: themeColours(box.current, { text: '--muted', line: '--line' }),
      data: () => shown.current,
      onPoint: setPointed,
    })
    const chart = new uPlot({ ...options, width: box.current.clientWidth }, kind.points(shown.current), box.current)
    plot.current = chart
    return () => {
      plot.current = null
      chart.destroy()
    }
  }, [kind, theme])
  useEffect(() => {
    shown.current = data
    plot.current?.setData(kind.points(data))
  }, [kind, data])
  useEffect(() => {
    const { current } = plot
    current?.setSize({ width: box.current?.clientWidth ?? width, height: current.height })
  }, [width])
  return (
    <>
      <div ref={box} className="chart" role="img" aria-label={text} />
      <p className="pointed" aria-hidden="true">
        {kind.pointedText(data, pointed)}
      </p>
    </>
  )
}

const FONT = '11px system-ui, sans-serif'

/** @returns what every chart has: its margins, no legend, a vertical line at the pointer, and the look of an axis */
export function chartFrame({
  text,
  line,
}: ChartColours): Pick<ChartOptions, 'padding' | 'legend' | 'cursor'> & { readonly axis: uPlot.Axis } {
  return {
    // The last time is centred at the end of the axis.
    padding: [8, 32, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false } },
    axis: { stroke: text, font: FONT, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } },
  }
}
