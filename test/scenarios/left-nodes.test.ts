import type { ReleasePolicySpec } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { ControllerRevision } from '@tranche/kube-types'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { breakPod } from './hands.ts'
import { killNodes } from './kill-nodes.ts'
import { condition, nodesOn, untilNodesOn } from './looks.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
let dead: readonly string[]

/** A release of v2 ends with two nodes left, which are dead, and on which no new pod can start. */
async function begin(admission?: StageOptions['admission']): Promise<void> {
  const steps = [{ replicas: 1, pause: { duration: 30 } }, { replicas: '100%' }]
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps, ...(admission !== undefined && { admission }) })
  dead = await killNodes(stage, 2)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await stage.until('the release is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
  for (const name of dead) await reachRegistry(name, false)
}

beforeEach(() => begin())
afterEach(() => stage.end())

it('a failure on a node that a release had left stops the update of the others, and the Rollout waits for a person (G9)', async () => {
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  const { status } = await stage.rollout()
  expect(status).toMatchObject({ phase: 'Healthy', failure: { nodes: [dead[0]], stops: true } })
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await stage.pass(10 * 60_000)
  expect(await nodesOn(stage, 'v1')).toEqual([dead[1]])
  expectKept(stage)
})

it('a retry updates them all the same', async () => {
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  for (const name of dead) await reachRegistry(name, true)
  await retry()
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await untilNodesOn(stage, 'v2', 20)
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
  expectKept(stage)
})

it('the template before is released after the failure like any other', async () => {
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  await stage.setImage('v1')
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await untilNodesOn(stage, 'v1', 20)
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
  expectKept(stage)
})

it('the dead nodes cost no budget in the next release after the status of the Rollout was lost (G1)', async () => {
  await loseStatus()
  await stage.pass(20_000)
  await stage.setImage('v3')
  await untilNodesOn(stage, 'v3', 18)
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  expectKept(stage)
})

