import type { BenchSet } from '../bench-set.ts'
import type { RestLoad } from '../rest-load.ts'
import { type Row, reportedOnly } from '../row.ts'
import { runForOne } from '../run-script.ts'

const streamCounts = [100, 500, 1_000]

/** The REST API with 1,000 nodes and 100 Rollouts on the real clock. */
export const restSet: BenchSet = {
  about:
    'The REST API, with 1,000 nodes and 100 Rollouts. The API, the simulated API server and the sender share the processors. Requests per core count the processor time of the API alone.',
  minutes: 4,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const rows: Row[] = []
    for (const streams of streamCounts) {
      const seen = await runForOne<RestLoad>(['scripts/bench/rest-load.ts', '1000', String(streams)])
      if (streams === 500) rows.push(...requestRows(seen))
      rows.push(...streamRows(seen, streams))
    }
    return rows
  },
}

function requestRows({ perCoreSecond, paced, machine }: RestLoad): readonly Row[] {
  return [
    { name: 'GET of a Rollout, per core', unit: '/s', values: [perCoreSecond], limit: { atLeast: 4_000 } },
    { name: '… at 500 a second, 99 %', unit: 'ms', values: [paced.p99Ms], limit: { atMost: 10 } },
    { name: '… the sender itself was late, 99 %', unit: 'ms', values: [paced.senderLateP99Ms], limit: reportedOnly },
    { name: '… the event loop of the API was late, 99 %', unit: 'ms', values: [paced.loopP99Ms], limit: reportedOnly },
    { name: `… programs that wanted one of ${machine.cores} processors before`, unit: '', values: [machine.load], limit: reportedOnly },
  ]
}

/** The limits are those of 500 streams. */
function streamRows({ streamsMebibytes, eventMs }: RestLoad, streams: number): readonly Row[] {
  const isLimited = streams === 500
  const place = { line: 'REST API', x: streams, xName: 'streams' }
  return [
    {
      name: `${streams} streams (SSE), memory above idle`,
      unit: 'MiB',
      values: [streamsMebibytes],
      limit: isLimited ? { atMost: 60 } : reportedOnly,
      point: { picture: 'Memory of streams, MiB', ...place },
    },
    {
      name: '… a change until the last of them has it',
      unit: 'ms',
      values: [eventMs],
      limit: isLimited ? { atMost: 200 } : reportedOnly,
    },
  ]
}
