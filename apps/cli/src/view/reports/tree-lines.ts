import type { Drawing } from './drawing.ts'
import type { StyledSpan } from '../styled-line.ts'

/** A line with its children. */
export interface TreeItem {
  readonly spans: readonly StyledSpan[]
  readonly items: readonly TreeItem[]
}

/** @returns the items as lines, each before its children */
export function treeLines(items: readonly TreeItem[], drawing: Drawing, indent = ''): readonly string[] {
  return items.flatMap(({ spans, items: below }, at) => {
    const isLast = at === items.length - 1
    const { fork, last, through, none } = drawing.tree
    return [
      drawing.line(['dim', indent + (isLast ? last : fork)], ...spans),
      ...treeLines(below, drawing, indent + (isLast ? none : through)),
    ]
  })
}
