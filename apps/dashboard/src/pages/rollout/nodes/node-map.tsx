import type { NodeReport } from '@tranche/api-schema'
import { type MouseEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { nodeWhy } from '../../../format/node-why.ts'
import { nodeLooks } from '../../../format/outcome-text.ts'
import { useTheme } from '../../../parts/use-theme.ts'
import { useWidth } from '../../../parts/use-width.ts'
import { themeColours } from '../../../parts/theme-colours.ts'
import { drawMap } from './draw-map.ts'
import { layOut, type MapLayout, nodeAt } from './map-layout.ts'

/** Properties of {@link NodeMap}. */
interface NodeMapProps {
  readonly nodes: readonly NodeReport[]
  readonly onOpen: (node: string) => void
}

/** The nodes by zone on a canvas: thousands stay readable and smooth. The table below it is the equivalent without a picture. */
export function NodeMap({ nodes, onOpen }: NodeMapProps): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useWidth(box)
  const layout = useMemo(() => layOut(nodes, width), [nodes, width])
  const theme = useTheme()
  const [pointed, setPointed] = useState<NodeReport | undefined>()
  useEffect(() => {
    if (canvas.current !== null) paint(canvas.current, layout, width)
  }, [layout, width, theme])
  const at = (event: MouseEvent<HTMLCanvasElement>): NodeReport | undefined => {
    const { left, top } = event.currentTarget.getBoundingClientRect()
    return nodeAt(layout, event.clientX - left, event.clientY - top)
  }
  return (
    <div ref={box} className="node-map">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Map of ${nodes.length} nodes by zone; the table of nodes lists the same`}
        onMouseMove={(event) => setPointed(at(event))}
        onMouseLeave={() => setPointed(undefined)}
        onClick={(event) => {
          const node = at(event)
          if (node !== undefined) onOpen(node.name)
        }}
      />
      <p className="pointed" aria-hidden="true">
        {pointed === undefined ? 'Point at a node for its state; click it for details.' : textOf(pointed)}
      </p>
    </div>
  )
}

function textOf(node: NodeReport): string {
  const { name, zone, state } = node
  const why = nodeWhy(node)
  return `${name}${zone === '' ? '' : ` in ${zone}`}: ${nodeLooks[state].word}${why === undefined ? '' : ` (${why})`}`
}

/** Sizes the canvas for the screen, and draws. The size is set by attributes, because the page has no inline styles. */
function paint(canvas: HTMLCanvasElement, layout: MapLayout, width: number): void {
  const ratio = window.devicePixelRatio
  const [wide, high] = [Math.round(width * ratio), Math.max(1, Math.round(layout.height * ratio))]
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== high) canvas.height = high
  canvas.style.width = `${width}px`
  canvas.style.height = `${layout.height}px`
  drawMap(canvas, layout, themeColours(canvas.parentElement ?? canvas, { text: '--text', background: '--surface' }), ratio)
}
