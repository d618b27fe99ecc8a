/**
 * Measures the speed of the command, the simulator and the job queue, and prints a table.
 *
 * ```text
 * pnpm bench            everything below, except --dashboard, --tests, --failures and --paced
 * pnpm bench --queue    only the queue, in process and on Redis
 * pnpm bench --api      only the REST API: requests, streams; 1 minute; API, simulated cluster and sender share the processors
 * pnpm bench --cli      only the response time of the bundled command
 * pnpm bench --tests    adds the whole test suite
 * pnpm bench --plan     only forecasts of 1,000 and 5,000 nodes
 * pnpm bench --dashboard only the dashboard in Chromium: load, map of 5,000 nodes, 100 tabs, heap; --minutes 30 of heap instead of 3
 * pnpm bench --memory   only memory, start and leader change of controller, executor and API on a large cluster: 16 minutes
 * pnpm bench --failures adds how soon everything stops when a version fails, and how many nodes it hits: 3 minutes more
 * pnpm bench --paced    adds releases of 300 and 1,000 nodes on the real clock: 12 minutes more
 * pnpm bench --runs 5   runs the short measurements five times instead of three times; the long ones run once
 * pnpm bench -o json    the same as JSON, with the values of all runs
 * ```
 *
 * Seconds are wall-clock seconds, so the machine should be idle. Ratios (time per event in a large and a small fleet, requests per second
 * of processor time) come from one run, so they are also valid on a busy machine. Exits with 1 if a limit is exceeded.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { idleCommands, inProcessLatency, redisLatency } from './bench-queue.ts'
import { dashboardRows } from './bench/dashboard-rows.ts'
import { measureHttpsLoad } from './bench/https-load.ts'
import type { CommandStart } from './bench/command-start.ts'
import type { ForecastRun } from './bench/forecast-run.ts'
import type { HundredAnalyses } from './bench/hundred-analyses.ts'
import type { FailureStop } from './bench/failure-stop.ts'
import type { MemoryRun, ProcessFigures, Round } from './bench/memory-run.ts'
import type { NodesHit } from './bench/nodes-hit.ts'
import type { PacedRelease } from './bench/paced-release.ts'
import type { RestLoad } from './bench/rest-load.ts'
import type { Row } from './bench/row.ts'
import { end, untilReady } from './bench/started-process.ts'
import type { VirtualRelease } from './bench/virtual-release.ts'

const cli = 'apps/launcher/bin/tranche.mjs'
const flag = { type: 'boolean', default: false } as const
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    tests: flag,
    queue: flag,
    api: flag,
    cli: flag,
    plan: flag,
    memory: flag,
    dashboard: flag,
    minutes: { type: 'string', default: '3' },
    paced: flag,
    failures: flag,
    output: { type: 'string', short: 'o', default: 'table' },
  },
})
const runs = Number(options.runs)

const rows: readonly Row[] = await chosen()
if (options.output === 'json')
  console.log(JSON.stringify(rows.map((row) => ({ ...row, median: medianOf(row.values), isKept: isKept(row) }))))
else printTable(rows)
process.exitCode = rows.every(isKept) ? 0 : 1

function chosen(): Promise<readonly Row[]> {
  if (options.api) return restLoad()
  if (options.cli) return commandStarts()
  if (options.plan) return forecasts()
  if (options.dashboard) return dashboardRows(Number(options.minutes))
  return options.memory ? memory() : everything()
}

async function everything(): Promise<readonly Row[]> {
  return [
    ...(options.queue ? [] : await commands()),
    { name: 'announced to handler, in process, median', unit: 'ms', values: await times(runs, inProcessLatency), limit: { atMost: 0.1 } },
    { name: 'announced to handler, on Redis, median', unit: 'ms', values: await times(runs, redisLatency), limit: { atMost: 1 } },
    { name: 'Redis commands of 4 idle executors', unit: '/s', values: await times(runs, idleCommands), limit: { atMost: 10 } },
    ...(options.failures ? await failingReleases() : []),
    ...(options.paced ? await pacedReleases() : []),
    ...(options.tests ? [{ name: 'pnpm test', unit: 's', values: await times(1, testSuite), limit: { atMost: 240 } }] : []),
  ]
}

/** 1,000 nodes, 100 Rollouts, and the API on the real clock. */
async function restLoad(): Promise<readonly Row[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/rest-load.ts'])
  const seen = JSON.parse(stdout) as RestLoad
  return [
    { name: 'GET of a Rollout, per core', unit: '/s', values: [seen.perCoreSecond], limit: { atLeast: 4_000 } },
    { name: '… at 500 a second, 99 %', unit: 'ms', values: [seen.paced.p99Ms], limit: { atMost: 10 } },
    { name: '… the sender itself was late, 99 %', unit: 'ms', values: [seen.paced.senderLateP99Ms], limit: { atLeast: 0 } },
    { name: '… the event loop of the API was late, 99 %', unit: 'ms', values: [seen.paced.loopP99Ms], limit: { atLeast: 0 } },
    {
      name: `… programs that wanted one of ${seen.machine.cores} processors before`,
      unit: '',
      values: [seen.machine.load],
      limit: { atLeast: 0 },
    },
    { name: '500 streams, memory above idle', unit: 'MiB', values: [seen.streamsMebibytes], limit: { atMost: 60 } },
    { name: '… a change until the last of them has it', unit: 'ms', values: [seen.eventMs], limit: { atMost: 200 } },
  ]
}

