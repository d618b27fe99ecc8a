import { expect, it } from 'vitest'
import { crashPoints, playStory } from './crash-story.ts'
import { expectKept } from './expect-kept.ts'

/** Calls that no release makes: of a queue on its way out, and a withdrawal, for which a permit must be stuck behind others. */
const never = ['queue.announceAfter', 'queue.stats', 'queue.close', 'executor.touchPod']
const MOST_STORIES = 8

it.each([
  ['killed', 'kill'],
  ['frozen past its Lease, and comes back', 'freeze'],
  ['held up in one call for longer than a pass may take', 'hang'],
] as const)(
  'ends a release and lets go of the DaemonSet though a process is %s, before and after every call (G1 to G4, G6, G7, G9)',
  { timeout: 120_000 },
  async (_what, blow) => {
    const points = new Set(crashPoints.keys().filter((point) => !never.some((call) => point.startsWith(`${call}.`))))
    // A call that is answered at once cannot hang.
    for (const [point, ends] of crashPoints) if (blow === 'hang' && ends === 'value') points.delete(point)
    expect(points.size).toBeGreaterThan(40)
    for (let story = 0; story < MOST_STORIES && points.size > 0; story++) {
      const stage = await playStory(points, blow)
      expectKept(stage)
      await stage.end()
    }
    expect([...points]).toEqual([])
  },
)
