import { expect, it } from 'vitest'
import {
  byLabel,
  consumerNames,
  drainConditionOf,
  expectDrained,
  expectNoMarks,
  labelled,
  makeConsumer,
  nodesOf,
  setCordon,
  setDrainStage,
  setOtherDrain,
} from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { killAtRequest } from './kill-at-request.ts'
import { untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'

/** Node that a user has cordoned, and which stays so. */
const CORDONED = 'node-002'
/** Maximum number of requests of the story. */
const MOST_REQUESTS = 400

it.each([
  ['before it sends', 'no cordon', 'before', false],
  ['after the API server has answered', 'no cordon', 'after', false],
  ['before it sends', 'neither cordon nor condition', 'before', true],
  ['after the API server has answered', 'neither cordon nor condition', 'after', true],
] as const)(
  'an executor that is killed %s any one of its requests leaves %s, and those of others stay (G7)',
  { timeout: 600_000 },
  async (_when, _left, when, drainConditions) => {
    let played = 0
    while (played < MOST_REQUESTS && (await play(when, played, drainConditions))) played++
    expect(played).toBeGreaterThan(20)
    expect(played).toBeLessThan(MOST_REQUESTS)
  },
)

/** Plays a release of three drained nodes; the executor is killed at that request. @returns whether it sent that many */
async function play(when: 'before' | 'after', at: number, drainConditions: boolean): Promise<boolean> {
  const { tap, isKilled } = killAtRequest(() => stage, when, at)
  const stage: Stage = await setDrainStage(byLabel, { nodes: 3, startsWhileRunning: true, tap, drainConditions })
  try {
    for (const node of [1, 2, 3]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
    await setCordon(stage, CORDONED, true)
    await setOtherDrain(stage, CORDONED, 'False')
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage, [CORDONED])
    expect(await consumerNames(stage)).toEqual([])
    expectDrained(stage, 'web')
    const left = (await drive(stage.clock, nodesOf(stage))).map((node) => drainConditionOf(node)?.reason)
    expect(left).toEqual([undefined, 'NodeMaintenance', undefined])
    expectKept(stage)
  } finally {
    await stage.end()
  }
  return isKilled()
}
