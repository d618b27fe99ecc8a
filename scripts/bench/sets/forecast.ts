import type { BenchSet } from '../bench-set.ts'
import type { ForecastRun } from '../forecast-run.ts'
import { runForOne, times } from '../run-script.ts'

/** Forecasts of whole releases, in seconds from the snapshot to the answer. */
export const forecastSet: BenchSet = {
  about: '`tranche plan`: from the snapshot of the cluster to the answer.',
  minutes: 1,
  isDefault: true,
  isReported: true,
  isExact: false,
  async measure({ runs }) {
    const run = async (nodes: number): Promise<number> =>
      (await runForOne<ForecastRun>(['scripts/bench/forecast-run.ts', String(nodes)])).seconds
    return [
      { name: 'forecast of 1,000 nodes', unit: 's', values: await times(runs, () => run(1_000)), limit: { atMost: 2 } },
      { name: 'forecast of 5,000 nodes', unit: 's', values: [await run(5_000)], limit: { atMost: 5 } },
    ]
  },
}
