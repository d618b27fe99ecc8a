import { expect, it } from 'vitest'
import { byLabel, expectNoMarks, labelled, makeConsumer, TEAM } from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { killAtRequest } from './kill-at-request.ts'
import { expectLocked, expectNoLocks, locking, setLockStage } from './lock-stage.ts'
import { untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { resourcePaths } from '@tranche/kube-client'

/** Maximum number of requests of the story. */
const MOST_REQUESTS = 400

it.each([
  ['before it sends', 'before', false],
  ['after the API server has answered', 'after', false],
  ['before it sends', 'before', true],
  ['after the API server has answered', 'after', true],
] as const)(
  'an executor that is killed %s any one of its requests leaves no Lease of a node (%s, with drains: %s) (G7)',
  { timeout: 600_000 },
  async (_when, when, drains) => {
    let played = 0
    while (played < MOST_REQUESTS && (await play(when, drains, played))) played++
    expect(played).toBeGreaterThan(10)
    expect(played).toBeLessThan(MOST_REQUESTS)
  },
)

/** Plays a release of three nodes; the executor is killed at that request. @returns whether it sent that many */
async function play(when: 'before' | 'after', drains: boolean, at: number): Promise<boolean> {
  const { tap, isKilled } = killAtRequest(() => stage, when, at)
  const policy = drains ? { ...locking, drain: byLabel } : locking
  const stage: Stage = await setLockStage({ nodes: 3, policy, startsWhileRunning: true, tap })
  try {
    if (drains) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM } }
      await drive(stage.clock, stage.client.create(resourcePaths.namespaces, namespace))
      for (const node of [1, 2]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
    }
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await expectNoLocks(stage)
    if (drains) await expectNoMarks(stage)
    expectLocked(stage)
    expectKept(stage)
  } finally {
    await stage.end()
  }
  return isKilled()
}
