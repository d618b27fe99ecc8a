import { figure, isKept, medianOf, type Row, reportedOnly } from './row.ts'

/** Prints a set as a table, with a mark on limits that are not kept. */
export function printRows(title: string, rows: readonly Row[]): void {
  const width = Math.max(title.length, ...rows.map((row) => row.name.length))
  const line = (name: string, cells: readonly string[]): string => `${name.padEnd(width)}${cells.map((cell) => cell.padStart(10)).join('')}`
  console.log(line(title, ['min', 'median', 'max', 'limit']))
  for (const row of rows) {
    const figures = [Math.min(...row.values), medianOf(row.values), Math.max(...row.values)].map(figure)
    console.log(`${line(row.name, [...figures, limitText(row)])} ${row.unit}${isKept(row) ? '' : '  NOT KEPT'}`)
  }
}

function limitText({ limit }: Row): string {
  if ('atMost' in limit) return `≤ ${limit.atMost}`
  return limit.atLeast === reportedOnly.atLeast ? '' : `≥ ${limit.atLeast}`
}
