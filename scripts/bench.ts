/**
 * Measures speed, costs and memory in sets, and prints a table per set.
 *
 * ```text
 * pnpm bench                    start, forecast, queue and simulator: 6 minutes
 * pnpm bench SET…               these sets
 * pnpm bench list               all sets, with what they measure and how long that takes
 * pnpm bench report             measures all sets of docs/benchmarks.md without data of these sources, and writes the page
 * pnpm bench report SET…        measures these sets again, and writes the page
 * pnpm bench recording PATH…    the figures of recordings of real clusters, and simulated releases of the same shape; needs --limit
 * pnpm bench SET… --against REF alternating runs of this checkout and of another commit, with ratios
 *
 * --runs 5      runs short measurements five times instead of three times; the long ones run once
 * --limit 30    maxUnavailable in nodes of the recorded release
 * --save NAME   of recordings: adds the figures to docs/benchmarks.md under this name
 * --minutes 30  minutes of the heap of the dashboard, instead of 3
 * -o json       the same as JSON, with the values of all runs
 * ```
 *
 * Seconds are wall-clock seconds, so the machine should be idle. Ratios (time per event in a large and a small fleet, requests per second
 * of processor time) come from one run, so they are also valid on a busy machine. Exits with 1 if a limit is exceeded.
 */
import { parseArgs } from 'node:util'
import { compareWith } from './bench/against.ts'
import { measureSet } from './bench/measure-set.ts'
import { printRows } from './bench/print-rows.ts'
import { recordedRows } from './bench/recorded-run.ts'
import { saveRecorded, writeReport } from './bench/report/write-report.ts'
import { isKept, medianOf, type Row } from './bench/row.ts'
import { benchSets } from './bench/sets.ts'

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '3' },
    limit: { type: 'string' },
    save: { type: 'string' },
    against: { type: 'string' },
    output: { type: 'string', short: 'o', default: 'table' },
  },
})
const options = { runs: positive('--runs', given.runs), minutes: positive('--minutes', given.minutes) }
const [first, ...rest] = positionals
process.exitCode = (await run()) ? 0 : 1

/** @throws if the option is no number above 0: the measurement would have no run, and would keep every limit */
function positive(option: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${option} ${text}: use a number above 0`)
  return value
}

async function run(): Promise<boolean> {
  if (first === 'list') return list()
  if (first === 'report') return writeReport(rest, options)
  if (first === 'recording') return recording()
  const names = first === undefined ? Object.keys(benchSets).filter((name) => benchSets[name]!.isDefault) : positionals
  if (given.against !== undefined) return compareWith(given.against, names, options.runs)
  const measured: Titled[] = []
  for (const name of names) measured.push({ title: name, rows: (await measureSet(name, options)).rows })
  return print(measured)
}

async function recording(): Promise<boolean> {
  const limit = Number(given.limit)
  const rows = await recordedRows(rest, limit)
  if (given.save !== undefined) saveRecorded(given.save, `pnpm bench recording … --limit ${limit}`, rows)
  return print([{ title: given.save ?? 'recordings', rows }])
}

interface Titled {
  readonly title: string
  readonly rows: readonly Row[]
}

function print(measured: readonly Titled[]): boolean {
  const rows = measured.flatMap((one) => one.rows)
  if (given.output === 'json')
    console.log(JSON.stringify(rows.map((row) => ({ ...row, median: medianOf(row.values), isKept: isKept(row) }))))
  else for (const one of measured) printRows(one.title, one.rows)
  return rows.every(isKept)
}

/** One line for each set, with the first sentence about it. */
function list(): true {
  const width = Math.max(...Object.keys(benchSets).map((name) => name.length))
  for (const [name, { about, minutes }] of Object.entries(benchSets)) {
    const [sentence = about] = about.split(/(?<=\.) /)
    console.log(`${name.padEnd(width)} ${`${minutes}`.padStart(3)} min  ${sentence}`)
  }
  return true
}
