import { describe, expect, it } from 'vitest'
import { runSeeds } from './pool.ts'

const MINUTE = 60_000

/** `faults.slow.test.ts` plays more worlds; `.ci/run` plays seeds that no run has played before. */
describe('the fault bench keeps every guarantee', () => {
  it(
    'in 5 worlds in which anything goes wrong (G1, G2, G3, G4, G5, G6, G7, G8, G9, G10, G11, G12, G13)',
    async () => {
      expect(await brokenStories({ seeds: 5 })).toBe('')
    },
    5 * MINUTE,
  )

  it(
    'in a world in which all programs are replaced three times in mid-release (G1, G2, G3, G4, G5, G6, G7, G8, G9, G10, G11, G12)',
    async () => {
      expect(await brokenStories({ seeds: 1, upgrades: 3 })).toBe('')
    },
    2 * MINUTE,
  )
})

async function brokenStories(what: { readonly seeds: number; readonly upgrades?: number }): Promise<string> {
  const results = await runSeeds({ from: 1, ...what })
  expect(results).toHaveLength(what.seeds)
  const broken = results.filter(({ violations }) => violations.length > 0)
  return broken.map(({ story }) => story).join('\n\n')
}
