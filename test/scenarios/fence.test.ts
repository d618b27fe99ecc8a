import { afterEach, expect, it } from 'vitest'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import type { WireRequest } from '@tranche/wire'
import { deletions, expectKept } from './expect-kept.ts'
import { breakPod } from './hands.ts'
import { condition, nodesOn, runs, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { loseRecord, removeRelease } from './lose-release.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '30%', pause: {} }, { replicas: '100%' }]
const isDelete = ({ method, path }: WireRequest): boolean => method === 'DELETE' && path.includes('/pods/')

it('the executor deletes nothing until the DaemonSet controller has observed the change (F1, G4)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  const heal = stage.disturb({
    onRequest: ({ actor, resource }) =>
      actor === 'daemonset-controller' && resource.resource !== 'pods' ? { kind: 'cut', when: 'before' } : undefined,
  })
  await stage.setImage('v3')
  await stage.pass(200)
  const deleted = deletions(stage)
  await stage.pass(120_000)
  expect(deletions(stage)).toBe(deleted)
  heal()
  // The controller has failed often, and tries again only after a long time.
  await stage.pass(1_000_000)
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('the executor deletes nothing while another client has paused the DaemonSet, until the controller removes the annotation (F1)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  stage.program('controller-1').process.cutOff()
  await stage.patchDaemonSet({ metadata: { annotations: { [keys.paused]: 'true' } } })
  await stage.pass(200)
  const deleted = deletions(stage)
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(deleted)
  stage.program('controller-1').process.reconnect()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('every guarantee holds when the record is lost while an executor is frozen before its DELETE (F11)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, executors: ['executor-1', 'executor-2'] })
  const { process } = stage.program('executor-1')
  process.freezeBefore(isDelete)
  await stage.setImage('v2')
  await stage.until('the first executor is frozen', () => process.isFrozen())
  const uid = (await stage.release())?.metadata.uid
  await removeRelease(stage)
  await stage.until('another BatchRelease is in charge', async () => {
    const release = await stage.release()
    return release !== undefined && release.metadata.uid !== uid && release.status?.flight?.state === 'open'
  })
  process.thaw()
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, 'v2')).toHaveLength(6)
  await stage.approve()
  await untilReleased(stage, 'v2')
})

it('a pause is acknowledged when nothing more can be deleted, though the BatchRelease was removed with its finalizer (F11, G9)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps })
  const { process } = stage.program('executor-1')
  process.freezeBefore(isDelete)
  await stage.setImage('v2')
  await stage.until('the executor is frozen', () => process.isFrozen())
  stage.program('controller-1').process.cutOff()
  await removeRelease(stage)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  stage.program('controller-1').process.reconnect()
  await stage.until('the pause is acknowledged', async () => (await condition(stage, 'Progressing'))?.reason === 'Paused')
  const deleted = deletions(stage)
  process.thaw()
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(deleted)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilPausedAt(stage, 1)
  expectKept(stage)
})

it.each([
  ['the record is lost', loseRecord],
  ['the BatchRelease is removed with its finalizer', removeRelease],
])('a node with a bad pod of a superseded version stays in flight when %s (F11, G2)', async (_what, lose) => {
  stage = await setStage({ nodes: 4, maxUnavailable: 1, steps: [{ replicas: '100%' }] })
  await stage.setImage('bad-pull')
  await untilNodesOn(stage, 'bad-pull', 1)
  const [node = ''] = await nodesOn(stage, 'bad-pull')
  await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.pass(60_000)
  for (const pod of (await stage.pods()).filter((one) => runs(one, 'v1')).slice(0, 2)) await breakPod(stage, pod)
  await stage.setImage('v3')
  await stage.pass(10_000)
  await lose(stage)
  await stage.pass(60_000)
  await drive(stage.clock, stage.simulator.nodes.revive(node))
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('the controller sets RollingUpdate back to OnDelete in mid-release, and counts leaked nodes (G11)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 2, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
  await stage.until('it is OnDelete again', async () => (await stage.daemonSet()).spec.updateStrategy?.type === 'OnDelete')
  await stage.pass(60_000)
  expect((await nodesOn(stage, 'v2')).length).toBeLessThan(12)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})
