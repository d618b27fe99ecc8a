/**
 * Prints the length of files and functions per package: `pnpm report:shape`, or `pnpm report:shape --long` for the longest functions.
 * It uses a small scanner instead of a compiler: it finds named functions (declarations, methods, functions bound to a name) by their first
 * line and follows the braces. The numbers are indicators, not limits.
 */
import { layers } from '../test/architecture/layers.ts'
import { functionsOf } from '../test/architecture/function-shapes.ts'
import { filesOf, type SourceFile } from '../test/architecture/source-tree.ts'

const columns = [
  'package',
  'files',
  'lines',
  'file med',
  'p90',
  'max',
  'functions',
  'fn med',
  'p90',
  'max',
  'documented',
  'comment',
  'test:source',
]
const names = layers
  .flatMap((layer) => layer.packages)
  .filter((name) => filesOf(name, 'src').some((file) => file.text.trim().split('\n').length > 1))

printTable([columns, ...names.map((name) => rowOf(name, filesOf(name, 'src'), filesOf(name, 'test'))), totalRow()])
if (process.argv.includes('--long')) printLongest()

function totalRow(): readonly string[] {
  return rowOf(
    'all',
    names.flatMap((name) => filesOf(name, 'src')),
    names.flatMap((name) => filesOf(name, 'test')),
  )
}

function rowOf(name: string, sources: readonly SourceFile[], tests: readonly SourceFile[]): readonly string[] {
  const files = sources.filter((file) => !file.path.endsWith('/index.ts'))
  const fileLines = files.map((file) => lineCount(file.text))
  const functionLines = files.flatMap(functionsOf).map((shape) => shape.lines)
  const exported = files.flatMap((file) =>
    [...file.text.matchAll(/(^|\n)(.*)\nexport (?!\{|\*)/g)].map((match) => match[2]?.trimEnd() ?? ''),
  )
  const documented = exported.filter((before) => before.endsWith('*/')).length
  const codeLines = sum(files.map((file) => filledLines(file.text)))
  const commentLines = codeLines - sum(files.map((file) => filledLines(file.code)))
  return [
    name,
    String(files.length),
    String(sum(fileLines)),
    ...tailOf(fileLines),
    String(functionLines.length),
    ...tailOf(functionLines),
    share(documented, exported.length),
    share(commentLines, codeLines),
    (sum(tests.map((file) => filledLines(file.text))) / Math.max(1, codeLines)).toFixed(1),
  ]
}

function printLongest(): void {
  const all = names.flatMap((name) => filesOf(name, 'src').flatMap(functionsOf))
  console.log()
  for (const shape of all.toSorted((a, b) => b.lines - a.lines).slice(0, 20))
    console.log(`${String(shape.lines).padStart(4)}  ${shape.where}`)
}

function tailOf(values: readonly number[]): readonly string[] {
  const sorted = values.toSorted((a, b) => a - b)
  return [0.5, 0.9, 1].map((part) => String(sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0))
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  for (const row of rows)
    console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '))
}

function share(part: number, whole: number): string {
  return whole === 0 ? '-' : `${Math.round((100 * part) / whole)}%`
}

function lineCount(text: string): number {
  return text.split('\n').length - 1
}

function filledLines(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '').length
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
