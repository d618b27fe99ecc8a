import type { BenchSet } from '../bench-set.ts'
import type { FailureStop } from '../failure-stop.ts'
import type { NodesHit } from '../nodes-hit.ts'
import { runForOne, runScript } from '../run-script.ts'

/** Nodes hit, in virtual time on 30 nodes; time until everything stops, on the real clock. */
export const failuresSet: BenchSet = {
  about: 'Versions that fail: how many of 30 nodes they hit, in virtual time, and how soon everything stops, on the real clock.',
  minutes: 3,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const hits = await runScript<NodesHit>(['scripts/bench/nodes-hit.ts'])
    const { lastDeleteP99Ms, acknowledgedP99Ms } = await runForOne<FailureStop>(['scripts/bench/failure-stop.ts', '40'])
    return [
      ...hits.map(({ name, budget, hit, most }) => ({
        name: `${name}, ${budget} at once: nodes hit`,
        unit: '',
        values: [hit],
        limit: { atMost: most },
      })),
      { name: 'failure seen to last deletion, 99 %', unit: 'ms', values: [lastDeleteP99Ms], limit: { atMost: 20 } },
      { name: 'failure to status of the BatchRelease, 99 %', unit: 'ms', values: [acknowledgedP99Ms], limit: { atMost: 250 } },
    ]
  },
}
