import { afterEach, expect, it } from 'vitest'
import { daemonSetAnnotations as keys } from '@tranche/kube-types'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '30%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]

it('a version that never becomes available is rolled back without a pause, and only its pods are replaced (G2, G5, G6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 3, steps })
  await stage.setImage('v2-bad-crash')
  await untilNodesOn(stage, 'v2-bad-crash', 3)
  await stage.pass(30_000)
  const before = deletions(stage)
  await stage.setImage('v1')
  await stage.until('it is cancelling', async () => (await condition(stage, 'Progressing'))?.reason === 'Cancelling')
  expect((await stage.rollout()).status).toMatchObject({ phase: 'Progressing', canaryStatus: { currentStepState: 'StepUpgrade' } })
  await untilReleased(stage, 'v1')
  expect(deletions(stage) - before).toBe(3)
  expect(await condition(stage, 'Succeeded')).toMatchObject({ status: 'False', message: expect.stringContaining('was rolled back') })
  expectKept(stage)
})

it('a release that changes direction twice ends on the last requested version (G6)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
  const [stable] = new Set((await stage.pods()).map(({ metadata }) => metadata.labels?.['controller-revision-hash']))
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.setImage('v1')
  await stage.until('it is rolled back', async () => (await stage.rollout()).status?.rollbackFrom !== undefined)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect((await stage.rollout()).status?.canaryStatus?.stableRevision).toBe(stable)
  expect(await nodesOn(stage, 'v2')).toHaveLength(3)
  expect((await stage.daemonSet()).metadata.annotations?.[keys.stableRevision]).toBe(stable)
  await stage.approve()
  await untilPausedAt(stage, 2)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(await condition(stage, 'Succeeded')).toMatchObject({ status: 'True' })
  expectKept(stage)
})
