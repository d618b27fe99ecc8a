/**
 * The fault bench: `pnpm test:faults`. Runs the whole system in virtual time, with faults drawn from a seed, and checks the guarantees. See
 * docs/contribute/fault-bench.md.
 *
 * ```text
 * pnpm test:faults                       200 seeds, from 1
 * pnpm test:faults --from 17 --seeds 1   only seed 17
 * pnpm test:faults --upgrades 20         also replaces all programs and admission twenty times per world during releases
 * pnpm test:faults --no-shrink           reports a violation with all faults, not with the smallest set that causes it
 * pnpm test:faults -o json               ends with the line {"seeds", "violations", "firstSeed", "seedsPerMinute"}
 * ```
 *
 * Exits with 1 if a seed breaks a guarantee. Ends only processes that it started.
 */
import { parseArgs } from 'node:util'
import { runSeeds } from '../test/faults/pool.ts'
import type { SeedResult } from '../test/faults/run-seed.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    upgrades: { type: 'string' },
    shrink: { type: 'boolean', default: true },
    output: { type: 'string', short: 'o', default: 'text' },
  },
  allowNegative: true,
})
const seeds = wholeNumber('--seeds', values.seeds)
const from = wholeNumber('--from', values.from)
const upgrades = values.upgrades === undefined ? 0 : wholeNumber('--upgrades', values.upgrades)
/** Limit that is sufficient for all schedules. */
const SHRINK_RUNS = 60

const startedMs = performance.now()
let done = 0
const results = await runSeeds({ from, seeds, upgrades, shrinkRuns: values.shrink ? SHRINK_RUNS : 0, onResult: show })
const minutes = (performance.now() - startedMs) / 60_000
const broken = results.filter(({ violations }) => violations.length > 0)
const seedsPerMinute = Math.round(seeds / minutes)
const cpuMs = Math.round(results.reduce((sum, result) => sum + result.cpuMs, 0) / Math.max(1, results.length))
const upgraded = results.reduce((sum, result) => sum + result.upgraded, 0)
const answered = results.reduce((sum, result) => sum + result.answered, 0)
const summary = {
  seeds,
  violations: broken.length,
  firstSeed: broken[0]?.seed ?? null,
  seedsPerMinute,
  ...(upgrades > 0 && { upgrades: upgraded, answered }),
}
console.log(
  values.output === 'json'
    ? JSON.stringify(summary)
    : `${seeds} seeds, ${broken.length} with a violation; ${upgrades > 0 ? `${upgraded} upgrades in mid-release, ${answered} actions carried out over REST; ` : ''}${seedsPerMinute} seeds per minute, ${cpuMs} ms of CPU each`,
)
process.exitCode = broken.length === 0 ? 0 : 1

function show({ story }: SeedResult): void {
  done++
  if (story !== '') console.log(`${story}\n`)
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${seeds} seeds${done === seeds ? '\n' : ''}`)
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  console.error(`${option} is "${text}"; give a whole number from 1 on`)
  process.exit(2)
}
