import { createDrawing, type Drawing } from './drawing.ts'
import { displayWidth, shorten, type StyledSpan, type Style } from '../styled-line.ts'

/** One column of a table. */
export interface Column<Row> {
  /** In capitals, as kubectl prints them. */
  readonly heading: string
  readonly cell: (row: Row) => string
  readonly style?: (row: Row) => Style | null
  /** Minimum width in columns; columns with a minimum shrink from first to last if the terminal is narrow. @default the full width */
  readonly least?: number
  /** Text of the last column in at most `width` columns. @default the text, cut at the line end */
  readonly within?: (row: Row, width: number) => string
}

/** Columns between two cells. */
export const GAP = 2

/** @returns a heading and one line per row; the last column is cut at the line end */
export function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], drawing: Drawing): readonly string[] {
  const widths = shrunk(
    columns.map(({ heading, cell }) => Math.max(heading.length, ...rows.map((row) => displayWidth(cell(row))))),
    columns,
    drawing.width,
  )
  const spans = (texts: readonly string[], style: (at: number) => Style | null): string =>
    drawing.line(...texts.flatMap((text, at) => cellSpans(text, { width: widths[at]!, isLast: at === texts.length - 1, style: style(at) })))
  const heading = spans(
    columns.map((column) => column.heading),
    () => 'dim',
  )
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0)
  const textOf = ({ cell, within }: Column<Row>, row: Row): string => within?.(row, Math.max(1, drawing.width - before)) ?? cell(row)
  const lines = rows.map((row) =>
    spans(
      columns.map((column) => textOf(column, row)),
      (at) => columns[at]!.style?.(row) ?? null,
    ),
  )
  return [heading, ...lines]
}

/** @returns the same as {@link tableLines}, at any width: no cell is cut */
export function uncutTableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], drawing: Drawing): readonly string[] {
  return tableLines(rows, columns, createDrawing({ ...drawing, width: Number.POSITIVE_INFINITY }))
}

/** @returns whether {@link tableLines} cuts a cell */
export function isTableCut<Row>(rows: readonly Row[], columns: readonly Column<Row>[], drawing: Drawing): boolean {
  const lines = uncutTableLines(rows, columns, createDrawing({ ...drawing, colors: false }))
  return lines.some((line) => displayWidth(line) > drawing.width)
}

/** Shrinks columns until the table fits; the last column counts with its minimum or its heading. */
function shrunk<Row>(widths: readonly number[], columns: readonly Column<Row>[], maxWidth: number): readonly number[] {
  const result = [...widths]
  const lastLeast = columns.at(-1)?.least ?? columns.at(-1)?.heading.length ?? 0
  const used = (): number => result.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0) + Math.min(lastLeast, result.at(-1) ?? 0)
  for (const [at, { least }] of columns.slice(0, -1).entries()) {
    if (least === undefined) continue
    const excess = used() - maxWidth
    if (excess <= 0) break
    result[at] = Math.max(Math.min(least, result[at]!), result[at]! - excess)
  }
  return result
}

interface CellLook {
  readonly width: number
  readonly isLast: boolean
  readonly style: Style | null
}

function cellSpans(text: string, { width, isLast, style }: CellLook): readonly StyledSpan[] {
  const cut = isLast ? text : shorten(text, width)
  const padding = isLast ? '' : ' '.repeat(width - displayWidth(cut) + GAP)
  return [style === null ? cut : [style, cut], padding]
}
