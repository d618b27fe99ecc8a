import type { BenchSet } from '../bench-set.ts'
import { type Row, reportedOnly } from '../row.ts'
import { runScript } from '../run-script.ts'
import type { EnduranceSample } from '../../../test/scenarios/endurance/endurance.ts'
import { findLeaks, heapSlope } from '../../../test/scenarios/endurance/find-leaks.ts'

const RELEASES = 1_000
const DAYS = 30
/** Then the longest of all bounded histories is full: 4,096 events that the controller remembers, about eight per release. */
const WARM_UP = 700

/** A month of releases. */
export const soakSet: BenchSet = {
  about:
    '1,000 releases on 12 nodes in 30 days of virtual time, in one process. 3 % of the requests and 0.5 % of the watch events of both programs have a fault, and every tenth version crashes. Both programs restart four times in the first 100 releases. Growth is that from release 700 to release 1,000.',
  minutes: 15,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const args = ['scripts/bench/soak-run.ts', String(RELEASES), String(DAYS), '12']
    const samples = await runScript<EnduranceSample>(args, ['--expose-gc'])
    const last = samples.at(-1)!
    const leaks = findLeaks(samples, WARM_UP)
    if (leaks.length > 0) console.error(leaks.join('\n'))
    return [
      { name: 'counts that grew: timers, streams, handles, objects', unit: '', values: [leaks.length], limit: { atMost: 0 } },
      {
        name: 'heap after a collection, growth per release',
        unit: 'KiB',
        values: [(heapSlope(samples, WARM_UP) ?? Number.NaN) / 1024],
        limit: { atMost: 2 },
      },
      ...samples.map(
        ({ release, heapBytes }): Row => ({
          name: `heap after ${release} releases`,
          unit: 'MB',
          values: [(heapBytes ?? Number.NaN) / 1e6],
          limit: reportedOnly,
          point: { picture: 'Heap after a collection, MB', line: 'simulator, controller and executor', x: release, xName: 'releases' },
        }),
      ),
      { name: 'pending timers at the end', unit: '', values: [last.timers], limit: reportedOnly },
      { name: 'open streams at the end', unit: '', values: [last.streams], limit: reportedOnly },
      { name: 'objects at the end', unit: '', values: [sumOf(last.objects)], limit: reportedOnly },
      {
        name: 'largest status of the BatchRelease',
        unit: 'KiB',
        values: [(last.largestStatus['BatchRelease'] ?? 0) / 1024],
        limit: { atMost: 256 },
      },
      { name: 'largest status of the Rollout', unit: 'KiB', values: [(last.largestStatus['Rollout'] ?? 0) / 1024], limit: { atMost: 256 } },
    ]
  },
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
