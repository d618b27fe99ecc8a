import type uPlot from 'uplot'
import { limitText, lookOfPhase } from './analysis-texts.ts'
import type { ChartColours } from './chart-colours.ts'
import type { ChartData } from './chart-data.ts'

/** Draws the limit as a dashed line with its text, and hatches the part of the chart in which a measurement fails. */
export function drawLimit(plot: uPlot, { limit }: ChartData, { tones }: ChartColours): void {
  if (limit === undefined) return
  const { ctx, bbox } = plot
  const y = plot.valToPos(limit.value, 'y', true)
  const failsAbove = limit.op.startsWith('<')
  const ratio = bbox.height / plot.over.clientHeight
  ctx.save()
  ctx.strokeStyle = tones.bad
  ctx.fillStyle = tones.bad
  hatch(ctx, { x: bbox.left, width: bbox.width, from: failsAbove ? bbox.top : y, to: failsAbove ? y : bbox.top + bbox.height }, ratio)
  ctx.lineWidth = 1.5 * ratio
  ctx.setLineDash([6 * ratio, 4 * ratio])
  line(ctx, bbox.left, y, bbox.left + bbox.width, y)
  ctx.font = `${11 * ratio}px system-ui, sans-serif`
  ctx.textAlign = 'left'
  ctx.textBaseline = failsAbove ? 'top' : 'bottom'
  ctx.fillText(limitText(limit), bbox.left + 4 * ratio, y + (failsAbove ? 3 : -3) * ratio, bbox.width - 8 * ratio)
  ctx.restore()
}

interface Band {
  readonly x: number
  readonly width: number
  readonly from: number
  readonly to: number
}

/** Distance of the lines of a hatched area, in CSS pixels. */
const HATCH = 9

function hatch(ctx: CanvasRenderingContext2D, { x, width, from, to }: Band, ratio: number): void {
  const height = to - from
  if (height <= 0) return
  ctx.save()
  ctx.beginPath()
  ctx.rect(x, from, width, height)
  ctx.clip()
  ctx.globalAlpha = 0.25
  ctx.lineWidth = ratio
  for (let left = x - height; left < x + width; left += HATCH * ratio) line(ctx, left, to, left + height, from)
  ctx.restore()
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

function line(ctx: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  ctx.beginPath()
  ctx.moveTo(fromX, fromY)
  ctx.lineTo(toX, toY)
  ctx.stroke()
}
