import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { expectLocked, expectNoLocks, freeNode, holdNode, nodeLeases, setLockStage } from './lock-stage.ts'
import { nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const NODE = 'node-001'

describe('a release with downtime.nodeLock: Take', () => {
  it('holds the Lease of each node while its pod is replaced, and keeps none', async () => {
    stage = await setLockStage()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expectLocked(stage)
    await expectNoLocks(stage)
    expect(await drive(stage.clock, nodeLeases(stage))).toEqual([])
    expectKept(stage)
  })
})
