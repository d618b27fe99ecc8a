import { type ChartContext, chartFrame, type ChartOptions } from '../../../parts/charts/time-chart.tsx'
import type { ChartData } from './chart-data.ts'
import { numberText } from './analysis-texts.ts'
import { drawLimit, drawMarks } from './draw-chart.ts'

/** Height of a chart, in CSS pixels. */
const HEIGHT = 150

/** Space of the values and of the times, in CSS pixels. */
const LABEL_WIDTH = 58
const LABEL_HEIGHT = 26

/** Options of a chart, except for its width. */
export function chartOptions({ colours, data, onPoint }: ChartContext<ChartData>): ChartOptions {
  const { axis, ...frame } = chartFrame(colours)
  return {
    ...frame,
    height: HEIGHT,
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
