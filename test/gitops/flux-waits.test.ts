import { afterEach, describe, expect, it } from 'vitest'
import { nodesOn, untilPausedAt, untilReleased } from '../scenarios/looks.ts'
import { setStage, type Stage, type StageOptions } from '../scenarios/stage.ts'
import { fluxLook } from './flux.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: 1, pause: {} }, { replicas: '100%' }]
/** How often the controller of Flux checks, in milliseconds. */
const LOOK_MS = 5_000

describe('the Kustomization of the example', () => {
  it.each<[string, NonNullable<StageOptions['admission']>]>([
    ['none', 'none'],
    ['policies', 'policy'],
  ])('waits from the apply of a template until its release has ended, with admission %s', async (_, admission) => {
    stage = await setStage({ nodes: 6, steps, admission, watchDelayMs: 200 })
    await stage.setImage('v2')
    const first = []
    for (let ms = 0; ms < 3_000; ms += 10) {
      first.push(await look())
      await stage.pass(10)
    }
    expect(new Set(first)).toEqual(new Set(['waits']))
    await untilPausedAt(stage, 1)
    expect(await look()).toBe('waits')
    await stage.approve()
    expect(await lookUntilItEnds()).toBe('succeeded')
    expect(await nodesOn(stage, 'v2')).toHaveLength(6)
    expect((await stage.rollout()).status?.phase).toBe('Healthy')
  })

  it('fails while a failed version is rolled back, and succeeds once the commit is reverted', async () => {
    stage = await setStage({ nodes: 6, steps, policy: { failure: { action: 'Rollback' } } })
    await stage.setImage('bad-crash')
    expect(await lookUntilItEnds()).toBe('failed')
    await untilReleased(stage, 'v1')
    expect(await look()).toBe('succeeded')
    await stage.setImage('bad-crash')
    expect(await lookUntilItEnds()).toBe('failed')
    await stage.setImage('v1')
    // The first check may come before the Rollout has observed the revert, and finds the failure; the next one follows after
    // `retryInterval`.
    await stage.pass(LOOK_MS)
    expect(await lookUntilItEnds()).toBe('succeeded')
  })

  it('does not fail if a commit is reverted in mid-release', async () => {
    stage = await setStage({ nodes: 6, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.setImage('v1')
    expect(await lookUntilItEnds()).toBe('succeeded')
    expect(await nodesOn(stage, 'v2')).toEqual([])
  })

  it('succeeds while a node is away, which is updated when it returns', async () => {
    stage = await setStage({ nodes: 6, steps: [{ replicas: '100%' }] })
    await stage.simulator.nodes.kill((await stage.pods())[0]?.spec?.nodeName ?? '')
    await stage.pass(60_000)
    await stage.setImage('v2')
    expect(await lookUntilItEnds()).toBe('succeeded')
    expect(await nodesOn(stage, 'v2')).toHaveLength(5)
  })

  it('succeeds without nodes', async () => {
    stage = await setStage({ nodes: 0, steps })
    await stage.setImage('v2')
    expect(await lookUntilItEnds()).toBe('succeeded')
  })
})

async function look(): Promise<ReturnType<typeof fluxLook>> {
  return fluxLook([await stage.rollout(), await stage.daemonSet()])
}

/** Checks as often as Flux does, from now on. */
async function lookUntilItEnds(): Promise<ReturnType<typeof fluxLook>> {
  for (let looks = 0; looks < 200; looks++) {
    const seen = await look()
    if (seen !== 'waits') return seen
    await stage.pass(LOOK_MS)
  }
  return 'waits'
}
