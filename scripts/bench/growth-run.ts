/**
 * Measures idle processes on clusters of growing size. Prints one line of JSON per size, {@link GrowthRound}.
 *
 * ```text
 * node scripts/bench/growth-run.ts 1000 1 0             1,000 nodes, 1 DaemonSet on all of them, no unrelated pods
 * node scripts/bench/growth-run.ts 100 1000 0 10        1,000 DaemonSets, each on one of ten groups of nodes
 * node scripts/bench/growth-run.ts 1000 1 0,30000 1     twice on one cluster, the second time with 30,000 unrelated pods
 * ```
 */
import { type Round, openMemoryStage, playRound } from './memory-run.ts'

/** Figures of all processes at one size. */
export interface GrowthRound {
  readonly foreign: number
  readonly round: Round
}

const [nodes = '1000', daemonSets = '1', foreignCounts = '0', groups = '1'] = process.argv.slice(2)
await using cleanup = new AsyncDisposableStack()
const size = { nodes: Number(nodes), daemonSets: Number(daemonSets), foreign: 0, groups: Number(groups) }
// Lists of 150,000 pods take minutes.
const stage = { ...(await openMemoryStage(size, cleanup)), readyWithinSeconds: 900 }
for (const foreign of foreignCounts.split(',').map(Number)) {
  if (foreign > 0) await stage.cluster.addForeign(foreign)
  console.log(JSON.stringify({ foreign, round: await playRound(stage, foreign > 0) } satisfies GrowthRound))
}
