import type { ReleasePolicy, RolloutAction } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { rolloutAnnotations } from '@tranche/kube-types'
import { afterEach, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { metricsOf } from './metrics.ts'
import { setStage, type Stage, type StageOptions } from './stage.ts'
import { policyKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

type Analysis = NonNullable<ReleasePolicy['spec']['analysis']>[number]

const pausing = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const errors: Analysis = {
  name: 'errors',
  prometheus: { address: 'http://prometheus.example:9090', query: 'errors{revision="{{canaryRevision}}",node=~"{{nodes}}"}' },
  successCondition: 'result[0] < 0.05',
  failureCondition: 'result[0] > 0.5',
  interval: '10s',
  count: 3,
}

it('an analysis starts after the soak of each step, and the step waits for it', async () => {
  const metrics = metricsOf(0.01)
  stage = await staged(metrics, { analysis: [errors], soak: { step: '1m' } })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  await stage.pass(55_000)
  expect(metrics.asked).toEqual([])
  await stage.until('the first measurement is made', () => metrics.asked.length === 1)
  expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepState: 'StepMetricsAnalysis' })
  const { canaryRevision = '' } = (await stage.rollout()).status?.canaryStatus ?? {}
  const query = new URL(metrics.asked[0]?.url ?? '').searchParams.get('query')
  expect(query).toBe(`errors{revision="${canaryRevision}",node=~"${(await nodesOn(stage, 'v2')).join('|')}"}`)
  await untilPausedAt(stage, 1)
  expect(metrics.asked).toHaveLength(3)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(metrics.asked).toHaveLength(6)
  expect((await events(stage)).filter(({ reason }) => reason === 'AnalysisSuccessful')).toHaveLength(2)
  expectKept(stage)
})

it.each([
  ['the end of its pause', { duration: 300 }],
  ['its approval', {}],
])('a step whose analysis is changed in its pause continues after %s only once the changed one has succeeded', async (_what, pause) => {
  const metrics = metricsOf(0.01)
  stage = await staged(metrics, { analysis: [errors] }, { steps: [{ replicas: '25%', pause }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.pass(200_000)
  const corrected = { ...errors, initialDelay: '5m', prometheus: { ...errors.prometheus, query: 'corrected' } }
  await stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: { analysis: [corrected] } } })
  await stage.pass(20_000)
  if (!('duration' in pause)) await stage.approve()
  await stage.pass(120_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(1)
  expect((await stage.rollout()).status).toMatchObject({ waitingFor: { reason: 'Analysis' } })
  await untilReleased(stage, 'v2')
  expect(metrics.asked.filter(({ url }) => url.includes('corrected'))).toHaveLength(6)
  expectKept(stage)
})

it('a step whose analyses a retry restarts in its pause continues only once they have succeeded', async () => {
  const metrics = metricsOf(0.01)
  const steps = [{ replicas: '25%', pause: { duration: 300 } }, { replicas: '100%' }]
  stage = await staged(
    metrics,
    {
      analysis: [
        { ...errors, initialDelay: '30s' },
        { name: 'background', ...background() },
      ],
    },
    { steps },
  )
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  metrics.value = 0.9
  await untilStalled('ReleaseFailed')
  await stage.pass(350_000)
  metrics.value = 0.01
  await act({ id: 'again', type: 'retry' })
  await stage.pass(20_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(1)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a failed background analysis stops the release in mid-batch, and a retry measures again', async () => {
  const metrics = metricsOf(0.01)
  stage = await staged(metrics, { analysis: [{ name: 'background', ...background() }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  metrics.value = 0.9
  await untilStalled('ReleaseFailed')
  const before = await nodesOn(stage, 'v2')
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toEqual(before)
  expect((await stage.rollout()).status?.message).toContain('analysis background in the background failed')
  metrics.value = 0.01
  await act({ id: 'again', type: 'retry' })
  await stage.until('it continues', async () => (await stalledReason()) === undefined)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a failed analysis rolls the release back if the policy says so, and the rollback is not measured', async () => {
  const metrics = metricsOf(0.9)
  stage = await staged(metrics, { analysis: [errors], failure: { action: 'Rollback' } })
  await stage.setImage('v2')
  await stage.until('the stable version is everywhere', async () => metrics.asked.length > 0 && (await nodesOn(stage, 'v1')).length === 4)
  expect(metrics.asked).toHaveLength(1)
  expect((await stage.rollout()).status?.heldRevisions).toMatchObject([{ reason: 'Failed' }])
  expectKept(stage)
})

it('an inconclusive analysis stops the release until a user promotes it in full', async () => {
  const metrics = metricsOf(0.2)
  stage = await staged(metrics, { analysis: [errors] })
  await stage.setImage('v2')
  await untilStalled('AnalysisInconclusive')
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toHaveLength(2)
  await act({ id: 'anyway', type: 'promote', full: true })
  await untilReleased(stage, 'v2')
  expect(metrics.asked).toHaveLength(1)
})

it('a metric system that does not answer stops the release, which waits for a person', async () => {
  const metrics = metricsOf(null)
  stage = await staged(metrics, { analysis: [errors] })
  await stage.setImage('v2')
  await untilStalled('AnalysisInconclusive')
  expect(metrics.asked).toHaveLength(5)
  expect((await stage.rollout()).status?.message).toContain('prometheus.example did not answer within 10000 ms')
  expect((await events(stage)).filter(({ reason }) => reason === 'AnalysisInconclusive')).toHaveLength(1)
})

it('a dry run is measured and shown, and decides nothing', async () => {
  const metrics = metricsOf(0.9)
  stage = await staged(metrics, { analysis: [{ ...errors, dryRun: true }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.until('it has failed', async () => (await stage.release())?.status?.analysis?.[0]?.phase === 'Failed')
  await stage.approve()
  await untilReleased(stage, 'v2')
})

it('the next leader continues the measurements of the previous one, and none is lost or counted twice (G7)', async () => {
  const metrics = metricsOf(0.01)
  stage = await staged(metrics, { analysis: [errors] }, { controllers: ['controller-1', 'controller-2'] })
  await stage.setImage('v2')
  await stage.until('two measurements are written', async () => (await stage.release())?.status?.analysis?.[0]?.successful === 2)
  stage.program('controller-1').kill()
  stage.program('controller-1').process.cutOff()
  await untilPausedAt(stage, 1)
  expect((await stage.release())?.status?.analysis).toMatchObject([{ phase: 'Successful', successful: 3, failed: 0, errors: 0 }])
  expectKept(stage)
})

function background(): Omit<Analysis, 'name'> {
  const { name: _name, count: _count, ...rest } = errors
  return { ...rest, background: true }
}

async function staged(
  metrics: ReturnType<typeof metricsOf>,
  policy: ReleasePolicy['spec'],
  others: Pick<StageOptions, 'controllers' | 'steps'> = {},
): Promise<Stage> {
  const egress = (clock: Parameters<typeof metrics.egress>[0]): ReturnType<typeof metrics.egress> => metrics.egress(clock)
  return setStage({ nodes: 4, steps: pausing, policy, egress, ...others })
}

async function stalledReason(): Promise<string | undefined> {
  const { conditions = [] } = (await stage.rollout()).status ?? {}
  return conditions.find(({ type, status }) => type === 'Stalled' && status === 'True')?.reason
}

function untilStalled(reason: string): Promise<void> {
  return stage.until(`it is stalled with ${reason}`, async () => (await stalledReason()) === reason)
}

async function act(action: Partial<RolloutAction> & Pick<RolloutAction, 'id' | 'type'>): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: JSON.stringify(action) } } })
}