/** 1,000 nodes, 20 Rollouts, 30,000 other pods; megabytes are 10⁶ bytes. Comparisons with no other pods come from the same run. */
async function memory(): Promise<readonly Row[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/memory-run.ts'])
  const { without, withForeign, handOver } = JSON.parse(stdout) as MemoryRun
  const processes = ['leader', 'standby', 'executor', 'api', 'all-in-one'] as const
  const figures = (rounds: readonly Round[], name: (typeof processes)[number], field: keyof ProcessFigures): readonly number[] =>
    rounds.map((round) => round[name][field])
  const against = (name: (typeof processes)[number], field: 'rss' | 'heap'): readonly number[] => {
    const none = medianOf(figures(without, name, field))
    return figures(withForeign, name, field).map((value) => value / none)
  }
  return [
    {
      name: 'listing everything, answers thrown away',
      unit: 's',
      values: withForeign.map(({ listMs }) => listMs / 1000),
      limit: { atLeast: 0 },
    },
    ...processes.flatMap((name): readonly Row[] => [
      { name: `${name}: resident`, unit: 'MB', values: figures(withForeign, name, 'rss'), limit: { atMost: 170 } },
      { name: '… against no pods of others', unit: '×', values: against(name, 'rss'), limit: { atMost: 1.05 } },
      { name: '… most ever', unit: 'MB', values: figures(withForeign, name, 'peakRss'), limit: { atLeast: 0 } },
      { name: '… proportional set size (PSS)', unit: 'MB', values: figures(withForeign, name, 'pss'), limit: { atLeast: 0 } },
      { name: '… heap that is kept', unit: 'MB', values: figures(withForeign, name, 'heap'), limit: { atMost: 60 } },
      { name: '… against no pods of others', unit: '×', values: against(name, 'heap'), limit: { atMost: 1.05 } },
      {
        name: '… start to ready, less the listing',
        unit: 's',
        values: withForeign.map((round) => (round[name].readyMs - round.listMs) / 1000),
        limit: { atMost: 3 },
      },
    ]),
    { name: 'leader stopped to the next one acts', unit: 's', values: handOver.stoppedMs.map((ms) => ms / 1000), limit: { atMost: 2 } },
    { name: 'leader killed to the next one acts', unit: 's', values: handOver.killedMs.map((ms) => ms / 1000), limit: { atMost: 16 } },
  ]
}

/** Forecasts of whole releases, in seconds from the snapshot to the answer. */
async function forecasts(): Promise<readonly Row[]> {
  const run = async (nodes: number): Promise<number> => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/forecast-run.ts', String(nodes)])
    return (JSON.parse(stdout) as ForecastRun).seconds
  }
  return [
    { name: 'forecast of 1,000 nodes', unit: 's', values: await times(runs, () => run(1_000)), limit: { atMost: 3 } },
    { name: 'forecast of 5,000 nodes', unit: 's', values: [await run(5_000)], limit: { atMost: 15 } },
  ]
}

/** The bundled command, as in the npm package and the image. */
async function commandStarts(): Promise<readonly Row[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/command-start.ts'])
  const { versionMs, getMs } = JSON.parse(stdout) as CommandStart
  return [
    { name: 'tranche version, bundled', unit: 'ms', values: versionMs, limit: { atMost: 80 } },
    { name: 'tranche get, bundled, with a cluster on this machine', unit: 'ms', values: getMs, limit: { atMost: 250 } },
  ]
}

async function commands(): Promise<readonly Row[]> {
  return [
    ...(await commandStarts()),
    { name: 'start to ready', unit: 's', values: await times(runs, startToReady), limit: { atMost: 2 } },
    { name: '300 nodes, 3 steps, virtual time', unit: 's', values: await times(runs, demoRelease), limit: { atMost: 10 } },
    ...(await largeFleet()),
    ...(await httpsLoad()),
    ...(await forecasts()),
    { name: '100 analyses at once, memory above idle', unit: 'MiB', values: await times(runs, analysesMemory), limit: { atMost: 60 } },
  ]
}

async function times(count: number, run: () => Promise<number>): Promise<readonly number[]> {
  const values: number[] = []
  for (let i = 0; i < count; i++) values.push(await run())
  return values
}

