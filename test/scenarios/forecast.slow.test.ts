import { afterEach, expect, it } from 'vitest'
import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { startExecutor } from '@tranche/executor'
import { forecast } from '@tranche/forecast'
import type { RecordedWrite } from '@tranche/recording'
import { readSnapshot } from '@tranche/release-client'
import { nodesOn, untilPausedAt } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '10%', pause: { duration: 5 } }, { replicas: '50%', pause: { duration: 20 } }, { replicas: '100%' }]
const annotations = { 'sim.tranche.dev/start-ms': '7000', 'sim.tranche.dev/jitter-ms': '2000' }

function snapshot(): Promise<ClusterSnapshot> {
  return drive(stage.clock, readSnapshot(stage.client, stageKey, { nowMs: stage.clock.nowMs() }))
}

async function plan(request: ForecastRequest): Promise<Forecast> {
  return forecast(await snapshot(), request, { createSharedClusterCache, startController, startExecutor })
}

/** @returns the writes of the release, and its duration in seconds */
async function release(tag: string): Promise<{ readonly writes: readonly RecordedWrite[]; readonly seconds: number }> {
  const from = stage.recording().length
  const sinceMs = stage.clock.nowMs()
  await stage.setImage(tag)
  await stage.pass(10_000)
  await stage.until(`${tag} is released`, async () => (await stage.rollout()).status?.phase === 'Healthy')
  const writes = stage.recording().slice(from)
  const healthy = writes.find(({ kind, o, t }) => t > sinceMs + 5_000 && kind === 'Rollout' && phaseOf(o) === 'Healthy')
  return { writes, seconds: (healthy!.t - sinceMs) / 1000 }
}

function phaseOf(object: object): string | undefined {
  return (object as { readonly status?: { readonly phase?: string } }).status?.phase
}

function nodesTaken(writes: readonly RecordedWrite[]): readonly (string | undefined)[] {
  const isTaking = ({ kind, verb, actor }: RecordedWrite): boolean => kind === 'Pod' && verb === 'delete' && actor === 'executor-1'
  return writes.filter(isTaking).map(({ node }) => node)
}

it('forecast predicts the order of a release on 60 nodes, and when it ends', async () => {
  stage = await setStage({ nodes: 60, steps, annotations, maxUnavailable: 6 })
  // The pods of a release show how long a pod takes. The first pods do not, because all were created in one second.
  await release('v2')

  const foretold = await plan({ image: 'registry.example/node-agent:v3' })
  expect(foretold).toMatchObject({ outcome: 'Completes', nodesHit: 60, maxUnavailable: 6, peakUnavailable: 6 })
  expect(foretold.batches).toMatchObject([{ nodes: 6, pause: '5s' }, { nodes: 24, pause: '20s' }, { nodes: 30 }])

  const { writes, seconds } = await release('v3')
  expect(foretold.nodes.map(({ name }) => name)).toEqual(nodesTaken(writes))
  expect(foretold.etaSeconds!.low).toBeGreaterThan(0.95 * seconds)
  expect(foretold.etaSeconds!.high).toBeLessThan(1.05 * seconds)
})

/** The same cluster with kubelets that do not report how long pods take to stop. */
function withRealKubelets(simulated: ClusterSnapshot): ClusterSnapshot {
  const text = JSON.stringify(simulated).replaceAll('sim.tranche.dev/', 'kubelet.example/').replaceAll('sim://', 'containerd://')
  return JSON.parse(text) as ClusterSnapshot
}

it('forecast predicts the end of a release from the last one if kubelets do not report how long pods take to stop', async () => {
  const stopping = { 'sim.tranche.dev/start-ms': '2500', 'sim.tranche.dev/jitter-ms': '2000', 'sim.tranche.dev/stop-ms': '4000' }
  stage = await setStage({ nodes: 60, steps, annotations: stopping, maxUnavailable: 6, minReadySeconds: 5 })
  await release('v2')

  const before = withRealKubelets(await snapshot())
  const { etaSeconds, assumptions } = await forecast(
    before,
    { image: 'registry.example/node-agent:v3' },
    { createSharedClusterCache, startController, startExecutor },
  )
  expect(assumptions).toContainEqual(expect.stringMatching(/^pods stop within .* s, as measured in the last release$/))

  const { seconds } = await release('v3')
  expect(etaSeconds!.low).toBeGreaterThan(0.95 * seconds)
  expect(etaSeconds!.high).toBeLessThan(1.05 * seconds)
})

it('forecast predicts the effect of another image in mid-release', async () => {
  stage = await setStage({ nodes: 10, steps: [{ replicas: 2, pause: {} }, { replicas: '100%' }], maxUnavailable: 2 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)

  const good = await plan({ image: 'registry.example/node-agent:v3' })
  expect(good).toMatchObject({
    outcome: 'Completes',
    nodesHit: 10,
    message: expect.stringMatching(/^It completes if the new version runs well: 10 nodes in 2 batches/) as string,
  })
  expect(good.batches).toMatchObject([{ nodes: 2, pause: 'person' }, { nodes: 8 }])
  // The two nodes that run v2 come first.
  expect(
    good.nodes
      .slice(0, 2)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(await nodesOn(stage, 'v2'))
})

it('forecast of an image in mid-release claims no more than is known', async () => {
  stage = await setStage({ nodes: 10, steps: [{ replicas: 2, pause: {} }, { replicas: '100%' }], maxUnavailable: 2 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)

  const request = { image: 'registry.example/node-agent:v3-bad-crash' }
  expect(await plan(request)).toMatchObject({ outcome: 'Stops', nodesHit: 2 })

  const real = withRealKubelets(await snapshot())
  const { message, assumptions } = await forecast(real, request, { createSharedClusterCache, startController, startExecutor })
  expect(message).toMatch(/^It completes if the new version runs well: /)
  expect(assumptions[0]).toMatch(/^the new version starts on every node and stays healthy: no image is pulled and nothing is run/)
})

it('forecast without a change predicts the rest of the current release', async () => {
  stage = await setStage({ nodes: 10, steps: [{ replicas: 2, pause: {} }, { replicas: '100%' }], maxUnavailable: 2 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(await plan({})).toMatchObject({ outcome: 'Completes', nodesHit: 8 })
})

it('forecast leaves dead nodes that cost no budget out of the unavailable ones', async () => {
  stage = await setStage({ nodes: 12, steps: [{ replicas: '100%' }], annotations, maxUnavailable: 1 })
  await drive(stage.clock, stage.simulator.nodes.kill('node-003'))
  await stage.pass(60_000)
  const foretold = await plan({ image: 'registry.example/node-agent:v2' })
  expect(foretold).toMatchObject({
    maxUnavailable: 1,
    peakUnavailable: 1,
    dead: { count: 1, exempt: 1, exemptLimit: 2 },
    unavailable: [{ atSeconds: 0, nodes: 0 }, { nodes: 1 }, { nodes: 0 }],
  })
})
