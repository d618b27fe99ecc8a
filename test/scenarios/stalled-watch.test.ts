import type { FlightRecord } from '@tranche/api-schema'
import type { Pod } from '@tranche/kube-types'
import { afterEach, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, runs, untilPausedAt, untilReleased } from './looks.ts'
import { createRequestLog } from './requests.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const options: StageOptions = { nodes: 4, maxUnavailable: 1, minReadySeconds: 20, steps: [{ replicas: '100%' }] }
const STALL_MS = 140_000

it('the executor deletes no second pod while its watch is stalled and a pod that was Ready flaps (F6, G1, G2)', async () => {
  const log = createRequestLog()
  stage = await setStage({ ...options, tap: log.tap })
  await untilFirstIsReady('bad-probe')
  stall('pods')
  log.reset()
  await stage.pass(STALL_MS - 10_000)
  expect(deletions(stage)).toBe(1)
  const reads = log.sent().filter(({ what }) => what.startsWith('GET') && what.includes('/pods/'))
  expect(reads.length).toBeGreaterThan(0)
  expect(reads.length).toBeLessThan(10)
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the executor continues while its watch is stalled if a read shows that the pod has stayed Ready (F6, G6)', async () => {
  stage = await setStage(options)
  await untilFirstIsReady('v2')
  stall('pods')
  await stage.pass(STALL_MS - 10_000)
  expect(deletions(stage)).toBe(2)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the executor deletes no second pod while its watch does not show the first node, which has joined (F6, G1, G2)', async () => {
  const log = createRequestLog()
  stage = await setStage({
    ...{ nodes: 3, maxUnavailable: 1, steps: [{ replicas: '100%' }], executors: ['executor-1', 'executor-2'], tap: log.tap },
    policy: { nodes: { order: [{ by: 'Newest' }] } },
    annotations: { 'sim.tranche.dev/start-ms': '20000' },
  })
  stall('nodes')
  await drive(stage.clock, stage.simulator.nodes.addNode('new-1'))
  await stage.until('the pod of the new node is Ready', async () => (await stage.pods()).filter(isReady).length === 4)
  const { process } = stage.program('executor-1')
  process.freeze()
  await stage.setImage('v2')
  await stage.until('it is the first to be updated', async () => (await nodesOn(stage, 'v2')).length > 0)
  expect(await nodesOn(stage, 'v2')).toEqual(['new-1'])
  log.reset()
  process.thaw()
  await stage.pass(10_000)
  expect(deletions(stage)).toBe(1)
  const reads = log.sent().filter(({ identity, what }) => identity === 'executor-1' && what.startsWith('GET /api/v1/nodes/'))
  expect(reads.length).toBeGreaterThan(0)
  expect(reads.length).toBeLessThan(5)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the controller starts no pause while its watch shows pods of a version that comes back, and they are gone (G3)', async () => {
  stage = await setStage({ nodes: 4, maxUnavailable: 1, steps: [{ replicas: 1, pause: { duration: 60 } }, { replicas: '100%' }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const [node] = await nodesOn(stage, 'v2')
  const isLate = (actor: string): boolean => actor === 'controller-1'
  stage.disturb({
    onEvent: ({ actor, resource }) => (isLate(actor) && resource.resource === 'pods' ? { kind: 'delay', ms: 90_000 } : undefined),
  })
  await stage.setImage('v3-bad-ready')
  await stage.until('the node has the bad version', async () => (await nodesOn(stage, 'v3-bad-ready')).includes(node ?? ''))
  await stage.setImage('v2')
  await stage.until('it is released again', async () => (await stage.rollout()).status?.canaryStatus?.currentStepState === 'StepUpgrade')
  await untilPausedAt(stage, 1)
  const pods = await stage.pods()
  expect(pods.filter((pod) => pod.spec?.nodeName === node && runs(pod, 'v2') && isReady(pod))).toHaveLength(1)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the executor settles nothing in a pause while its watch does not show that minReadySeconds was raised (F6, G1, G2)', async () => {
  stage = await setStage({ ...options, minReadySeconds: 2, executors: ['executor-1', 'executor-2'] })
  await stage.setImage('v2')
  await stage.until('there is a new pod', async () => (await nodesOn(stage, 'v2')).length > 0)
  stall('daemonsets')
  await stage.patchDaemonSet({ spec: { minReadySeconds: 60 } })
  const generation = (await stage.daemonSet()).metadata.generation
  await stage.until('the record follows', async () => (await flight())?.generation === generation)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('it is stopped', async () => (await flight())?.state === 'stopped')
  await stage.pass(30_000)
  expect((await flight())?.permits.map(({ node }) => node)).toEqual(await nodesOn(stage, 'v2'))
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function flight(): Promise<FlightRecord | undefined> {
  return (await stage.release())?.status?.flight
}

async function untilFirstIsReady(tag: string): Promise<void> {
  await stage.setImage(tag)
  await stage.until('the first new pod is Ready', async () => (await stage.pods()).some((pod) => runs(pod, tag) && isReady(pod)))
  await stage.pass(500)
}

/** Stalls a watch of the executor, which delivers nothing from now on, and breaks after the stall. */
function stall(watched: 'pods' | 'nodes' | 'daemonsets'): void {
  let isStalled = false
  stage.disturb({
    onEvent({ actor, resource }) {
      if (isStalled || actor !== 'executor-1' || resource.resource !== watched) return undefined
      isStalled = true
      return { kind: 'stall', ms: STALL_MS }
    },
  })
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
}
