import { resourcePaths } from '@tranche/kube-client'
import { expect, it } from 'vitest'
import { DAY, HOUR, memories, setDowntimeStage, untilClosed } from './downtime-stage.ts'
import { expectKept } from './expect-kept.ts'
import { killAtRequest } from './kill-at-request.ts'
import { untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

/** Maximum number of requests of the story. */
const MOST_REQUESTS = 200

it.each([
  ['before it sends', 'before'],
  ['after the API server has answered', 'after'],
] as const)(
  'an executor that is killed %s any one of its requests forgets no downtime, and leaves none open (G7)',
  { timeout: 600_000 },
  async (_when, when) => {
    let played = 0
    while (played < MOST_REQUESTS && (await play(when, played))) played++
    expect(played).toBeGreaterThan(8)
    expect(played).toBeLessThan(MOST_REQUESTS)
  },
)

/** Plays a release; the executor is killed at that request. @returns whether it sent that many */
async function play(when: 'before' | 'after', at: number): Promise<boolean> {
  const { tap, isKilled } = killAtRequest(() => stage, when, at)
  const stage: Stage = await setDowntimeStage({ startsWhileRunning: true, tap })
  try {
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    const remembered = await drive(stage.clock, memories(stage))
    expect(remembered.map(({ node, past }) => [node, past.length])).toEqual([
      ['node-001', 1],
      ['node-002', 1],
      ['node-003', 1],
    ])
    expectRemembered(stage, remembered)
    expectKept(stage)
  } finally {
    await stage.end()
  }
  return isKilled()
}

/** Expects that each downtime begins before the deletion, and ends after the new pod is Ready. */
function expectRemembered(stage: Stage, remembered: Awaited<ReturnType<typeof memories>>): void {
  for (const { node, past } of remembered) {
    const pods = stage.recording().filter(({ kind, o, node: of }) => kind === 'Pod' && of === node && o['owner'] === stageKey.name)
    const deletedMs = pods.find(({ verb, actor = '' }) => verb === 'delete' && actor.startsWith('executor'))?.t ?? 0
    const readyMs = pods.find(({ t, o }) => t > deletedMs && o['ready'] === true && o['deleting'] !== true)?.t ?? Number.NaN
    expect(deletedMs).toBeGreaterThan(0)
    expect(past[0]?.fromMs).toBeLessThanOrEqual(deletedMs + ROUNDED_MS)
    expect(past[0]?.toMs).toBeGreaterThanOrEqual(readyMs - ROUNDED_MS)
  }
}

/** Processes read the clock of the API server to a second, and pods are stamped to a second. */
const ROUNDED_MS = 1_000

it('the memory of downtime goes a day after its DaemonSet', async () => {
  const stage = await setDowntimeStage()
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  await untilClosed(stage)
  await drive(stage.clock, stage.client.delete(resourcePaths.daemonSets, stageKey))
  await stage.pass(DAY - HOUR)
  expect(await drive(stage.clock, memories(stage))).toHaveLength(3)
  await stage.pass(2 * HOUR)
  expect(await drive(stage.clock, memories(stage))).toEqual([])
  await stage.end()
})
