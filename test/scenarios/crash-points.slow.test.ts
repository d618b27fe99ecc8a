import { describe, expect, it } from 'vitest'
import { type Blow, crashPoints, playStory, type Story } from './crash-story.ts'
import { changeOfMind, deletion, rollback, withdrawal } from './crash-stories.ts'
import { expectKept } from './expect-kept.ts'

const blows = [
  ['killed', 'kill'],
  ['frozen past its Lease, and comes back', 'freeze'],
  ['held up in one call for longer than a pass may take', 'hang'],
] as const
const stories = [
  ['a release that is paused, overtaken, approved, ended and let go', changeOfMind],
  ['a rollback in mid-release, and one of what was everywhere', rollback],
  ['a deletion in mid-release, and a new Rollout that goes on from there', deletion],
  ['a withdrawal, for an old pod breaks behind the head', withdrawal],
] as const
const MOST_PLAYS = 5
const passed = new Map<Blow, Set<string>>(blows.map(([, blow]) => [blow, new Set()]))

describe.each(stories)('%s', (_story, story) => {
  it.each(blows)(
    'keeps every promise though a process is %s, before and after every call that it passes (G1 to G4, G6, G7, G9)',
    { timeout: 120_000 },
    async (_what, blow) => {
      for (const point of await strikeEverywhere(story, blow)) passed.get(blow)?.add(point)
      expect(passed.get(blow)?.size).toBeGreaterThan(10)
    },
  )
})

it.each(blows)('these stories have a process %s at every crash point that there is (G7)', (_what, blow) => {
  // A call that is answered at once cannot hang.
  const points = [...crashPoints].filter(([, ends]) => blow !== 'hang' || ends === 'promise').map(([point]) => point)
  expect(points.filter((point) => passed.get(blow)?.has(point) !== true)).toEqual([])
})

/** Plays the story again and again until it passes no point at which nobody was struck yet. @returns the points that were struck */
async function strikeEverywhere(story: Story, blow: Blow): Promise<readonly string[]> {
  const all = [...crashPoints].filter(([, ends]) => blow !== 'hang' || ends === 'promise').map(([point]) => point)
  const left = new Set(all)
  for (let play = 0; play < MOST_PLAYS; play++) {
    const before = left.size
    const stage = await playStory(story, left, blow)
    expectKept(stage)
    await stage.end()
    if (left.size === before) break
  }
  return all.filter((point) => !left.has(point))
}
