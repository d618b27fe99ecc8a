import uPlot from 'uplot'
import { timeSpanText } from '../../format/duration.ts'
import { drawLimitLine } from '../../parts/charts/draw-limit-line.ts'
import { type ChartContext, chartFrame, type ChartOptions } from '../../parts/charts/time-chart.tsx'
import type { UnavailableCurve } from './unavailable-curve.ts'

/** Height of the chart, in CSS pixels. */
const HEIGHT = 160
/** Space of the numbers and of the times, in CSS pixels. */
const LABEL_WIDTH = 44
const LABEL_HEIGHT = 26
/** Least distance of two times, in CSS pixels. */
const TIME_SPACE = 80
/** Distances of the lines of the time axis, in seconds. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800]
/** Distances of the lines of the vertical axis: nodes are whole. */
const NODE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]

/** Options of the chart, except for its width: a stepped line, the limit, and time from the forecast. */
export function curveOptions({ colours, data: curve, onPoint }: ChartContext<UnavailableCurve>): ChartOptions {
  const { axis, ...frame } = chartFrame(colours)
  const stepped = uPlot.paths.stepped?.({ align: 1 })
  return {
    ...frame,
    height: HEIGHT,
    scales: {
      x: { time: false, range: () => [0, curve().wholeSeconds] },
      y: { range: () => [0, curve().top] },
    },
    axes: [
      {
        ...axis,
        size: LABEL_HEIGHT,
        space: TIME_SPACE,
        incrs: TIME_STEPS,
        values: (_plot, seconds) => seconds.map((one) => timeSpanText(one * 1_000)),
      },
      { ...axis, size: LABEL_WIDTH, space: 28, incrs: NODE_STEPS },
    ],
    series: [{}, { stroke: colours.tones.busy, width: 2, points: { show: false }, ...(stepped !== undefined && { paths: stepped }) }],
    hooks: {
      drawAxes: [
        (plot) => {
          const { limit } = curve()
          drawLimitLine(plot, { value: limit, text: `${limit} allowed`, isMost: true, isTextBeyond: true }, colours.tones.bad)
        },
      ],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
    },
  }
}
