import type uPlot from 'uplot'
import { limitText, lookOfPhase } from './analysis-texts.ts'
import type { ChartColours } from '../../../parts/charts/time-chart.tsx'
import { drawLimitLine, line } from '../../../parts/charts/draw-limit-line.ts'
import type { ChartData } from './chart-data.ts'

/** Draws the limit with its text, and hatches the part of the chart in which a measurement fails. */
export function drawLimit(plot: uPlot, { limit }: ChartData, { tones }: ChartColours): void {
  if (limit === undefined) return
  drawLimitLine(plot, { value: limit.value, text: limitText(limit), isMost: limit.op.startsWith('<') }, tones.bad)
}

/** Radius of a mark, in CSS pixels. */
const MARK = 3

/** Marks each measurement by its phase: a dot passed, a cross failed, a square is neither. One without a number is at the bottom. */
export function drawMarks(plot: uPlot, { times, samples, phases }: ChartData, { tones }: ChartColours): void {
  const { ctx, bbox } = plot
  const ratio = bbox.height / plot.over.clientHeight
  const radius = MARK * ratio
  ctx.save()
  ctx.lineWidth = 2 * ratio
  for (const [at, time] of times.entries()) {
    const sample = samples[at]
    const x = plot.valToPos(time, 'x', true)
    const y = sample === null || sample === undefined ? bbox.top + bbox.height - 2 * radius : plot.valToPos(sample, 'y', true)
    const phase = phases[at] ?? ''
    ctx.fillStyle = tones[lookOfPhase(phase).tone]
    ctx.strokeStyle = ctx.fillStyle
    drawMark(ctx, phase, { x, y, radius })
  }
  ctx.restore()
}

interface Mark {
  readonly x: number
  readonly y: number
  readonly radius: number
}

function drawMark(ctx: CanvasRenderingContext2D, phase: string, { x, y, radius }: Mark): void {
  switch (phase) {
    case 'Successful':
      ctx.beginPath()
      ctx.arc(x, y, radius, 0, 2 * Math.PI)
      return ctx.fill()
    case 'Failed':
      line(ctx, x - radius, y - radius, x + radius, y + radius)
      return line(ctx, x - radius, y + radius, x + radius, y - radius)
    default:
      return ctx.strokeRect(x - radius, y - radius, 2 * radius, 2 * radius)
  }
}