async function startToReady(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  const readyFile = join(folder, 'ready.json')
  const startMs = performance.now()
  const child = spawn(process.execPath, [cli, 'dev', '--no-demo', '--ready-file', readyFile], { stdio: 'ignore' })
  try {
    await untilReady(child, { name: 'tranche dev', readyFile, everyMs: 2 })
    return (performance.now() - startMs) / 1000
  } finally {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

function demoRelease(): Promise<number> {
  return secondsOf(process.execPath, [cli, 'dev', '--virtual', '--demo', '--exit', '--nodes', '300', '-o', 'json'])
}

/** Time per event: processor time from the first node to the end of the release, divided by the accepted writes. */
async function largeFleet(): Promise<readonly Row[]> {
  const small = await virtualRelease(500)
  const large = await virtualRelease(5_000)
  const ratio = large.busySeconds / large.events / (small.busySeconds / small.events)
  return [
    { name: '5,000 nodes, 5 steps, virtual time', unit: 's', values: [large.seconds], limit: { atMost: 15 } },
    { name: '… most memory', unit: 'MiB', values: [large.rssMebibytes], limit: { atMost: 1_536 } },
    { name: '… time per event, against 500 nodes', unit: '×', values: [ratio], limit: { atMost: 2 } },
  ]
}

async function virtualRelease(nodes: number): Promise<VirtualRelease> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/virtual-release.ts', String(nodes)])
  return JSON.parse(stdout) as VirtualRelease
}

/** Answers of 2 KiB, as for a query with about ten series. */
async function analysesMemory(): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', 'scripts/bench/hundred-analyses.ts', '2048'])
  return (JSON.parse(stdout) as HundredAnalyses).aboveIdleMebibytes
}

/** On the real clock. A run that breaks a guarantee has no figures and ends the benchmark with an error. */
async function pacedReleases(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const nodes of [300, 1_000]) {
    for (const percent of [10, 5, 1]) {
      const seen = await pacedRelease(nodes, percent)
      const name = `${nodes} nodes, ${seen.limit} at once`
      rows.push(
        { name: `${name}: makespan ÷ ideal`, unit: '×', values: [seen.ratio], limit: { atMost: 1.02 } },
        { name: '… available to next deletion, median', unit: 'ms', values: [seen.reactionP50Ms], limit: { atMost: 15 } },
        { name: '… 99 %', unit: 'ms', values: [seen.reactionP99Ms], limit: { atMost: 80 } },
      )
    }
  }
  return rows
}

async function pacedRelease(nodes: number, percent: number): Promise<PacedRelease> {
  const args = ['scripts/bench/paced-release.ts', '--nodes', String(nodes), '--budget', String(percent)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as PacedRelease
}

/** Nodes hit, in virtual time on 30 nodes; time until everything stops, on the real clock. */
async function failingReleases(): Promise<readonly Row[]> {
  const rows: Row[] = []
  const hits = await promisify(execFile)(process.execPath, ['scripts/bench/nodes-hit.ts'])
  for (const line of hits.stdout.trim().split('\n')) {
    const { name, budget, hit, most } = JSON.parse(line) as NodesHit
    rows.push({ name: `${name}, ${budget} at once: nodes hit`, unit: '', values: [hit], limit: { atMost: most } })
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/failure-stop.ts', '40'])
  const { lastDeleteP99Ms, acknowledgedP99Ms } = JSON.parse(stdout) as FailureStop
  return [
    ...rows,
    { name: 'failure seen to last deletion, 99 %', unit: 'ms', values: [lastDeleteP99Ms], limit: { atMost: 20 } },
    { name: 'failure to status of the BatchRelease, 99 %', unit: 'ms', values: [acknowledgedP99Ms], limit: { atMost: 250 } },
  ]
}

async function httpsLoad(): Promise<readonly Row[]> {
  const { perCoreSecond, perSecond } = await measureHttpsLoad(cli)
  return [
    { name: 'HTTPS: writes per second of one core', unit: '/s', values: [perCoreSecond], limit: { atLeast: 3_000 } },
    { name: '… per second on the wall', unit: '/s', values: [perSecond], limit: { atLeast: 0 } },
  ]
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

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function isKept({ values, limit }: Row): boolean {
  return 'atMost' in limit ? medianOf(values) <= limit.atMost : medianOf(values) >= limit.atLeast
}

function printTable(table: readonly Row[]): void {
  const width = Math.max(...table.map((row) => row.name.length))
  const line = (name: string, cells: readonly string[]): string => `${name.padEnd(width)}${cells.map((cell) => cell.padStart(10)).join('')}`
  console.log(line('', ['min', 'median', 'max', 'limit']))
  for (const row of table) {
    const figures = [Math.min(...row.values), medianOf(row.values), Math.max(...row.values)].map(textOf)
    const { limit } = row
    const held = 'atMost' in limit ? `≤ ${limit.atMost}` : `≥ ${limit.atLeast}`
    console.log(`${line(row.name, [...figures, held])} ${row.unit}${isKept(row) ? '' : '  NOT KEPT'}`)
  }
}

function textOf(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value < 0.1 ? 4 : 2)
}
