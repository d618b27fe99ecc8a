import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { type Agent, groupLeases, setGroupStage } from './group-stage.ts'
import type { Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

describe('two agents of one group (G13)', () => {
  it('are released one after the other, and no Lease is left', async () => {
    const [a, b] = await begin()
    await a.setImage('v2')
    await a.untilWaiting('Upgrading')
    await b.setImage('v2')
    await b.untilWaiting('GroupBusy')
    expect((await b.release())?.status?.waiting?.message).toContain('waiting for Rollout demo/node-agent')
    expect(await b.nodesOn('v1')).toHaveLength(4)
    await stage.until('log-agent begins', async () => (await b.nodesOn('v1')).length < 4)
    expect(await a.nodesOn('v2')).toHaveLength(4)
    await a.untilReleased('v2')
    await b.untilReleased('v2')
    await stage.pass(10_000)
    expect(await groupLeases(stage)).toEqual([])
    expectKept(stage)
  })
})

async function begin(options: Parameters<typeof setGroupStage>[0] = {}): Promise<readonly [Agent, Agent]> {
  const set = await setGroupStage(options)
  stage = set.stage
  return set.agents as unknown as readonly [Agent, Agent]
}
