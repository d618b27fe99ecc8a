/** Figures of recorded releases on real clusters, by the judge of the simulator, and of simulated releases of the same shape. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  readRecording,
  type RecordedWrite,
  type ReleasePace,
  releasePace,
  type UnavailableSeen,
  unavailableSeen,
} from '../../packages/simulator/recording/src/index.ts'
import { type Row, reportedOnly } from './row.ts'
import { runForOne } from './run-script.ts'
import { quantile } from './sets/quantile.ts'
import type { VirtualPace } from './virtual-pace.ts'

/** Files that a run folder may contain beside the recording: requests by client, and processes. */
const REQUESTS = 'requests.json'
const PROCESSES = 'proc.json'
const RECORDING = 'rec.ndjson'

/**
 * Reads recordings: JSON lines of a watch recorder or of `tranche sim --record`, or a folder with `rec.ndjson`, and with `requests.json` and
 * `proc.json` if requests and processes were measured.
 *
 * @param paths recordings of releases of one DaemonSet
 * @param limit maxUnavailable in nodes
 */
export async function recordedRows(paths: readonly string[], limit: number): Promise<readonly Row[]> {
  if (paths.length === 0) throw new Error('recording: name at least one file or folder')
  if (!(limit >= 1)) throw new Error('recording: --limit has to be maxUnavailable of the release, as a number of nodes')
  const runs = paths.map((path) => readRun(path, limit))
  const rows: Row[] = []
  for (const [shape, some] of Map.groupBy(runs, (run) => run.shares.join('/') + ` of ${run.pace.nodes} nodes`)) {
    const [{ pace, shares }] = some as [Run]
    const simulated = await runForOne<VirtualPace>(['scripts/bench/virtual-pace.ts', ...[pace.nodes, limit, ...shares].map(String)])
    rows.push(...shapeRows(`${shape}, ${limit} at once`, some, simulated))
  }
  return rows
}

/** One recorded release. */
interface Run {
  readonly pace: ReleasePace
  readonly down: UnavailableSeen
  /** Cumulative sizes of the batches, in percent of the nodes. */
  readonly shares: readonly number[]
  /** Requests by name of the program. */
  readonly requests: Readonly<Record<string, number>>
  readonly processes: Readonly<Record<string, ProcessUse>>
}

interface ProcessUse {
  readonly cpuSeconds: number
  readonly peakRssMiB: number
}

function readRun(path: string, limit: number): Run {
  const isFolder = statSync(path).isDirectory()
  const writes = readRecording(readFileSync(isFolder ? join(path, RECORDING) : path, 'utf8').split('\n'))
  const daemonSet = nameOfDaemonSet(writes, path)
  const sinceMs = firstChange(writes)
  const json = (name: string): unknown => {
    const file = join(path, name)
    return isFolder && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  }
  const pace = releasePace(writes, { daemonSet, sinceMs, limit })
  return {
    pace,
    down: unavailableSeen(writes, { namespace: namespaceOf(writes), daemonSet, sinceMs }),
    shares: sharesOf(writes, pace.nodes),
    requests: requestsOf(json(REQUESTS) as Readonly<Record<string, { readonly total: number }>>),
    processes: json(PROCESSES) as Readonly<Record<string, ProcessUse>>,
  }
}

function nameOfDaemonSet(writes: readonly RecordedWrite[], path: string): string {
  const names = new Set(writes.filter(({ kind }) => kind === 'DaemonSet').map(({ o }) => String(o['name'])))
  const [name, ...others] = names
  if (name === undefined || others.length > 0) throw new Error(`${path}: records ${names.size} DaemonSets, and has to record one`)
  return name
}

/** Recordings of one namespace may leave it out. */
function namespaceOf(writes: readonly RecordedWrite[]): string {
  return writes.find(({ kind, namespace }) => kind === 'Pod' && namespace !== undefined)?.namespace ?? ''
}

function firstChange(writes: readonly RecordedWrite[]): number {
  const changes = writes.filter(({ kind }) => kind === 'DaemonSet')
  const [first] = changes
  return changes.find(({ o }) => o['generation'] !== first?.o['generation'])?.t ?? first?.t ?? 0
}

