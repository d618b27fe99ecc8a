import type { BenchSet } from '../bench-set.ts'
import type { IdleRun } from '../idle-run.ts'
import { type Row, reportedOnly } from '../row.ts'
import { runForOne } from '../run-script.ts'
import type { ScaleOut } from '../scale-out.ts'

/** Several executors on a real Redis. */
export const scaleOutSet: BenchSet = {
  about:
    '200 DaemonSets with four nodes each are released by 1, 2 and 4 executors on a real Redis, which start when the controller has opened all releases. Each request of an executor takes 500 ms, so that the executors wait for the API server and not for the processors of this machine. Then the same with a DaemonSet that changes fifty times a second, and with a fail-over of Redis under Sentinel in the middle.',
  minutes: 12,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const run = (executors: number, mode = 'plain'): Promise<ScaleOut> =>
      runForOne<ScaleOut>(['scripts/bench/scale-out.ts', String(executors), mode])
    const [one, two, four] = [await run(1), await run(2), await run(4)]
    const [hot, failOver] = [await run(4, 'hot'), await run(4, 'fail-over')]
    return [
      ...[one, two, four].flatMap((seen) => throughputRows(seen, one)),
      ...fairnessRows(four),
      {
        name: 'with a hot DaemonSet, 4 executors: the others took, against none',
        unit: '×',
        values: [hot.lastSeconds / four.lastSeconds],
        limit: { atMost: 1.25 },
      },
      { name: '… median of the others, against none', unit: '×', values: [hot.medianSeconds / four.medianSeconds], limit: reportedOnly },
      { name: 'with a fail-over of Redis, 4 executors: all took', unit: 's', values: [failOver.lastSeconds], limit: reportedOnly },
      { name: '… longer than without', unit: 's', values: [failOver.lastSeconds - four.lastSeconds], limit: { atMost: 30 } },
    ]
  },
}

function throughputRows({ executors, nodesPerSecond, executorSeconds, seconds }: ScaleOut, one: ScaleOut): readonly Row[] {
  const noun = executors === 1 ? 'executor' : 'executors'
  const atLeast = { 1: 0, 2: 1.5, 4: 2 }[executors] ?? 0
  return [
    {
      name: `${executors} ${noun}: updated nodes`,
      unit: '/s',
      values: [nodesPerSecond],
      limit: reportedOnly,
      point: { picture: 'Updated nodes per second', line: 'all DaemonSets together', x: executors, xName: 'executors' },
    },
    { name: '… against one executor', unit: '×', values: [nodesPerSecond / one.nodesPerSecond], limit: { atLeast } },
    {
      name: '… processors that each used, on average',
      unit: '',
      values: executorSeconds.map((busy) => busy / seconds),
      limit: reportedOnly,
    },
  ]
}

function fairnessRows({ executors, firstSeconds, medianSeconds, lastSeconds, behindAtHalf, averageAtHalf }: ScaleOut): readonly Row[] {
  return [
    { name: `${executors} executors: the first DaemonSet is updated after`, unit: 's', values: [firstSeconds], limit: reportedOnly },
    { name: '… the middle one', unit: 's', values: [medianSeconds], limit: reportedOnly },
    { name: '… the last one', unit: 's', values: [lastSeconds], limit: reportedOnly },
    { name: '… last against middle', unit: '×', values: [lastSeconds / medianSeconds], limit: { atMost: 2 } },
    { name: '… nodes of the slowest, when half of all nodes are updated', unit: '', values: [behindAtHalf], limit: reportedOnly },
    { name: '… average then', unit: '', values: [averageAtHalf], limit: reportedOnly },
  ]
}

const rolloutCounts = [10, 100, 1_000]

/** Requests of idle programs. Processor time and memory are in the sets that grow. */
export const idleSet: BenchSet = {
  about: 'Requests of an idle controller and an idle executor with more and more Rollouts, in an hour of virtual time.',
  minutes: 2,
  isDefault: false,
  isReported: true,
  isExact: true,
  async measure() {
    const rows: Row[] = []
    for (const rollouts of rolloutCounts) {
      const { perMinute, timers } = await runForOne<IdleRun>(['scripts/bench/idle-run.ts', String(rollouts)])
      const sum = Object.values(perMinute).reduce((total, count) => total + count, 0)
      rows.push(
        {
          name: `${rollouts.toLocaleString('en-US')} idle Rollouts: requests of both programs`,
          unit: '/min',
          values: [sum],
          limit: { atMost: 60 },
          point: { picture: 'Requests per minute of idle programs', line: 'controller and executor', x: rollouts, xName: 'Rollouts' },
        },
        ...Object.entries(perMinute)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, count]): Row => ({ name: `… ${name}`, unit: '/min', values: [count], limit: reportedOnly })),
        { name: '… pending timers, with those of the simulator', unit: '', values: [timers], limit: reportedOnly },
      )
    }
    return rows
  },
}
