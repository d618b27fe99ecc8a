import { afterEach, describe, expect, it } from 'vitest'
import { DAY, memories, memoryWrites, setDowntimeStage, untilClosed } from './downtime-stage.ts'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const waiting = async (): Promise<{ reason?: string; message?: string; nodes?: readonly string[] }> =>
  (await drive(stage.clock, stage.release()))?.status?.waiting ?? {}
const untilWaiting = (reason: string): Promise<void> =>
  stage.until(`it waits: ${reason}`, async () => (await stage.release())?.status?.waiting?.reason === reason)

describe('a release with downtime.perDay', () => {
  it('remembers each deletion and its end, with two requests a node', async () => {
    stage = await setDowntimeStage()
    const before = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    const remembered = await drive(stage.clock, memories(stage))
    expect(remembered.map(({ node, past }) => [node, past.length])).toEqual([
      ['node-001', 1],
      ['node-002', 1],
      ['node-003', 1],
    ])
    for (const { past } of remembered) {
      expect(past[0]?.fromMs).toBeGreaterThan(before)
      expect(past[0]!.toMs - past[0]!.fromMs).toBeGreaterThanOrEqual(1_000)
    }
    expect(memoryWrites(stage)).toEqual({ create: 3, patch: 3 })
    expectKept(stage)
  })

  it('leaves out nodes whose agent was away for long enough today, says when there is room, and updates them then', async () => {
    stage = await setDowntimeStage()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    await stage.setImage('v3')
    await untilWaiting('DowntimeSpent')
    const { message, nodes } = await waiting()
    expect(nodes).toEqual(['node-001', 'node-002', 'node-003'])
    expect(message).toMatch(/node-001 \(its agent was away for \d+s of the 1s allowed in 24 hours; there is room again at \d{4}-.*Z\)/)
    await stage.pass(DAY / 2)
    expect(await drive(stage.clock, nodesOn(stage, 'v2'))).toHaveLength(3)
    await stage.pass(DAY / 2)
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('is done first where there is room', async () => {
    stage = await setDowntimeStage({ steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    await untilClosed(stage)
    const [spent] = await drive(stage.clock, nodesOn(stage, 'v2'))
    await stage.setImage('v3')
    await untilNodesOn(stage, 'v3', 1)
    expect(await drive(stage.clock, nodesOn(stage, 'v2'))).toEqual([spent])
    expectKept(stage)
  })
})
