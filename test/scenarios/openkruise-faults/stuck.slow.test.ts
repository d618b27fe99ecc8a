import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from '../expect-kept.ts'
import { setFinalizers } from '../hands.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from '../looks.ts'
import { drive, setStage, type Stage } from '../stage.ts'
import { crews, deleted, expectReported, isHealthy, longestRest, measuredPods, mostDown, timesDeleted } from './measured.ts'

let stage: Stage
afterEach(() => stage.end())

const all = [{ replicas: '100%' }]

describe.each(crews)('with $crew', ({ executors }) => {
  it('updates the nine other nodes if a pod does not end, and deletes that pod once (X2, W2, F12, G4)', async () => {
    const annotations = { ...measuredPods, 'sim.tranche.dev/term-notready': 'true' }
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: all, annotations, executors })
    const stuck = (await stage.pods())[3]!
    await setFinalizers(stage, stuck, ['example.com/stuck'])
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 9, 60_000)
    await stage.pass(400_000)
    expect(timesDeleted(stage, stuck.metadata.uid)).toBe(1)
    expect(mostDown(stage, sinceMs)).toBe(2)
    expect((await stage.rollout()).status?.phase).toBe('Progressing')
    await expectReported(stage, stuck.spec?.nodeName ?? '?')

    await setFinalizers(stage, stuck, [])
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it.each([1, 3])('updates 19 of 20 nodes and names the dead one, limit %i, first step of 1 node (X5, W5, G6)', async (limit) => {
    stage = await setStage({
      nodes: 20,
      maxUnavailable: limit,
      steps: [{ replicas: 1, pause: { duration: 1 } }, ...all],
      annotations: measuredPods,
      executors,
    })
    await drive(stage.clock, stage.simulator.nodes.kill('node-007'))
    await stage.pass(60_000)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    // One dead node of 20 costs no budget, unlike for the native controller.
    await untilNodesOn(stage, 'v2', 19, 300_000)
    await stage.until('it is Healthy', () => isHealthy(stage), 60_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(19)
    expect(mostDown(stage, sinceMs)).toBe(limit + 1)
    expect((await stage.rollout()).status?.skippedNodes).toEqual(['node-007'])
    expect(await condition(stage, 'StrategyRestored')).toMatchObject({ status: 'False', reason: 'NodesLeft' })
    await expectReported(stage, 'node-007')
    await drive(stage.clock, stage.simulator.nodes.revive('node-007'))
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it.each([1, 2, 3])('never stops while nothing blocks it, limit 1, late watches, seed %i (W9, G6)', async (seed) => {
    stage = await setStage({ nodes: 30, maxUnavailable: 1, steps: all, annotations: measuredPods, executors, seed, watchDelayMs: 700 })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 30, 180_000)
    // A bound pod takes up to 3 s to become Ready without any change, and each watch is up to 0.7 s late.
    expect(longestRest(stage, sinceMs, stage.clock.nowMs())).toBeLessThan(5_500)
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

const threeSteps = [{ replicas: '10%', pause: { duration: 0 } }, { replicas: '50%', pause: { duration: 0 } }, { replicas: '100%' }]

describe('a version that crashes', () => {
  it.each([
    { first: '10%', broken: 3 },
    { first: 1, broken: 1 },
  ])('breaks the $broken nodes of the first step, and status and message name them (W27, G3)', async ({ first, broken }) => {
    const steps = [{ replicas: first, pause: { duration: 0 } }, ...threeSteps.slice(1)]
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps, annotations: measuredPods })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2-bad-crash')
    await stage.pass(150_000)
    const hit = await nodesOn(stage, 'v2-bad-crash')
    expect(hit).toHaveLength(broken)
    expect(deleted(stage, sinceMs)).toHaveLength(broken)
    expect(mostDown(stage, sinceMs)).toBe(broken)
    await expectReported(stage, 'CrashLoopBackOff', ...hit)
    expect((await stage.release())?.status?.waiting).toMatchObject({ reason: 'ReleaseFailed', nodes: hit })
    await stage.setImage('v3')
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('is checked again when a timed pause ends, so canaries that crash in the pause stop the release (X19, W20, G6)', async () => {
    const steps = [{ replicas: '10%', pause: { duration: 30 } }, ...threeSteps.slice(1)]
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps, annotations: measuredPods })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2-bad-flap')
    await untilPausedAt(stage, 1)
    await stage.pass(600_000)
    const hit = await nodesOn(stage, 'v2-bad-flap')
    expect(hit).toHaveLength(3)
    expect(mostDown(stage, sinceMs)).toBe(3)
    expect((await stage.rollout()).status?.currentStepIndex).toBe(1)
    await expectReported(stage, 'CrashLoopBackOff', ...hit)
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    expectKept(stage)
  })

  it('stops in the step in which it crashes, if no pause gives it time to crash earlier (X19, W20, G3)', async () => {
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps: threeSteps, annotations: measuredPods })
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2-bad-flap')
    await stage.pass(120_000)
    // Step 1 ends before the first of its pods crashes, step 2 does not.
    expect((await stage.rollout()).status?.currentStepIndex).toBe(2)
    expect((await nodesOn(stage, 'v2-bad-flap')).length).toBeLessThanOrEqual(15)
    expect(mostDown(stage, sinceMs)).toBeLessThanOrEqual(15)
    await expectReported(stage, 'CrashLoopBackOff')
    expectKept(stage)
  })

  it('is caught in the first step by minReadySeconds longer than the time to its crash (X19, W20, W8)', async () => {
    stage = await setStage({ nodes: 30, maxUnavailable: 5, steps: threeSteps, annotations: measuredPods, minReadySeconds: 10 })
    await stage.pass(30_000)
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2-bad-flap')
    await stage.pass(300_000)
    expect(await nodesOn(stage, 'v2-bad-flap')).toHaveLength(3)
    expect(mostDown(stage, sinceMs, 10)).toBe(3)
    expectKept(stage)
  })
})
