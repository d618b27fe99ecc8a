import type uPlot from 'uplot'
import type { ChartColours } from '../../../parts/chart-colours.ts'
import type { ChartData } from './chart-data.ts'
import { numberText } from './analysis-texts.ts'
import { drawLimit, drawMarks } from './draw-chart.ts'

/** Height of a chart, in CSS pixels. */
export const HEIGHT = 150

/** Dependencies of {@link chartOptions}. */
interface ChartContext {
  readonly colours: ChartColours
  /** @returns what the chart shows now */
  readonly data: () => ChartData
  /** @param at index of the measurement at the pointer; null without one */
  readonly onPoint: (at: number | null) => void
}

const FONT = '11px system-ui, sans-serif'
/** Space of the values and of the times, in CSS pixels. */
const LABEL_WIDTH = 58
const LABEL_HEIGHT = 26

/** Options of a chart, except for its width. */
export function chartOptions({ colours, data, onPoint }: ChartContext): Omit<uPlot.Options, 'width'> {
  const axis = {
    stroke: colours.text,
    font: FONT,
    grid: { stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1, size: 4 },
  }
  return {
    height: HEIGHT,
    // The last time is centred at the end of the axis.
    padding: [8, 32, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false } },
    scales: {
      x: { time: true, range: () => [...data().span] },
      y: { range: () => [...data().range] },
    },
    axes: [
      {
        ...axis,
        size: LABEL_HEIGHT,
        space: 85,
        values: (_plot, times, _axis, _space, increment) => times.map((time) => timeLabel(time, increment)),
      },
      { ...axis, size: LABEL_WIDTH, space: 30, values: (_plot, values) => values.map(numberText) },
    ],
    series: [{}, { stroke: colours.tones.busy, width: 2, spanGaps: true, points: { show: false } }],
    hooks: {
      drawAxes: [(plot) => drawLimit(plot, data(), colours)],
      draw: [(plot) => drawMarks(plot, data(), colours)],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
    },
  }
}

const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

function timeLabel(time: number, increment: number): string {
  return (increment < 60 ? seconds : minutes).format(time * 1000)
}