/** Sizes from the published partitions: the number of nodes that stay on the old revision. */
function sharesOf(writes: readonly RecordedWrite[], nodes: number): readonly number[] {
  const key = 'rollouts.kruise.io/daemonset-partition'
  const partitions = writes
    .filter(({ kind }) => kind === 'DaemonSet')
    .map(({ o }) => (o['annotations'] as Readonly<Record<string, string>> | undefined)?.[key])
    .filter((partition) => partition !== undefined && Number(partition) < nodes)
  const sizes = [...new Set(partitions.map((partition) => Math.round((100 * (nodes - Number(partition))) / nodes)))]
  return sizes.length > 0 && sizes.at(-1) === 100 ? sizes : [...sizes.filter((size) => size < 100), 100]
}

/** Clients as the audit log names them: by user agent for our programs, else by the whole name. */
function requestsOf(clients: Readonly<Record<string, { readonly total: number }>>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const [client, { total }] of Object.entries(clients)) {
    const name = /tranche-(controller|executor)/.exec(client)?.[0] ?? client
    counts[name] = (counts[name] ?? 0) + total
  }
  return counts
}

function shapeRows(name: string, runs: readonly Run[], simulated: VirtualPace): readonly Row[] {
  const values = (figure: (run: Run) => number): readonly number[] => runs.map(figure)
  const row = (title: string, unit: string, figure: (run: Run) => number): Row => ({
    name: title,
    unit,
    values: values(figure),
    limit: reportedOnly,
  })
  const ratio = (run: Pick<Run, 'pace'>): number => fromChange(run.pace) / run.pace.boundMs
  return [
    row(`${name}: makespan`, 's', ({ pace }) => fromChange(pace) / 1000),
    row('… ÷ ideal for the order of the nodes', '×', ({ pace }) => fromChange(pace) / pace.idealMs),
    row('… ÷ lower bound with batches', '×', ratio),
    row('… ÷ lower bound without batches', '×', ({ pace }) => fromChange(pace) / pace.boundWithoutBatchesMs),
    row('… simulated Tranche: ÷ lower bound with batches', '×', () => ratio(simulated)),
    row('… recorded against simulated Tranche', '×', (run) => ratio(run) / ratio(simulated)),
    row('… first deletion after the change', 'ms', ({ pace }) => pace.firstDeletionMs ?? Number.NaN),
    row('… available to next deletion, median', 'ms', ({ pace }) => quantile(pace.reactionsMs, 0.5)),
    row('… 99 %', 'ms', ({ pace }) => quantile(pace.reactionsMs, 0.99)),
    row('… most nodes down at once', '', ({ down }) => down.max),
    ...costRows(runs, simulated),
  ]
}

function costRows(runs: readonly Run[], simulated: VirtualPace): readonly Row[] {
  const clients = [...new Set(runs.flatMap((run) => Object.keys(run.requests)))]
  const processes = [...new Set(runs.flatMap((run) => Object.keys(run.processes)))]
  const perNode = (program: string): number =>
    Object.entries(simulated.requests)
      .filter(([name]) => name.startsWith(`${program} `))
      .reduce((sum, [, count]) => sum + count / simulated.nodes, 0)
  return [
    ...clients.map((client) => ({
      name: `… requests of ${client}`,
      unit: '/node',
      values: runs.map(({ requests, pace }) => (requests[client] ?? 0) / pace.nodes),
      limit: reportedOnly,
    })),
    ...['controller', 'executor'].map((program) => ({
      name: `… simulated Tranche: requests of the ${program}`,
      unit: '/node',
      values: [perNode(program)],
      limit: reportedOnly,
    })),
    ...processes.flatMap((process) => [
      {
        name: `… CPU of ${process}`,
        unit: 'ms/node',
        values: runs.map((run) => ((run.processes[process]?.cpuSeconds ?? 0) * 1000) / run.pace.nodes),
        limit: reportedOnly,
      },
      {
        name: `… peak memory (RSS) of ${process}`,
        unit: 'MiB',
        values: runs.map((run) => run.processes[process]?.peakRssMiB ?? 0),
        limit: reportedOnly,
      },
    ]),
  ]
}

function fromChange({ makespanMs, firstDeletionMs }: ReleasePace): number {
  return makespanMs + (firstDeletionMs ?? 0)
}
