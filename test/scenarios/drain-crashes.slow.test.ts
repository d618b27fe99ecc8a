import { expect, it } from 'vitest'
import { byLabel, consumerNames, expectDrained, expectNoMarks, labelled, makeConsumer, setCordon, setDrainStage } from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { killAtRequest } from './kill-at-request.ts'
import { untilReleased } from './looks.ts'
import type { Stage } from './stage.ts'

/** Node that a user has cordoned, and which stays so. */
const CORDONED = 'node-002'
/** Maximum number of requests of the story. */
const MOST_REQUESTS = 400

it.each([
  ['before it sends', 'before'],
  ['after the API server has answered', 'after'],
] as const)(
  'an executor that is killed %s any one of its requests leaves no cordon, and the cordon of a user stays (G7)',
  { timeout: 600_000 },
  async (_when, when) => {
    let played = 0
    while (played < MOST_REQUESTS && (await play(when, played))) played++
    expect(played).toBeGreaterThan(20)
    expect(played).toBeLessThan(MOST_REQUESTS)
  },
)

/** Plays a release of three drained nodes; the executor is killed at that request. @returns whether it sent that many */
async function play(when: 'before' | 'after', at: number): Promise<boolean> {
  const { tap, isKilled } = killAtRequest(() => stage, when, at)
  const stage: Stage = await setDrainStage(byLabel, { nodes: 3, startsWhileRunning: true, tap })
  try {
    for (const node of [1, 2, 3]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
    await setCordon(stage, CORDONED, true)
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage, [CORDONED])
    expect(await consumerNames(stage)).toEqual([])
    expectDrained(stage, 'web')
    expectKept(stage)
  } finally {
    await stage.end()
  }
  return isKilled()
}
