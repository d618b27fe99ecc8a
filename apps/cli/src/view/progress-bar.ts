import type { Glyphs } from './glyphs.ts'
import type { StyledSpan } from './styled-line.ts'

/** End of a step on a bar. */
export interface StepMark {
  /** As in the Rollout: `10%`, `3`. */
  readonly label: string
  /** Cumulative, 1 to the number of desired nodes. */
  readonly nodes: number
}

/** Node counts of a bar. */
export interface Progress {
  readonly desired: number
  readonly updated: number
  readonly updating: number
}

/** @returns the bar in exactly `width` columns: full only if every node is updated, not empty once one is */
export function progressBar(progress: Progress, width: number, glyphs: Glyphs): readonly StyledSpan[] {
  const full = share(progress.updated, progress.desired, width)
  const part = Math.min(width - full, share(progress.updated + progress.updating, progress.desired, width) - full)
  return [
    ['green', glyphs.bar.full.repeat(full)],
    ['cyan', glyphs.bar.part.repeat(part)],
    ['dim', glyphs.bar.empty.repeat(width - full - part)],
  ]
}

/**
 * @param current current step, from 1; null if none
 * @returns the line below the bar: a mark and a label where each step ends, right aligned; overlapping labels are omitted
 */
export function stepMarks(steps: readonly StepMark[], current: number | null, size: MarkSize): readonly StyledSpan[] {
  const spans: StyledSpan[] = []
  let column = 0
  for (const [index, step] of steps.entries()) {
    const label = `${step.label}${size.glyphs.bar.mark}`
    const end = Math.max(share(step.nodes, size.desired, size.width), label.length)
    const gap = end - label.length - column
    if (gap < (column === 0 ? 0 : 1)) continue
    spans.push(' '.repeat(gap), [index + 1 === current ? 'bold' : 'dim', label])
    column = end
  }
  return spans
}

/** Width of the bar in columns, and the number of nodes that it represents. */
export interface MarkSize {
  readonly width: number
  readonly desired: number
  readonly glyphs: Glyphs
}

function share(nodes: number, desired: number, width: number): number {
  if (desired === 0 || nodes === 0) return 0
  const columns = Math.round((nodes / desired) * width)
  if (nodes < desired) return Math.min(width - 1, Math.max(1, columns))
  return width
}
