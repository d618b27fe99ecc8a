import type { BenchSet } from '../bench-set.ts'
import type { MemoryRun, ProcessFigures, Round } from '../memory-run.ts'
import { medianOf, type Row, reportedOnly } from '../row.ts'
import { runForOne } from '../run-script.ts'

/** Memory, start and leader change on a large cluster. Comparisons with no other pods come from the same run. */
export const memorySet: BenchSet = {
  about:
    'Idle processes on a cluster of 1,000 nodes, 20 Rollouts and 30,000 pods of other workloads, started as the image starts them. Megabytes are 10⁶ bytes.',
  minutes: 16,
  isDefault: false,
  isReported: true,
  isExact: false,
  async measure() {
    const { without, withForeign, handOver } = await runForOne<MemoryRun>(['scripts/bench/memory-run.ts'])
    const listSeconds = withForeign.map(({ listMs }) => listMs / 1000)
    return [
      { name: 'listing everything, answers thrown away', unit: 's', values: listSeconds, limit: reportedOnly },
      ...processes.flatMap((name) => processRows(name, without, withForeign)),
      { name: 'leader stopped to the next one acts', unit: 's', values: handOver.stoppedMs.map((ms) => ms / 1000), limit: { atMost: 2 } },
      { name: 'leader killed to the next one acts', unit: 's', values: handOver.killedMs.map((ms) => ms / 1000), limit: { atMost: 16 } },
    ]
  },
}

const processes = ['leader', 'standby', 'executor', 'api', 'all-in-one'] as const
type ProcessName = (typeof processes)[number]

function processRows(name: ProcessName, without: readonly Round[], withForeign: readonly Round[]): readonly Row[] {
  const figures = (rounds: readonly Round[], field: keyof ProcessFigures): readonly number[] => rounds.map((round) => round[name][field])
  const against = (field: 'rss' | 'heap'): readonly number[] => {
    const none = medianOf(figures(without, field))
    return figures(withForeign, field).map((value) => value / none)
  }
  const readySeconds = withForeign.map((round) => (round[name].readyMs - round.listMs) / 1000)
  return [
    { name: `${name}: resident`, unit: 'MB', values: figures(withForeign, 'rss'), limit: { atMost: 170 } },
    { name: '… against no pods of others', unit: '×', values: against('rss'), limit: { atMost: 1.05 } },
    { name: '… most ever', unit: 'MB', values: figures(withForeign, 'peakRss'), limit: reportedOnly },
    { name: '… proportional set size (PSS)', unit: 'MB', values: figures(withForeign, 'pss'), limit: reportedOnly },
    { name: '… heap that is kept', unit: 'MB', values: figures(withForeign, 'heap'), limit: { atMost: 60 } },
    { name: '… against no pods of others', unit: '×', values: against('heap'), limit: { atMost: 1.05 } },
    { name: '… start to ready, less the listing', unit: 's', values: readySeconds, limit: { atMost: 3 } },
  ]
}
