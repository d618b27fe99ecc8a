import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { startExecutor } from '@tranche/executor'
import { forecast, type Manifests } from '@tranche/forecast'
import { readSnapshot } from '@tranche/release-client'
import { bodyText, type Exchange } from '@tranche/wire'
import { drive, setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
let snapshot: ClusterSnapshot
beforeAll(async () => {
  stage = await setStage({ nodes: 10, steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
  snapshot = await drive(stage.clock, readSnapshot(stage.client, stageKey, { nowMs: stage.clock.nowMs() }))
})
afterAll(() => stage.end())

const programs = { createSharedClusterCache, startController, startExecutor }
const image = 'agent=registry.example/node-agent:v2'
const plan = (request: Partial<ForecastRequest>, from = snapshot): Promise<Forecast> => forecast(from, { image, ...request }, programs)

it.each([
  ['no spec', undefined, 'DaemonSet: spec is missing; it must be an object'],
  ['a null spec', null, 'DaemonSet: spec is null; it must be an object'],
  ['a text for a spec', 'v2', 'DaemonSet: spec is "v2"; it must be an object'],
  ['a null template', { template: null }, 'DaemonSet: spec.template is null; it must be an object'],
  ['a text for a strategy', { updateStrategy: 'OnDelete' }, 'DaemonSet: spec.updateStrategy is "OnDelete"; it must be an object'],
  [
    'a template without containers',
    { template: { metadata: { labels: { app: 'node-agent' } } } },
    'spec.template.spec.containers: Required value',
  ],
  ['a number as a text', { minReadySeconds: 'soon' }, 'cannot unmarshal string'],
])('forecast rejects a manifest with %s by naming the field', async (_name, spec, message) => {
  const manifests = { daemonSet: { spec } } as unknown as Manifests
  const rejection = forecast(snapshot, {}, programs, { manifests })
  await expect(rejection).rejects.toMatchObject({
    code: 'FORECAST_INVALID',
    message: expect.stringContaining(message),
    hint: expect.any(String),
  })
})

it('forecast rejects an image that an API server would reject, without the address of its copy', async () => {
  const rejection = plan({ image: 'agent= x' })
  await expect(rejection).rejects.toMatchObject({
    code: 'FORECAST_INVALID',
    message: expect.stringMatching(/^an API server rejects the planned DaemonSet: .*containers\[0\]\.image: Invalid value: " x"/),
  })
})

it('forecast counts dead nodes apart, and says of each node that is not updated why in one word', async () => {
  const foretold = await plan({}, without(['node-003']))
  expect(foretold).toMatchObject({ outcome: 'Completes', nodesHit: 9, dead: { count: 1, exempt: 1, exemptLimit: 1 } })
  expect(foretold.nodes.at(-1)).toEqual({ name: 'node-003', batch: 0, order: 0, reason: 'dead: updated on return', cause: 'Dead' })
  expect((await plan({}, without(['node-003', 'node-004']))).dead).toEqual({ count: 2, exempt: 0, exemptLimit: 1 })
  expect((await plan({})).dead).toEqual({ count: 0, exempt: 0, exemptLimit: 1 })
})

/** The snapshot after these nodes died. */
function without(dead: readonly string[]): ClusterSnapshot {
  const ready = (status: string) => [{ type: 'Ready', status }]
  return {
    ...snapshot,
    nodes: snapshot.nodes.map((node) =>
      dead.includes(node.metadata.name)
        ? {
            ...node,
            metadata: { ...node.metadata, annotations: { 'sim.tranche.dev/dead': 'true' } },
            status: { ...node.status, conditions: ready('Unknown') },
          }
        : node,
    ),
    pods: snapshot.pods.map((pod) =>
      dead.includes(pod.spec?.nodeName ?? '') ? { ...pod, status: { ...pod.status, conditions: ready('False') } } : pod,
    ),
  } as ClusterSnapshot
}

it('forecast predicts a release, including the time that a person takes', async () => {
  const [soon, late] = [await plan({}), await plan({ approveAfterSeconds: 600 })]
  expect(soon).toMatchObject({ outcome: 'Completes', nodesHit: 10, batches: [{ nodes: 2, pause: 'person' }, { nodes: 8 }] })
  expect(late.etaSeconds!.high - soon.etaSeconds!.high).toBeCloseTo(600, 0)
  expect(late.assumptions).toContain('steps that wait for a person are approved after 600 s')
})

it('forecast lets both programs read one copy of the cluster, without managedFields', async () => {
  const [paths, answers]: [string[], string[]] = [[], []]
  const noting = (exchange: Exchange): Exchange => {
    return async (request, signal) => {
      paths.push(request.path)
      const answer = await exchange(request, signal)
      answers.push(await bodyText(answer))
      return { ...answer, body: ReadableStream.from([answers.at(-1)!]) }
    }
  }
  const watched = {
    createSharedClusterCache,
    startController: (ports: Parameters<typeof startController>[0]) => startController({ ...ports, exchange: noting(ports.exchange) }),
    startExecutor: (ports: Parameters<typeof startExecutor>[0]) => startExecutor({ ...ports, exchange: noting(ports.exchange) }),
  }
  expect(await forecast(snapshot, { image }, watched)).toMatchObject({ outcome: 'Completes', nodesHit: 10 })
  expect(paths.length).toBeGreaterThan(10)
  expect(paths.filter((path) => path.includes('watch='))).toEqual([])
  expect(answers.filter((answer) => answer.includes('"managedFields":['))).toEqual([])
})

it('forecast predicts that a crashing version stops on the first nodes', async () => {
  const planned = await plan({ if: ['100% crash'] })
  expect(planned).toMatchObject({ outcome: 'Stops', nodesHit: 2, etaSeconds: null })
  expect(planned.message).toMatch(/^It stops with the new version on 2 nodes\. .*CrashLoopBackOff/)
  expect(planned.nodes.filter(({ order }) => order === 0)).toHaveLength(8)
  expect(planned.nodes.at(-1)!.reason).toBe('not reached by the release')
})

it('forecast predicts that a policy rolls a bad version back', async () => {
  const policy = { metadata: { name: 'careful', namespace: stageKey.namespace, uid: 'p', resourceVersion: '1', generation: 1 } }
  const rollout = {
    ...snapshot.rollout,
    metadata: { ...snapshot.rollout.metadata, annotations: { 'tranche.dev/release-policy': 'careful' } },
  }
  const planned = await plan(
    { if: ['100% crash'] },
    { ...snapshot, rollout, policy: { ...policy, spec: { failure: { action: 'Rollback' } } } },
  )
  expect(planned).toMatchObject({ outcome: 'RollsBack', nodesHit: 2 })
  expect(planned.etaSeconds!.high).toBeGreaterThan(0)
})

it('forecast predicts a release that pulls images before it deletes pods, which takes no longer', async () => {
  const policy = { metadata: { name: 'careful', namespace: stageKey.namespace, uid: 'p', resourceVersion: '1', generation: 1 } }
  const annotations = { 'tranche.dev/release-policy': 'careful' }
  const rollout = { ...snapshot.rollout, metadata: { ...snapshot.rollout.metadata, annotations } }
  const [without, planned] = [await plan({}), await plan({}, { ...snapshot, rollout, policy: { ...policy, spec: { prePull: {} } } })]
  expect(planned).toMatchObject({ outcome: 'Completes', nodesHit: 10 })
  expect(planned.etaSeconds!.high).toBeLessThan(without.etaSeconds!.high * 1.2 + 5)
})

it('forecast predicts that a node failure under the new version stops the release', async () => {
  const planned = await plan({ if: ['zone-a fails'] })
  expect(planned.outcome).toBe('Stops')
  expect(planned.message).toContain('NodeNotReady')
})

it('forecast names the nodes that are skipped', async () => {
  const planned = await plan({ if: ['node-003 is NotReady'] })
  expect(planned).toMatchObject({ outcome: 'Completes', nodesHit: 9 })
  expect(planned.nodes.find(({ name }) => name === 'node-003')).toMatchObject({
    order: 0,
    reason: 'NotReady: skipped, and updated once it is Ready',
  })
})

it('forecast predicts a release in a cluster with admission, where the strategy changes at its start', async () => {
  const daemonSet = snapshot.daemonSet!
  const { 'rollouts.kruise.io/daemonset-original-update-strategy': _, ...annotations } = daemonSet.metadata.annotations ?? {}
  const updateStrategy = { ...daemonSet.spec.updateStrategy, type: 'RollingUpdate' }
  const admitted = { ...daemonSet, metadata: { ...daemonSet.metadata, annotations }, spec: { ...daemonSet.spec, updateStrategy } }
  expect(await plan({}, { ...snapshot, daemonSet: admitted })).toMatchObject({ outcome: 'Completes', nodesHit: 10, peakUnavailable: 2 })
})

it('forecast reports that a release without a budget does not start', async () => {
  const daemonSet = snapshot.daemonSet!
  const updateStrategy = { ...daemonSet.spec.updateStrategy, rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
  const planned = await plan({}, { ...snapshot, daemonSet: { ...daemonSet, spec: { ...daemonSet.spec, updateStrategy } } })
  expect(planned).toMatchObject({ outcome: 'Blocked', nodesHit: 0, etaSeconds: null })
  expect(planned.message).toMatch(/maxUnavailable/)
})

it('forecast reports that there is nothing to release', async () => {
  const planned = await forecast(snapshot, {}, programs)
  expect(planned).toMatchObject({
    outcome: 'Completes',
    nodesHit: 0,
    message: expect.stringContaining('Nothing to release') as string,
  })
})

it('forecast is pure and deterministic, and ends when it is aborted', async () => {
  expect(await plan({})).toEqual(await plan({}))
  const ending = new AbortController()
  const running = forecast(snapshot, { image }, programs, {
    signal: ending.signal,
    onProgress: () => ending.abort(new Error('enough')),
  })
  await expect(running).rejects.toThrow('enough')
})

it('forecast of a disabled Rollout names the nodes that already run the version', async () => {
  const rollout = { ...snapshot.rollout, spec: { ...snapshot.rollout.spec, disabled: true } }
  const { nodes } = await forecast({ ...snapshot, rollout }, {}, programs)
  expect(new Set(nodes.map(({ reason }) => reason))).toEqual(new Set(['already runs the new version']))
})

it('forecast rejects an image of an unknown container', async () => {
  await expect(plan({ image: 'other=x:1' })).rejects.toMatchObject({ code: 'FORECAST_INVALID' })
})

it.each(['bad image!!', 'Agent:v2', 'agent:', 'agent:v 2', '/agent', 'agent@sha256:12'])(
  'forecast rejects %s, which no container runtime accepts',
  async (name) => {
    await expect(plan({ image: name })).rejects.toMatchObject({
      code: 'FORECAST_INVALID',
      message: expect.stringContaining('is not a valid image name') as string,
    })
  },
)
