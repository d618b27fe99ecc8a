import { describe, expect, it } from 'vitest'
import { generateSchedule } from './generate.ts'
import { judge } from './judge.ts'
import { play } from './play.ts'
import { runSeeds } from './pool.ts'
import { runSeed } from './run-seed.ts'
import { apiSabotages, type Sabotage, sabotages, upgradeSabotages } from './sabotage.ts'

const MINUTE = 60_000

it(
  'keeps every guarantee in 3 worlds in which anything goes wrong (G1, G2, G3, G4, G5, G6, G7, G8, G9, G10, G11, G12, G13)',
  async () => {
    const results = await runSeeds({ from: 7, seeds: 3 })
    expect(results).toHaveLength(3)
    const stories = results.filter(({ violations }) => violations.length > 0).map(({ story }) => story)
    expect(stories.join('\n\n')).toBe('')
  },
  10 * MINUTE,
)

it(
  'records the same bytes for the same seed, in any process and after any seed',
  async () => {
    const seeds = [1, 2]
    const apart = await runSeeds({ from: 1, seeds: seeds.length, workers: 2, withHash: true })
    const here: (string | null)[] = []
    for (const seed of seeds.toReversed()) here.unshift((await runSeed(seed, { withHash: true })).hash)
    expect(apart.map(({ hash }) => hash)).toEqual(here)
    expect(new Set(here).size).toBe(seeds.length)
  },
  MINUTE,
)

it(
  'records the same bytes for the same seed with upgrades',
  async () => {
    const [apart] = await runSeeds({ from: 3, seeds: 1, workers: 1, withHash: true, upgrades: 3 })
    expect(apart?.hash).toBe((await runSeed(3, { withHash: true, upgrades: 3 })).hash)
  },
  MINUTE,
)

it.each(sabotages)(
  'the bench finds within twenty seeds that $fault',
  async (sabotage) => {
    expect(await firstSeedThatBreaks(sabotage, 20)).not.toBeNull()
  },
  5 * MINUTE,
)

describe('upgrades', () => {
  it(
    'keep every guarantee while all programs and admission are upgraded or rolled back 20 times in mid-release (G1, G2, G3, G4, G5, G6, G7, G8, G9, G10, G11, G12)',
    async () => {
      const results = await runSeeds({ from: 1, seeds: 4, upgrades: 6 })
      const stories = results.filter(({ violations }) => violations.length > 0).map(({ story }) => story)
      expect(stories.join('\n\n')).toBe('')
      expect(results.reduce((sum, { upgraded }) => sum + upgraded, 0)).toBeGreaterThanOrEqual(20)
      expect(results.reduce((sum, { answered }) => sum + answered, 0)).toBeGreaterThanOrEqual(20)
    },
    5 * MINUTE,
  )

  it.each([...upgradeSabotages, ...apiSabotages])(
    'break a guarantee within twenty seeds where $fault',
    async (sabotage) => {
      expect(await firstSeedThatBreaks(sabotage, 20, sabotage.upgrades)).not.toBeNull()
    },
    5 * MINUTE,
  )
})

async function firstSeedThatBreaks(sabotage: Sabotage, seeds: number, upgrades = 0): Promise<number | null> {
  const { from = 1 } = sabotage
  for (let seed = from; seed < from + seeds; seed++) {
    const { recording, facts } = await play(sabotage.among(generateSchedule(seed, upgrades)), sabotage)
    if (judge(recording, facts).some(({ guarantee }) => sabotage.breaks.includes(guarantee))) return seed
  }
  return null
}
