/**
 * Measures how quick the command is, three runs each, and prints a table.
 *
 *   pnpm bench            start until the API answers; a release over 300 nodes in virtual time
 *   pnpm bench --tests    the whole test suite as well
 *   pnpm bench --runs 5   more runs
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

interface Measurement {
  readonly name: string
  /** The most that is accepted, in seconds. */
  readonly limitSeconds: number
  /** @returns seconds of one run */
  run(): Promise<number>
}

const cli = 'apps/cli/bin/tranche.mjs'
const { values } = parseArgs({ options: { runs: { type: 'string', default: '3' }, tests: { type: 'boolean', default: false } } })
const runs = Number(values.runs)

const measurements: readonly Measurement[] = [
  { name: 'start to ready', limitSeconds: 2, run: startToReady },
  { name: '300 nodes, 3 steps, virtual time', limitSeconds: 10, run: virtualRelease },
  ...(values.tests ? [{ name: 'pnpm test', limitSeconds: 180, run: testSuite }] : []),
]

const rows = []
for (const measurement of measurements) rows.push(await measure(measurement))
printTable(rows)
process.exitCode = rows.every((row) => row.median <= row.limit) ? 0 : 1

/** Seconds. */
interface Row {
  readonly name: string
  readonly min: number
  readonly median: number
  readonly max: number
  readonly limit: number
}

async function measure({ name, limitSeconds, run }: Measurement): Promise<Row> {
  const seconds: number[] = []
  for (let i = 0; i < runs; i++) seconds.push(await run())
  seconds.sort((a, b) => a - b)
  return { name, min: seconds[0]!, median: seconds[Math.floor(seconds.length / 2)]!, max: seconds.at(-1)!, limit: limitSeconds }
}

async function startToReady(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  const readyFile = join(folder, 'ready.json')
  const startMs = performance.now()
  const child = spawn(process.execPath, [cli, 'dev', '--no-demo', '--ready-file', readyFile], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  try {
    while (!existsSync(readyFile)) {
      if (child.exitCode !== null) throw new Error(`tranche dev ended with ${child.exitCode} before it was ready`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return (performance.now() - startMs) / 1000
  } finally {
    child.kill('SIGINT')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

function virtualRelease(): Promise<number> {
  return secondsOf(process.execPath, [cli, 'dev', '--virtual', '--demo', '--exit', '--nodes', '300', '-o', 'json'])
}

function testSuite(): Promise<number> {
  return secondsOf('pnpm', ['--silent', 'test'])
}

function secondsOf(command: string, args: readonly string[]): Promise<number> {
  const startMs = performance.now()
  return new Promise((resolve, reject) => {
    spawn(command, args, { stdio: 'ignore' }).on('exit', (code) => {
      if (code === 0) resolve((performance.now() - startMs) / 1000)
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}`))
    })
  })
}

function printTable(table: readonly Row[]): void {
  const width = Math.max(...table.map((row) => row.name.length))
  const cell = (value: number): string => value.toFixed(2).padStart(8)
  console.log(`${'seconds'.padEnd(width)}${['min', 'median', 'max', 'limit'].map((head) => head.padStart(8)).join('')}`)
  for (const row of table) console.log(`${row.name.padEnd(width)}${cell(row.min)}${cell(row.median)}${cell(row.max)}${cell(row.limit)}`)
}
