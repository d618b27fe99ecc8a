import type uPlot from 'uplot'

/** A limit on the vertical axis of a chart. */
export interface LimitLine {
  readonly value: number
  /** Text beside the line. */
  readonly text: string
  /** Whether greater values are beyond the limit; otherwise lesser ones are. */
  readonly isMost: boolean
  /** Whether the text is beyond the line, away from the values. @default false */
  readonly isTextBeyond?: boolean
}

/** Space that the text of a limit needs, in CSS pixels. */
const TEXT_HEIGHT = 16

/** Draws a limit as a dashed line with its text, and hatches what is beyond it. */
export function drawLimitLine(plot: uPlot, { value, text, isMost, isTextBeyond = false }: LimitLine, colour: string): void {
  const { ctx, bbox } = plot
  const y = plot.valToPos(value, 'y', true)
  const ratio = bbox.height / plot.over.clientHeight
  ctx.save()
  ctx.strokeStyle = colour
  ctx.fillStyle = colour
  hatch(ctx, { x: bbox.left, width: bbox.width, from: isMost ? bbox.top : y, to: isMost ? y : bbox.top + bbox.height }, ratio)
  ctx.lineWidth = 1.5 * ratio
  ctx.setLineDash([6 * ratio, 4 * ratio])
  line(ctx, bbox.left, y, bbox.left + bbox.width, y)
  ctx.font = `${11 * ratio}px system-ui, sans-serif`
  ctx.textAlign = 'left'
  const hasRoomBelow = y + TEXT_HEIGHT * ratio < bbox.top + bbox.height
  const isBelow = isMost !== isTextBeyond && hasRoomBelow
  ctx.textBaseline = isBelow ? 'top' : 'bottom'
  ctx.fillText(text, bbox.left + 4 * ratio, y + (isBelow ? 3 : -3) * ratio, bbox.width - 8 * ratio)
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

/** Draws a straight line. */
export function line(ctx: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  ctx.beginPath()
  ctx.moveTo(fromX, fromY)
  ctx.lineTo(toX, toY)
  ctx.stroke()
}
