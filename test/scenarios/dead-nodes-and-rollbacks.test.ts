import { resourcePaths } from '@tranche/kube-client'
import { afterEach, expect, it } from 'vitest'
import { condition, nodesOn, untilNodesOn, untilPausedAt } from './looks.ts'
import { expectKept } from './expect-kept.ts'
import { breakPod } from './hands.ts'
import { deletePodsOn, killNodes } from './kill-nodes.ts'
import { loseRecord, removeRelease } from './lose-release.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

it('a dead node whose pod another client deleted does not stop the first step of a release (G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
  const dead = await killNodes(stage, 1)
  await stage.pass(60_000)
  await deletePodsOn(stage, dead)
  await stage.pass(5 * 60_000)
  await stage.setImage('v2')
  await stage.pass(10 * 60_000)
  const waiting = (await stage.release())?.status?.waiting
  expect([waiting?.reason, (await nodesOn(stage, 'v2')).length]).toEqual([undefined, 1])
})

it('dead nodes on the stable version do not stop a rollback in mid-release (G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  await killNodes(stage, 2)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 10)
  await stage.setImage('v1')
  await stage.pass(10 * 60_000)
  const { status } = (await stage.release()) ?? {}
  expect([status?.waiting?.reason, status?.waiting?.message, (await nodesOn(stage, 'v2')).length]).toEqual([undefined, undefined, 0])
})

it('nodes that stay dead do not stop a release of the version that they run, after another one completed (G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  await killNodes(stage, 2)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 18)
  await stage.until('the release is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
  await stage.setImage('v1')
  await stage.pass(10 * 60_000)
  const { status } = (await stage.release()) ?? {}
  expect([status?.waiting?.reason, status?.waiting?.message, (await nodesOn(stage, 'v2')).length]).toEqual([undefined, undefined, 0])
})

it('a rollback ends beside dead nodes that have run the stable version all along (G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  await killNodes(stage, 2)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 10)
  await stage.setImage('v1')
  await stage.until('all are back', async () => (await nodesOn(stage, 'v2')).length === 0, 20 * 60_000)
  await stage.pass(10 * 60_000)
  const { status } = await stage.rollout()
  expect([status?.phase, status?.message]).toEqual(['Healthy', expect.anything()])
})

it('all is given back beside a node that crashes after the end of a rollback (G6)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 5, steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 10)
  const stable = await nodesOn(stage, 'v1')
  const dead = (await nodesOn(stage, 'v2')).slice(0, 2)
  for (const node of dead) await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.pass(60_000)
  await stage.setImage('v1')
  await stage.until('it is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft', 30 * 60_000)
  expect((await stage.rollout()).status?.rollbackFrom).toBeDefined()
  await stage.pass(60_000)
  const other = (await stage.pods()).find(({ spec }) => stable.includes(spec?.nodeName ?? ''))
  await breakPod(stage, other!)
  for (const node of dead) await drive(stage.clock, stage.simulator.nodes.revive(node))
  await stage.until('all is given back', async () => (await condition(stage, 'StrategyRestored'))?.status === 'True', 30 * 60_000)
  expectKept(stage)
})

it('a new Rollout finishes a native update that dead nodes stopped (G6)', async () => {
  const steps = [{ replicas: '100%' }]
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 12)
  const old = (await nodesOn(stage, 'v1')).slice(-2)
  for (const node of old) await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.pass(10 * 60_000)
  const before = (await nodesOn(stage, 'v2')).length
  expect(before).toBeLessThan(18)
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
  await stage.pass(10 * 60_000)
  const { status } = (await stage.release()) ?? {}
  expect([status?.waiting, (await nodesOn(stage, 'v2')).length]).toEqual([undefined, 18])
})

it('a node that a release took down counts, though the Rollout was deleted in mid-release and created again (G1)', async () => {
  await deleteInMidRelease(60_000)
  await stage.setImage('v3')
  await stage.pass(10 * 60_000)
  expectKept(stage)
  expect(await nodesOn(stage, 'v3')).toEqual([])
})

it('a release that waits for a dead node in flight of an earlier one names it (G6)', async () => {
  const taken = await deleteInMidRelease(0)
  await stage.setImage('v3')
  await stage.pass(10 * 60_000)
  const { status } = (await stage.release()) ?? {}
  expect(await nodesOn(stage, 'v3')).toEqual([])
  expect(status?.flight?.permits.map(({ node }) => node)).toContain(taken)
  expect(status?.waiting?.message).toContain(taken)
})

