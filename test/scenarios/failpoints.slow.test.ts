import { describe, expect, it } from 'vitest'
import { type FailpointMode, failpoints, playStory, type Story } from './failpoint-story.ts'
import {
  changeOfMind,
  configChanges,
  deletion,
  locksNodes,
  lostRecord,
  pullsFirst,
  rollback,
  twoOfAGroup,
  withdrawal,
} from './failpoint-stories.ts'
import { expectKept } from './expect-kept.ts'

const modes = [
  ['killed', 'kill'],
  ['frozen past its Lease and then returns', 'freeze'],
  ['blocked in one call for longer than a pass may take', 'hang'],
] as const
const stories = [
  ['a release that is paused, superseded, approved, completed and detached', changeOfMind],
  ['a rollback in mid-release, and one of a completed release', rollback],
  ['a deletion in mid-release, and a new Rollout that continues from there', deletion],
  ['a withdrawal because an old pod breaks behind the head', withdrawal],
  ['a release whose permit record is lost and restored', lostRecord],
  ['a release that pulls images before it deletes pods', pullsFirst],
  ['a release that holds the Leases of its nodes, and renews them', locksNodes],
  ['config that changes in mid-release and is rolled back, and whose copies are then deleted', configChanges],
  ['two releases of one group, of which the first is paused', twoOfAGroup],
] as const
const MOST_PLAYS = 5
const passed = new Map<FailpointMode, Set<string>>(modes.map(([, mode]) => [mode, new Set()]))

describe.each(stories)('%s', (_story, story) => {
  it.each(modes)(
    'keeps every guarantee although a process is %s, before and after every call that it passes (G1 to G4, G6, G7, G9)',
    async (_what, mode) => {
      for (const point of await triggerEverywhere(story, mode)) passed.get(mode)?.add(point)
      expect(passed.get(mode)?.size).toBeGreaterThan(10)
    },
  )
})

it.each(modes)('in these stories a process is %s at every failpoint (G7)', (_what, mode) => {
  // A synchronous call cannot hang.
  const points = [...failpoints].filter(([, ends]) => mode !== 'hang' || ends === 'promise').map(([point]) => point)
  expect(points.filter((point) => passed.get(mode)?.has(point) !== true)).toEqual([])
})

/** Plays the story repeatedly until it passes no unused failpoint. @returns failpoints that were used */
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
