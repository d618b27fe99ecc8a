/**
 * Measures how quick the command and the job queue are, three runs each, and prints a table.
 *
 *   pnpm bench            start until the API answers; a release over 300 nodes in virtual time; the queue in process and on Redis
 *   pnpm bench --queue    the queue alone
 *   pnpm bench --tests    the whole test suite as well
 *   pnpm bench --runs 5   more runs
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { idleCommands, inProcessLatency, redisLatency } from './bench-queue.ts'

interface Measurement {
  readonly name: string
  readonly unit: string
  /** The most that is accepted. */
  readonly limit: number
  /** @returns the figure of one run */
  run(): Promise<number>
}

const cli = 'apps/cli/bin/tranche.mjs'
const flag = { type: 'boolean', default: false } as const
const { values } = parseArgs({ options: { runs: { type: 'string', default: '3' }, tests: flag, queue: flag } })
const runs = Number(values.runs)

const commandMeasurements: readonly Measurement[] = [
  { name: 'start to ready', unit: 's', limit: 2, run: startToReady },
  { name: '300 nodes, 3 steps, virtual time', unit: 's', limit: 10, run: virtualRelease },
  ...(values.tests ? [{ name: 'pnpm test', unit: 's', limit: 180, run: testSuite }] : []),
]
const queueMeasurements: readonly Measurement[] = [
  { name: 'announced to handler, in process, median', unit: 'ms', limit: 0.1, run: inProcessLatency },
  { name: 'announced to handler, on Redis, median', unit: 'ms', limit: 1, run: redisLatency },
  { name: 'Redis commands of 4 idle executors', unit: '1/s', limit: 10, run: idleCommands },
]
const measurements = [...(values.queue ? [] : commandMeasurements), ...queueMeasurements]

const rows = []
for (const measurement of measurements) rows.push(await measure(measurement))
printTable(rows)
process.exitCode = rows.every((row) => row.median <= row.limit) ? 0 : 1

interface Row {
  readonly name: string
  readonly unit: string
  readonly min: number
  readonly median: number
  readonly max: number
  readonly limit: number
}

async function measure({ name, unit, limit, run }: Measurement): Promise<Row> {
  const figures: number[] = []
  for (let i = 0; i < runs; i++) figures.push(await run())
  figures.sort((a, b) => a - b)
  return { name, unit, min: figures[0]!, median: figures[Math.floor(figures.length / 2)]!, max: figures.at(-1)!, limit }
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
  const cell = (value: number): string => (value < 0.1 ? value.toFixed(4) : value.toFixed(2)).padStart(8)
  const line = (name: string, cells: readonly string[]): void => console.log(`${name.padEnd(width)}${cells.join('')}`)
  line(
    '',
    ['unit', 'min', 'median', 'max', 'limit'].map((head) => head.padStart(8)),
  )
  for (const { name, unit, min, median, max, limit } of table) line(name, [unit.padStart(8), ...[min, median, max, limit].map(cell)])
}