/** v2 takes a node down; the Rollout is deleted, v1 comes back, and a new Rollout comes to rest. */
async function deleteInMidRelease(afterMs: number): Promise<string> {
  const steps = [{ replicas: 1, pause: {} }, { replicas: '100%' }]
  stage = await setStage({ nodes: 20, maxUnavailable: 1, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 1)
  const [taken = ''] = await nodesOn(stage, 'v2')
  await stage.pass(afterMs)
  await drive(stage.clock, stage.simulator.nodes.kill(taken))
  await stage.pass(60_000)
  await stage.client.delete(resourcePaths.rollouts, stageKey)
  await stage.pass(60_000)
  await stage.setImage('v1')
  await stage.pass(60_000)
  await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
  await stage.pass(5 * 60_000)
  return taken
}

it('a batch waits for a dead node whose pod another client deleted, where the policy says Wait', async () => {
  const policy = { nodes: { notReady: { action: 'Wait' } } } as const
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy })
  const dead = await killNodes(stage, 1)
  await stage.pass(60_000)
  await deletePodsOn(stage, dead)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 9)
  await stage.pass(5 * 60_000)
  expect((await stage.rollout()).status?.phase).toBe('Progressing')
})

it.each([
  ['', async () => {}],
  [' of a BatchRelease that was deleted in the step', ({ client }: Stage) => client.delete(resourcePaths.batchReleases, stageKey)],
  [' of a BatchRelease that was removed with its finalizer', removeRelease],
  [' whose record was lost', loseRecord],
] as const)(
  'a node that a rollback in batches%s has updated and that then dies makes no room for another one (G3)',
  async (_title, disturb) => {
    stage = await setStage({ nodes: 7, maxUnavailable: 7, steps: [{ replicas: '74%', pause: {} }, { replicas: '100%' }] })
    await stage.patchRollout({ metadata: { annotations: { 'rollouts.kruise.io/rollback-in-batch': 'true' } } })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 6)
    await stage.until('step 1 waits', async () => (await stage.rollout()).status?.currentStepState === 'StepPaused')
    await stage.approve()
    await untilNodesOn(stage, 'v2', 7)
    await stage.setImage('v1')
    await untilNodesOn(stage, 'v1', 6)
    await stage.until('step 1 of the rollback waits', async () => (await stage.rollout()).status?.currentStepState === 'StepPaused')
    await disturb(stage)
    await stage.pass(60_000)
    const [dies] = await nodesOn(stage, 'v1')
    await drive(stage.clock, stage.simulator.nodes.kill(dies!))
    await stage.pass(10 * 60_000)
    expect((await nodesOn(stage, 'v2')).length).toBe(1)
  },
)

it('the first step of an undo updates a node of its own, though a dead node left has run that version before (G3)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
  await killNodes(stage, 1)
  await stage.pass(60_000)
  await releaseInSteps('v2', 19)
  const [dies] = await nodesOn(stage, 'v2')
  await drive(stage.clock, stage.simulator.nodes.kill(dies!))
  await stage.pass(60_000)
  await releaseInSteps('v3', 18)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toEqual([dies, expect.anything()])
  expectKept(stage)
})

/** The first step waits for an approval, and the release ends with this number of nodes on the version. */
async function releaseInSteps(version: string, nodes: number): Promise<void> {
  await stage.setImage(version)
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilNodesOn(stage, version, nodes)
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  await stage.pass(20_000)
}

it('a version released again by a retry names the dead node that keeps its step waiting, and a jump leads past it', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 3, steps: [{ replicas: 1, pause: { duration: 10 } }, { replicas: '100%' }] })
  const [far = ''] = await killNodes(stage, 1)
  await stage.pass(60_000)
  await release('v2', 7)
  // The version that the dead node runs fails on another one, and is blocked.
  await stage.setImage('v1')
  await untilNodesOn(stage, 'v1', 2)
  const [, taken] = (await nodesOn(stage, 'v1')).toSorted((a) => (a === far ? -1 : 1))
  const { metadata } = (await stage.pods()).find(({ spec }) => spec?.nodeName === taken)!
  const containerStatuses = [{ name: 'agent', restartCount: 0, ready: false, state: { waiting: { reason: 'CreateContainerError' } } }]
  const body = { status: { containerStatuses } }
  await stage.client.patch(resourcePaths.pods, { ...stageKey, name: metadata.name }, { type: 'merge', body }, { subresource: 'status' })
  await stage.until('it fails', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  await release('v3', 7)
  await stage.setImage('v1')
  await stage.until('held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
  await act({ id: 'again', type: 'retry' })
  await stage.pass(30 * 60_000)
  const { message } = (await stage.rollout()).status!
  expect(message).toContain(`not ready on ${far}; ${far} ran the version before the release, so the version has not failed`)
  expect(message).toContain('or jump to a later step, or abort')
  await act({ id: 'past', type: 'jump', expectedStep: 1, step: 2 })
  await untilNodesOn(stage, 'v1', 8)
  expectKept(stage)
})

/** The release ends with this number of nodes on the version. */
async function release(version: string, nodes: number): Promise<void> {
  await stage.setImage(version)
  await untilNodesOn(stage, version, nodes)
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  await stage.pass(20_000)
}

async function act(action: object): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
}
