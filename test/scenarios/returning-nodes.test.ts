import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: 1, pause: {} }, { replicas: '100%' }]
const pool = Array.from({ length: 10 }, (_, at) => `node-${String(at + 11).padStart(3, '0')}`)

const everyNode = Array.from({ length: 20 }, (_, at) => `node-${String(at + 1).padStart(3, '0')}`)

/** Taints a pool of nodes so that the DaemonSet no longer needs them, or removes the taints. Running pods stay. */
async function setTaint(taints: readonly object[], names = pool): Promise<void> {
  await Promise.all(
    names.map((name) =>
      stage.client.patch(resourcePaths.nodes, { name } as never, {
        type: 'merge',
        body: { spec: { taints: taints.length === 0 ? null : taints } },
      }),
    ),
  )
}

describe('nodes with an old pod that become desired again in a paused step do not enlarge it (G3)', () => {
  it('while the controller is dead, during the hand-over to the next one, and until the approval', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, tolerations: [] })
    await setTaint([{ key: 'dedicated', value: 'other', effect: 'NoSchedule' }])
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
    stage.program('controller-1').kill()
    await setTaint([])
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
    await stage.startController('controller-2')
    await stage.pass(60_000)
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect(await nodesOn(stage, 'v2')).toHaveLength(20)
    expectKept(stage)
  })

  it('while the controller runs', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, watchDelayMs: 1_000, tolerations: [] })
    await setTaint([{ key: 'dedicated', value: 'other', effect: 'NoSchedule' }])
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await setTaint([])
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
    expectKept(stage)
  })

  it.each([
    { what: 'a pause for a person in the only step', only: [{ replicas: '10%', pause: {} }] },
    { what: 'a pause for a person in the first of two steps', only: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] },
    { what: 'a pause of an hour in the only step', only: [{ replicas: 2, pause: { duration: 3_600 } }] },
  ])('if no node was desired when the release started: $what', async ({ only }) => {
    stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: only, tolerations: [] })
    const taint = { key: 'dedicated', value: 'other', effect: 'NoSchedule' }
    await setTaint([taint], everyNode)
    await stage.setImage('v2')
    await stage.pass(60_000)
    await setTaint([], everyNode)
    await stage.pass(120_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(2)
    expectKept(stage)
  })

  it('if only one node was desired: the only step of one tenth does not pass as one of all', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '10%', pause: {} }], tolerations: [] })
    const taint = { key: 'dedicated', value: 'other', effect: 'NoSchedule' }
    await setTaint([taint], everyNode.slice(1))
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await setTaint([], everyNode.slice(1))
    await stage.pass(120_000)
    expect(await nodesOn(stage, 'v2')).toHaveLength(2)
    expectKept(stage)
  })
})
