import type { BenchSet } from '../bench-set.ts'
import { type Row, reportedOnly } from '../row.ts'
import { runForOne } from '../run-script.ts'
import type { VirtualPace } from '../virtual-pace.ts'
import { quantile } from './quantile.ts'

const shapes = [
  { nodes: 30, limit: 5 },
  { nodes: 100, limit: 10 },
  { nodes: 300, limit: 30 },
  { nodes: 1_000, limit: 50 },
]

/** Most requests per node of both programs, by the number of nodes. */
const mostRequests: Readonly<Record<number, Row['limit']>> = { 30: { atMost: 3 }, 300: { atMost: 2.2 } }

/** Releases in virtual time: nothing but decisions and API requests costs time. */
export const paceSet: BenchSet = {
  about:
    'Releases in virtual time, with batches of 10, 50 and 100 % and with one batch. The makespan runs from the change of the DaemonSet to the last available pod. The lower bound is computed from the measured times of the pods, for any order of the nodes.',
  minutes: 2,
  isDefault: false,
  isReported: true,
  isExact: true,
  async measure() {
    const rows: Row[] = []
    for (const shape of shapes) {
      const run = (...shares: readonly number[]): Promise<VirtualPace> =>
        runForOne<VirtualPace>(['scripts/bench/virtual-pace.ts', ...[shape.nodes, shape.limit, ...shares].map(String)])
      rows.push(...paceRows(await run(), 'three batches'), ...paceRows(await run(100), 'one batch'))
    }
    return rows
  },
}

function paceRows({ nodes, limit, pace, requests, releaseBytes, rolloutBytes }: VirtualPace, batches: string): readonly Row[] {
  const fromChange = pace.makespanMs + (pace.firstDeletionMs ?? 0)
  const x = { x: nodes, xName: 'nodes' }
  const isOne = batches === 'one batch'
  return [
    {
      name: `${nodes} nodes, ${limit} at once, ${batches}: makespan ÷ ideal for the order of the nodes`,
      unit: '×',
      values: [fromChange / pace.idealMs],
      limit: { atMost: 1.02 },
    },
    {
      name: '… ÷ lower bound with batches',
      unit: '×',
      values: [fromChange / pace.boundMs],
      limit: reportedOnly,
      point: { picture: 'Makespan ÷ lower bound, virtual time', line: `${batches}${isOne ? '' : ', bound with batches'}`, ...x },
    },
    {
      name: '… ÷ lower bound without batches',
      unit: '×',
      values: [fromChange / pace.boundWithoutBatchesMs],
      limit: reportedOnly,
      ...(!isOne && { point: { picture: 'Makespan ÷ lower bound, virtual time', line: `${batches}, bound without batches`, ...x } }),
    },
    { name: '… first deletion after the change', unit: 'ms', values: [pace.firstDeletionMs ?? Number.NaN], limit: { atMost: 300 } },
    { name: '… available to next deletion, median', unit: 'ms', values: [quantile(pace.reactionsMs, 0.5)], limit: reportedOnly },
    { name: '… 99 %', unit: 'ms', values: [quantile(pace.reactionsMs, 0.99)], limit: reportedOnly },
    ...requestRows(requests, nodes, batches),
    { name: '… largest status of the BatchRelease', unit: 'KiB', values: [releaseBytes / 1024], limit: { atMost: 256 } },
    { name: '… largest status of the Rollout', unit: 'KiB', values: [rolloutBytes / 1024], limit: { atMost: 256 } },
  ]
}

/** Requests per node of each program, and the verbs of which there are many. */
function requestRows(requests: VirtualPace['requests'], nodes: number, batches: string): readonly Row[] {
  const names = Object.keys(requests).toSorted()
  const perNode = (matches: (name: string) => boolean): number =>
    names.filter(matches).reduce((sum, name) => sum + (requests[name] ?? 0), 0) / nodes
  const row = (name: string, line: string, matches: (name: string) => boolean, limit: Row['limit'] = reportedOnly): Row => ({
    name,
    unit: '/node',
    values: [perNode(matches)],
    limit,
    ...(batches === 'three batches' && {
      point: { picture: 'Requests per updated node, three batches', line, x: nodes, xName: 'nodes' },
    }),
  })
  const frequent = names.filter((name) => (requests[name] ?? 0) >= nodes / 10)
  return [
    row('… requests of both programs', 'both programs', () => true, mostRequests[nodes]),
    row('… of the executor', 'executor', (name) => name.startsWith('executor ')),
    row('… of the controller', 'controller', (name) => name.startsWith('controller ')),
    ...frequent.map((name): Row => ({ name: `… ${name}`, unit: '/node', values: [perNode((one) => one === name)], limit: reportedOnly })),
  ]
}
