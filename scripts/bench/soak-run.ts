/**
 * Plays many releases in virtual time, with faults and restarts, and prints one line of JSON per sample, {@link EnduranceSample}.
 *
 *   node --expose-gc scripts/bench/soak-run.ts 1000 30 12    1,000 releases in 30 days on 12 nodes
 */
import { playEndurance } from '../../test/scenarios/endurance/endurance.ts'

const [releases = 1_000, days = 30, nodes = 12] = process.argv.slice(2).map(Number)
await playEndurance({
  nodes,
  releases,
  everyMs: (days * 86_400_000) / releases,
  sampleEvery: Math.max(1, Math.round(releases / 40)),
  onSample: (sample) => console.log(JSON.stringify(sample)),
})