it.each(['none', 'inProcess'] as const)(
  'a version that a failure on nodes left has stopped is not released again by a change that is undone at once (G12): admission %s',
  async (admission) => {
    await stage.end()
    await begin(admission)
    await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
    await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
    await stage.setImage('v3')
    await stage.setImage('v2')
    await stage.until('it is blocked', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    expect((await stage.rollout()).status?.heldRevisions).toMatchObject([{ reason: 'Failed' }])
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v1')).toEqual([dead[1]])
    expect((await condition(stage, 'Stalled'))?.reason).toBe('RevisionHeld')
    for (const name of dead) await reachRegistry(name, true)
    await retry()
    await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
    expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty('rollouts.kruise.io/in-progressing')
    expectKept(stage)
  },
)

it.each<[string, StageOptions['admission'], boolean]>([
  ['a failure that a retry accepted', 'none', true],
  ['a failure that a retry accepted', 'inProcess', true],
  ['no failure', 'inProcess', false],
])(
  'nodes left are updated on return after %s, although a change was undone at once (G6): admission %s',
  async (_what, admission, fails) => {
    await stage.end()
    await begin(admission)
    if (fails) {
      await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
      await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
      await retry()
      await stage.until('it is accepted', async () => (await condition(stage, 'Stalled'))?.status === 'False')
    }
    await stage.pass(20_000)
    const release = (await stage.release())?.spec.tranche?.release
    await stage.setImage('v3')
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect([(await stage.rollout()).status?.phase, (await stage.release())?.spec.tranche?.release]).toEqual(['Healthy', release])
    expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
    await reachRegistry(dead[1]!, true)
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await untilNodesOn(stage, 'v2', fails ? 20 : 19)
    expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty('rollouts.kruise.io/in-progressing')
    expectKept(stage)
  },
)

describe('a version that a failure on nodes left has stopped, and that another template replaced', () => {
  beforeEach(async () => {
    await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
    await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  })

  it('is not released again when Git puts it back during the release of undo (G12)', async () => {
    await stage.setImage('v1')
    await untilNodesOn(stage, 'v1', 4)
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    const running = await nodesOn(stage, 'v1')
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v1')).toEqual(expect.arrayContaining([...running, dead[1]]))
    expect((await condition(stage, 'Stalled'))?.message).toContain('to release it after all run tranche retry node-agent -n demo')
    await retry()
    for (const name of dead) await reachRegistry(name, true)
    await untilNodesOn(stage, 'v2', 20)
    expectKept(stage)
  })

  it('is stopped again by the next failure after a retry, and stays blocked for the template that replaces it then (G9, G12)', async () => {
    await stage.setImage('v1')
    await untilNodesOn(stage, 'v1', 4)
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    await retry()
    await stage.until('it runs', async () => (await condition(stage, 'Stalled'))?.reason !== 'RevisionHeld')
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await stage.until('it is stopped again', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
    expect((await stage.rollout()).status?.failure?.stops).toBe(true)
    await stage.setImage('v1')
    await stage.pass(30_000)
    await stage.setImage('v2')
    await stage.until('it is held again', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    expectKept(stage)
  })

  it('is not put back in place of itself by failure.onReapply: Revert, because it is the stable one', async () => {
    await usePolicy({ failure: { onReapply: 'Revert' } })
    await stage.setImage('v1')
    await untilNodesOn(stage, 'v1', 4)
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    await stage.pass(10 * 60_000)
    expect((await condition(stage, 'Stalled'))?.message).not.toContain('is put back')
    expect(await nodesOn(stage, 'v1')).not.toHaveLength(0)
    expectKept(stage)
  })

  it('is not released again when Git puts it back three seconds after undo, before anything is updated (G12)', async () => {
    await stage.setImage('v1')
    await stage.pass(3_000)
    await stage.setImage('v2')
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v1')).toContain(dead[1])
    expectKept(stage)
  })

  it.each<[string, () => Promise<unknown>]>([
    [
      'its BatchRelease was deleted at the same time',
      async () => {
        await drive(stage.clock, stage.client.delete(resourcePaths.batchReleases, stageKey, {}))
        await stage.setImage('v1')
      },
    ],
    [
      'its BatchRelease was deleted right after that',
      async () => {
        await stage.setImage('v1')
        await drive(stage.clock, stage.client.delete(resourcePaths.batchReleases, stageKey, {}))
      },
    ],
    [
      'the Rollout was disabled meanwhile',
      async () => {
        await stage.patchRollout({ spec: { disabled: true } })
        await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
        await stage.setImage('v1')
        await stage.pass(10_000)
        await stage.patchRollout({ spec: { disabled: false } })
      },
    ],
    [
      'the status of the Rollout was lost, and the template replaced at once',
      async () => {
        await loseStatus()
        await stage.setImage('v1')
      },
    ],
    [
      'the status of the Rollout was lost before',
      async () => {
        await loseStatus()
        await stage.pass(3_000)
        await stage.setImage('v1')
      },
    ],
    [
      'the template was replaced, and the status of the Rollout lost at once',
      async () => {
        await stage.setImage('v1')
        await loseStatus()
      },
    ],
    [
      'the status of the Rollout was lost while it was disabled',
      async () => {
        await stage.patchRollout({ spec: { disabled: true } })
        await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
        await loseStatus()
        await stage.setImage('v1')
        await stage.pass(10_000)
        await stage.patchRollout({ spec: { disabled: false } })
      },
    ],
    [
      'the Rollout was disabled and the template replaced at once',
      async () => {
        await stage.setImage('v1')
        await stage.patchRollout({ spec: { disabled: true } })
        await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
        await stage.patchRollout({ spec: { disabled: false } })
      },
    ],
    [
      'its ControllerRevision was deleted',
      async () => {
        const { status } = await stage.rollout()
        await stage.setImage('v1')
        const path = { group: 'apps', version: 'v1', plural: 'controllerrevisions', namespaced: true }
        const { items } = await stage.client.list<ControllerRevision>(path, { namespace: stageKey.namespace })
        const name = items.find(({ metadata }) => metadata.labels?.['controller-revision-hash'] === status?.stableRevision)!.metadata.name
        await stage.client.delete(path, { namespace: stageKey.namespace, name })
      },
    ],
  ])('is not released again though %s (G12)', async (_what, replace) => {
    await replace()
    await stage.pass(10_000)
    await stage.setImage('v2')
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v1')).toContain(dead[1])
  })

  it('is not released again after the release of undo has ended (G12)', async () => {
    await stage.setImage('v1')
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await untilNodesOn(stage, 'v1', 20)
    await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    await stage.pass(10 * 60_000)
    expect(await nodesOn(stage, 'v1')).toHaveLength(20)
    expectKept(stage)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['an abort', () => act({ id: 'back', type: 'abort' })],
    [
      'an abort during a pause',
      async () => {
        await stage.patchRollout({ spec: { strategy: { paused: true } } })
        await act({ id: 'back', type: 'abort' })
        await stage.pass(30_000)
        await stage.patchRollout({ spec: { strategy: { paused: false } } })
      },
    ],
  ])('is what %s of the next release returns to', async (_what, abort) => {
    await stage.setImage('v3')
    await untilNodesOn(stage, 'v3', 1)
    await abort()
    for (const name of dead) await reachRegistry(name, true)
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await untilNodesOn(stage, 'v2', 20)
    expect((await stage.rollout()).status?.heldRevisions).toHaveLength(1)
    expectKept(stage)
  })

  it('is what a rollback by the policy returns to', async () => {
    await usePolicy({ failure: { action: 'Rollback' } })
    for (const name of dead) await reachRegistry(name, true)
    await untilNodesOn(stage, 'v2', 19)
    await stage.pass(30_000)
    await stage.setImage('v3-bad-crash')
    await stage.until(
      'it is rolled back',
      async () => (await stage.rollout()).status?.heldRevisions?.some(({ reason, reverted }) => reason === 'Failed' && reverted) === true,
    )
    await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
    await untilNodesOn(stage, 'v2', 20)
    expectKept(stage)
  })
})

it.each<[string, () => Promise<unknown>]>([
  [
    'the Rollout was disabled and enabled',
    async () => {
      await stage.patchRollout({ spec: { disabled: true } })
      await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
      await stage.pass(10_000)
      await stage.patchRollout({ spec: { disabled: false } })
    },
  ],
  ['another client deleted the BatchRelease', () => drive(stage.clock, stage.client.delete(resourcePaths.batchReleases, stageKey, {}))],
])('a failure on a node that a release had left is not forgotten because %s (G9)', async (_what, happen) => {
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  await happen()
  await stage.pass(60_000)
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await stage.pass(10 * 60_000)
  expect(await nodesOn(stage, 'v1')).toEqual([dead[1]])
  const stalled = await condition(stage, 'Stalled')
  expect([stalled?.reason, stalled?.message]).toEqual(['ReleaseFailed', expect.stringContaining('tranche undo node-agent -n demo')])
  expectKept(stage)
})

it('all is given back once the last node left has failed and recovered (G6)', async () => {
  await reachRegistry(dead[1]!, true)
  await drive(stage.clock, stage.simulator.nodes.revive(dead[1]!))
  await untilNodesOn(stage, 'v2', 19)
  await drive(stage.clock, stage.simulator.nodes.revive(dead[0]!))
  await stage.until('the failure is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  await reachRegistry(dead[0]!, true)
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True')
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
  expectKept(stage)
})

it('all is given back beside a node that crashes after the end of its release (G6)', async () => {
  await stage.pass(60_000)
  const [other] = (await stage.pods()).filter(({ spec }) => !dead.includes(spec?.nodeName ?? ''))
  await breakPod(stage, other!)
  for (const name of dead) await reachRegistry(name, true)
  for (const name of dead) await drive(stage.clock, stage.simulator.nodes.revive(name))
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True', 30 * 60_000)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'False' })
})

async function usePolicy(spec: ReleasePolicySpec): Promise<void> {
  const body = { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: { namespace: 'demo', name: 'mine' }, spec }
  await stage.client.create(resourcePaths.releasePolicies, body as never)
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/release-policy': 'mine' } } })
}

function retry(): Promise<unknown> {
  return act({ id: 'on', type: 'retry' })
}

function act(action: object): Promise<unknown> {
  return stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
}

/** Removes the status of the Rollout, as a restored backup does. */
async function loseStatus(): Promise<void> {
  const body = [{ op: 'remove' as const, path: '/status' }]
  await stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'json', body }, { subresource: 'status' })
}

async function reachRegistry(name: string, reaches: boolean): Promise<void> {
  const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': reaches ? null : 'true' } } }
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body })
}
