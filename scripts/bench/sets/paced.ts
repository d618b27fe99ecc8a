import type { BenchSet } from '../bench-set.ts'
import type { PacedRelease } from '../paced-release.ts'
import { type Row, reportedOnly } from '../row.ts'
import { runForOne } from '../run-script.ts'

/** Nodes, and the budget in percent of them. */
const shapes: readonly (readonly [number, number])[] = [
  [30, 10],
  [100, 10],
  [300, 10],
  [300, 5],
  [300, 1],
  [1_000, 10],
  [1_000, 5],
  [1_000, 1],
  [5_000, 5],
]

/** On the real clock. A run that breaks a guarantee has no figures and ends the benchmark with an error. */
export const pacedSet: BenchSet = {
  about:
    'Releases on the real clock, with batches of 10, 50 and 100 %: a simulated cluster, a controller and an executor as processes, started as the image starts them. The slots of the nodes are measured in the same run, so a busy machine slows the pods down and does not improve the ratios. Processor time and memory are those of the release.',
  minutes: 20,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const rows: Row[] = []
    for (const [nodes, percent] of shapes) {
      const args = ['scripts/bench/paced-release.ts', '--nodes', String(nodes), '--budget', String(percent)]
      rows.push(...releaseRows(await runForOne<PacedRelease>(args)))
    }
    return rows
  },
}

function releaseRows(seen: PacedRelease): readonly Row[] {
  const { nodes } = seen
  const x = { x: nodes, xName: 'nodes' }
  const isPictured = seen.limit === Math.ceil(nodes / 10) || nodes === 5_000
  const cpuMsPerNode = seen.controller.cpuMsPerNode + seen.executor.cpuMsPerNode
  const reactionMs = nodes > 1_000 ? 200 : 80
  const row = (name: string, unit: string, value: number, limit: Row['limit'] = reportedOnly): Row => ({
    name,
    unit,
    values: [value],
    limit,
  })
  return [
    row(`${nodes.toLocaleString('en-US')} nodes, ${seen.limit} at once: makespan ÷ ideal for the order of the nodes`, '×', seen.ratio, {
      atMost: 1.02,
    }),
    row('… from the change, ÷ lower bound with batches', '×', seen.boundRatio),
    row('… from the change, ÷ lower bound without batches', '×', seen.boundWithoutBatchesRatio),
    row('… first deletion after the change', 'ms', seen.firstDeletionMs, { atMost: 300 }),
    row('… available to next deletion, median', 'ms', seen.reactionP50Ms, { atMost: nodes > 1_000 ? reactionMs : 15 }),
    {
      ...row('… 99 %', 'ms', seen.reactionP99Ms, { atMost: reactionMs }),
      ...(isPictured && { point: { picture: 'Available to next deletion, ms', line: '99 %', ...x } }),
    },
    row('… processor time of both programs', 'ms/node', cpuMsPerNode, nodes < 300 ? reportedOnly : { atMost: 12 }),
    ...(['controller', 'executor'] as const).flatMap((program) => useRows(program, seen, isPictured ? x : null)),
  ]
}

function useRows(
  program: 'controller' | 'executor',
  seen: PacedRelease,
  x: { readonly x: number; readonly xName: string } | null,
): readonly Row[] {
  const { cpuMsPerNode, peakRss } = seen[program]
  const place = (picture: string): Pick<Row, 'point'> => (x === null ? {} : { point: { picture, line: program, ...x } })
  return [
    {
      name: `… ${program}: processor time`,
      unit: 'ms/node',
      values: [cpuMsPerNode],
      limit: reportedOnly,
      ...place('Processor time per node in a release, ms'),
    },
    {
      name: `… ${program}: peak memory (RSS)`,
      unit: 'MB',
      values: [peakRss],
      limit: mostMemory(seen.nodes),
      ...place('Peak memory in a release, MB'),
    },
  ]
}

/** In megabytes (10⁶ bytes). */
function mostMemory(nodes: number): Row['limit'] {
  if (nodes > 1_000) return reportedOnly
  return { atMost: nodes > 300 ? 170 : 150 }
}
