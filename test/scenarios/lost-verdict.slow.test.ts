import type { ReleasePolicy, RolloutAction } from '@tranche/api-schema'
import { type Lease, rolloutAnnotations } from '@tranche/kube-types'
import { resourcePaths } from '@tranche/kube-client'
import { afterEach, expect, it } from 'vitest'
import { nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { metricsOf } from './metrics.ts'
import { setStage, type Stage } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

/** A verdict outlasts the BatchRelease that reached it (G7, G8). */

let stage: Stage
afterEach(() => stage.end())

type Analysis = NonNullable<ReleasePolicy['spec']['analysis']>[number]
const errors: Analysis = {
  name: 'errors',
  prometheus: { address: 'http://prometheus.example:9090', query: 'errors' },
  successCondition: 'result[0] < 0.05',
  failureCondition: 'result[0] > 0.5',
  interval: '10s',
}

it.each([
  ['of a step', { ...errors, count: 3 }],
  ['in the background', { ...errors, background: true }],
])('a failed analysis %s still stops its release after a client deleted the BatchRelease, until a retry', async (_which, analysis) => {
  const metrics = metricsOf(0.9)
  const steps = [{ replicas: '25%', pause: { duration: 30 } }, { replicas: '100%' }]
  stage = await setStage({ nodes: 4, steps, policy: { analysis: [analysis] }, egress: (clock) => metrics.egress(clock) })
  await stage.setImage('v2')
  await untilFailed()
  metrics.value = 0.01
  await stage.client.delete(resourcePaths.batchReleases, stageKey)
  await stage.pass(300_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(1)
  expect(await stalledReason()).toBe('ReleaseFailed')
  await act({ id: 'again', type: 'retry' })
  await untilReleased(stage, 'v2')
})

it('a failed analysis outlasts a policy that cannot be found for a while, and ends with a policy that measures nothing', async () => {
  const metrics = metricsOf(0.9)
  const steps = [{ replicas: '25%', pause: { duration: 30 } }, { replicas: '100%' }]
  stage = await setStage({ nodes: 4, steps, policy: { analysis: [{ ...errors, count: 3 }] }, egress: (clock) => metrics.egress(clock) })
  await stage.setImage('v2')
  await untilFailed()
  metrics.value = 0.01
  await stage.client.delete(resourcePaths.batchReleases, stageKey)
  await stage.pass(60_000)
  await usePolicy('none-such')
  await stage.until('the policy is missed', async () => (await stalledReason()) === 'PolicyNotFound')
  await usePolicy(policyKey.name)
  await untilFailed()
  expect(await nodesOn(stage, 'v2')).toHaveLength(1)
  await stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: { analysis: null } } })
  await untilReleased(stage, 'v2')
})

it('a version whose pods failed and then became Ready stays stopped after a client deleted the BatchRelease, and can be aborted', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '25%', pause: { duration: 30 } }, { replicas: '100%' }] })
  await stage.setImage('v2-bad-heals')
  await untilFailed()
  await stage.pass(1_800_000)
  const before = await nodesOn(stage, 'v2-bad-heals')
  await stage.client.delete(resourcePaths.batchReleases, stageKey)
  await stage.pass(1_800_000)
  expect(await nodesOn(stage, 'v2-bad-heals')).toEqual(before)
  expect(await stalledReason()).toBe('ReleaseFailed')
  await act({ id: 'back', type: 'abort' })
  await stage.until('every node is back', async () => (await nodesOn(stage, 'v1')).length === 8, 600_000)
})

it('a verdict outlasts the deletion of the BatchRelease that a frozen leader sends an hour late', async () => {
  const metrics = metricsOf(0.01)
  stage = await setStage({
    nodes: 8,
    maxUnavailable: 2,
    steps: [{ replicas: '25%', pause: {} }, { replicas: '50%', pause: { duration: 30 } }, { replicas: '100%' }],
    policy: { analysis: [{ ...errors, background: true }] },
    controllers: ['controller-1', 'controller-2'],
    egress: (clock) => metrics.egress(clock),
  })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const { process } = stage.program(await leader())
  process.freezeBefore(({ method, path }) => method === 'DELETE' && path.includes('/batchreleases/'))
  await stage.patchRollout({ spec: { disabled: true } })
  await stage.until('the leader is frozen', () => process.isFrozen())
  await stage.patchRollout({ spec: { disabled: false } })
  await stage.pass(60_000)
  await stage.approve()
  metrics.value = 0.9
  await untilFailed()
  await stage.pass(3_000_000)
  metrics.value = 0.01
  const before = await nodesOn(stage, 'v2')
  process.thaw()
  await stage.pass(600_000)
  expect(await nodesOn(stage, 'v2')).toEqual(before)
  expect(await stalledReason()).toBe('ReleaseFailed')
})

async function act(action: Pick<RolloutAction, 'id' | 'type'>): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: JSON.stringify(action) } } })
}

async function usePolicy(name: string): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.releasePolicy]: name } } })
}

async function untilFailed(): Promise<void> {
  await stage.until('the release has failed', async () => (await stalledReason()) === 'ReleaseFailed', 3_600_000)
}

async function stalledReason(): Promise<string | undefined> {
  const { conditions = [] } = (await stage.rollout()).status ?? {}
  return conditions.find(({ type, status }) => type === 'Stalled' && status === 'True')?.reason
}

async function leader(): Promise<string> {
  const lease = await stage.client.get<Lease>(resourcePaths.leases, { namespace: 'kube-system', name: 'tranche-controller' })
  return lease.spec?.holderIdentity ?? ''
}
