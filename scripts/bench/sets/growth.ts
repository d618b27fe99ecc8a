import type { BenchSet } from '../bench-set.ts'
import type { GrowthRound } from '../growth-run.ts'
import type { Round } from '../memory-run.ts'
import { type Row, reportedOnly } from '../row.ts'
import { runForOne, runScript } from '../run-script.ts'
import type { VirtualRelease } from '../virtual-release.ts'

const nodeCounts = [100, 1_000, 5_000, 15_000]
const daemonSetCounts = [1, 20, 200, 1_000]
const foreignCounts = [0, 30_000, 150_000]
const processes = ['leader', 'executor', 'api', 'all-in-one'] as const

/** Releases in virtual time on more and more nodes. */
export const growthSet: BenchSet = {
  about:
    'Releases in virtual time on more and more nodes, in five steps. At most a tenth of the nodes and 1,000 nodes are down at a time. The simulator, the controller and the executor share one process: times and memory are those of all three.',
  minutes: 3,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const rows: Row[] = []
    for (const nodes of nodeCounts)
      rows.push(...releaseRows(nodes, await runForOne<VirtualRelease>(['scripts/bench/virtual-release.ts', String(nodes)])))
    return rows
  },
}

function releaseRows(nodes: number, seen: VirtualRelease): readonly Row[] {
  const x = { x: nodes, xName: 'nodes' }
  const count = nodes.toLocaleString('en-US')
  return [
    {
      name: `${count} nodes: processor time per node`,
      unit: 'ms',
      values: [(seen.busySeconds * 1000) / nodes],
      limit: reportedOnly,
      point: { picture: 'Processor time per node of a release, ms', line: 'simulator, controller and executor', ...x },
    },
    { name: '… wall clock', unit: 's', values: [seen.seconds], limit: reportedOnly },
    { name: '… peak memory', unit: 'MiB', values: [seen.rssMebibytes], limit: reportedOnly },
    {
      name: '… largest status of the BatchRelease, with the record',
      unit: 'KiB',
      values: [seen.releaseBytes / 1024],
      limit: { atMost: 256 },
      point: { picture: 'Largest status of a release, KiB', line: 'BatchRelease, with the record', ...x },
    },
    {
      name: '… largest status of the Rollout',
      unit: 'KiB',
      values: [seen.rolloutBytes / 1024],
      limit: { atMost: 256 },
      point: { picture: 'Largest status of a release, KiB', line: 'Rollout', ...x },
    },
  ]
}

/** Idle processes on more and more nodes. */
export const growthNodesSet: BenchSet = {
  about: 'Idle processes, started as the image starts them, with one DaemonSet on more and more nodes.',
  minutes: 9,
  isDefault: false,
  isReported: true,
  isExact: false,
  measure: async () =>
    (
      await inTurn(nodeCounts, async (nodes) => {
        const [seen] = await runScript<GrowthRound>(['scripts/bench/growth-run.ts', String(nodes), '1', '0'])
        return processRows(seen!.round, { x: nodes, xName: 'nodes', name: 'nodes' })
      })
    ).flat(),
}

/** Idle processes with more and more DaemonSets. */
export const growthDaemonSetsSet: BenchSet = {
  about: 'Idle processes with more and more DaemonSets, each with a Rollout and pods on ten nodes.',
  minutes: 12,
  isDefault: false,
  isReported: true,
  isExact: false,
  measure: async () =>
    (
      await inTurn(daemonSetCounts, async (count) => {
        const [seen] = await runScript<GrowthRound>(['scripts/bench/growth-run.ts', '100', String(count), '0', '10'])
        return processRows(seen!.round, { x: count, xName: 'DaemonSets', name: 'DaemonSets' })
      })
    ).flat(),
}

/** Idle processes with more and more pods of other workloads. */
export const growthPodsSet: BenchSet = {
  about:
    'Idle processes with one DaemonSet on 1,000 nodes, and more and more pods of other workloads. Twenty of these pods change per second, except when there are none.',
  minutes: 12,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const seen = await runScript<GrowthRound>(['scripts/bench/growth-run.ts', '1000', '1', foreignCounts.join(',')])
    return seen.flatMap(({ foreign, round }) => processRows(round, { x: foreign, xName: 'pods of other workloads', name: 'other pods' }))
  },
}

function processRows(
  round: Round,
  { x, xName, name }: { readonly x: number; readonly xName: string; readonly name: string },
): readonly Row[] {
  return processes.flatMap((process) => {
    const { rss, heap, peakRss, idleCpuMs } = round[process]
    const row = (title: string, unit: string, value: number, picture: string): Row => ({
      name: title,
      unit,
      values: [value],
      limit: reportedOnly,
      point: { picture, line: process, x, xName },
    })
    return [
      row(`${x.toLocaleString('en-US')} ${name}, ${process}: resident`, 'MB', rss, 'Resident memory, MB'),
      row('… heap that is kept', 'MB', heap, 'Heap that is kept, MB'),
      { name: '… most ever resident', unit: 'MB', values: [peakRss], limit: reportedOnly },
      row('… processor time while idle', 'ms/s', idleCpuMs, 'Processor time while idle, ms per second'),
    ]
  })
}

async function inTurn<T>(values: readonly number[], run: (value: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = []
  for (const value of values) results.push(await run(value))
  return results
}
