import { describe, expect, it } from 'vitest'
import { type FailpointMode, failpoints, playStory, type Story } from './failpoint-story.ts'
import { changeOfMind, deletion, rollback, withdrawal } from './failpoint-stories.ts'
import { expectKept } from './expect-kept.ts'

const modes = [
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
const passed = new Map<FailpointMode, Set<string>>(modes.map(([, mode]) => [mode, new Set()]))

describe.each(stories)('%s', (_story, story) => {
  it.each(modes)(
    'keeps every promise though a process is %s, before and after every call that it passes (G1 to G4, G6, G7, G9)',
    { timeout: 120_000 },
    async (_what, mode) => {
      for (const point of await triggerEverywhere(story, mode)) passed.get(mode)?.add(point)
      expect(passed.get(mode)?.size).toBeGreaterThan(10)
    },
  )
})

it.each(modes)('these stories have a process %s at every failpoint that there is (G7)', (_what, mode) => {
  // A call that is answered at once cannot hang.
  const points = [...failpoints].filter(([, ends]) => mode !== 'hang' || ends === 'promise').map(([point]) => point)
  expect(points.filter((point) => passed.get(mode)?.has(point) !== true)).toEqual([])
})

/** Plays the story again and again until it passes no point at which nobody was struck yet. @returns the points that were struck */
async function triggerEverywhere(story: Story, mode: FailpointMode): Promise<readonly string[]> {
  const all = [...failpoints].filter(([, ends]) => mode !== 'hang' || ends === 'promise').map(([point]) => point)
  const left = new Set(all)
  for (let play = 0; play < MOST_PLAYS; play++) {
    const before = left.size
    const stage = await playStory(story, left, mode)
    expectKept(stage)
    await stage.end()
    if (left.size === before) break
  }
  return all.filter((point) => !left.has(point))
}
