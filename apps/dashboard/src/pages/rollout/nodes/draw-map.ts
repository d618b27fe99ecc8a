import type { ReportedNodeState } from '@tranche/api-schema'
import { nodeLooks, nodeStateOrder } from '../../../format/outcome-text.ts'
import type { ThemeColours } from '../../../parts/theme-colours.ts'
import { type MapLayout, ZONE_TITLE } from './map-layout.ts'

/** Colours of a map. */
export type MapColours = ThemeColours<'text' | 'background'>

/** Draws a map. Each state has a shape of its own beside its colour. The canvas is `ratio` times as fine as the page. */
export function drawMap(canvas: HTMLCanvasElement, layout: MapLayout, colours: MapColours, ratio: number): void {
  const context = canvas.getContext('2d')
  if (context === null) return
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, canvas.width / ratio, canvas.height / ratio)
  drawTitles(context, layout, colours)
  const byState = positionsOf(layout)
  for (const state of nodeStateOrder) {
    context.fillStyle = colours.tones[nodeLooks[state].tone]
    context.strokeStyle = context.fillStyle
    for (const [x, y] of byState.get(state) ?? []) drawCell(context, state, { x, y, side: layout.cell - 2, ink: colours.background })
  }
}

function drawTitles(context: CanvasRenderingContext2D, { zones }: MapLayout, { text }: MapColours): void {
  context.fillStyle = text
  context.font = '12px system-ui, sans-serif'
  context.textBaseline = 'top'
  for (const { zone, x, y, width, nodes } of zones)
    context.fillText(fitted(context, `${zone === '' ? 'no zone' : zone} · ${nodes.length}`, width), x, y)
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  let shown = text
  while (shown.length > 4 && context.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`
  return shown
}

function positionsOf({ zones, cell }: MapLayout): ReadonlyMap<ReportedNodeState, [x: number, y: number][]> {
  const positions = new Map<ReportedNodeState, [number, number][]>(nodeStateOrder.map((state) => [state, []]))
  for (const { x, y, perRow, nodes } of zones)
    for (const [at, { state }] of nodes.entries())
      positions.get(state)?.push([x + (at % perRow) * cell, y + ZONE_TITLE + Math.floor(at / perRow) * cell])
  return positions
}

interface Cell {
  readonly x: number
  readonly y: number
  readonly side: number
  /** Colour of the part that is cut out of the shape. */
  readonly ink: string
}

/** Shapes: a full square is updated, one with a cross fails, half a square is being updated, a frame is old, a frame with a bar is down. */
function drawCell(context: CanvasRenderingContext2D, state: ReportedNodeState, { x, y, side, ink }: Cell): void {
  const line = Math.max(1, side / 7)
  context.lineWidth = line
  switch (state) {
    case 'updated':
      return context.fillRect(x, y, side, side)
    case 'failing':
      context.fillRect(x, y, side, side)
      return drawCross(context, { x, y, side, ink }, line)
    case 'updating':
      context.strokeRect(x + line / 2, y + line / 2, side - line, side - line)
      return context.fillRect(x, y + side / 2, side, side / 2)
    case 'old':
      return context.strokeRect(x + line / 2, y + line / 2, side - line, side - line)
    case 'down':
      context.strokeRect(x + line / 2, y + line / 2, side - line, side - line)
      return context.fillRect(x + side / 2 - line, y + line, line * 2, side - line * 2)
    case 'notReady':
      context.beginPath()
      context.arc(x + side / 2, y + side / 2, side / 2 - line, 0, 2 * Math.PI)
      return context.stroke()
    case 'excluded':
      return context.fillRect(x, y + side / 2 - line / 2, side, line)
  }
}

function drawCross(context: CanvasRenderingContext2D, { x, y, side, ink }: Cell, line: number): void {
  const { strokeStyle } = context
  context.strokeStyle = ink
  context.lineWidth = line * 1.4
  const inset = side * 0.22
  context.beginPath()
  context.moveTo(x + inset, y + inset)
  context.lineTo(x + side - inset, y + side - inset)
  context.moveTo(x + side - inset, y + inset)
  context.lineTo(x + inset, y + side - inset)
  context.stroke()
  context.strokeStyle = strokeStyle
}
