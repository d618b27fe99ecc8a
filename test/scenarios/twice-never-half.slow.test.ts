import { afterEach, describe, expect, it } from 'vitest'
import type { BatchRelease } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Lease } from '@tranche/kube-types'
import type { JobQueue } from '@tranche/queue'
import type { FaultCall } from '@tranche/sim-api'
import type { WireRequest } from '@tranche/wire'
import { deletions, expectKept } from './expect-kept.ts'
import { breakPod } from './hands.ts'
import { condition, nodesOn, runs, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const HOUR = 3_600_000
const steps = [{ replicas: '30%', pause: {} }, { replicas: '100%' }]
const controllers = ['controller-1', 'controller-2']
const executors = ['executor-1', 'executor-2']
const isPaused = async (): Promise<boolean> => (await condition(stage, 'Progressing'))?.reason === 'Paused'

/** Every kind of write that a controller makes in a release, on the wire. */
const writes: readonly (readonly [name: string, matches: (request: WireRequest) => boolean])[] = [
  ['the creation of a BatchRelease', ({ method, path }) => method === 'POST' && /\/batchreleases(\?|$)/.test(path)],
  ['its spec', (request) => isPatch(request, /\/batchreleases\/[^/?]+(\?|$)/) && has(request, '/spec')],
  ['its status', (request) => isPatch(request, /\/batchreleases\/[^/?]+\/status/) && !has(request, '"path":"/status/flight",')],
  ['the first record', (request) => isRecord(request) && has(request, '"state":"stopped"')],
  ['the record that is opened', (request) => isRecord(request) && has(request, '"state":"open"')],
  ['the record that is revoked', (request) => isRecord(request) && has(request, '"state":"voiding"')],
  [
    'the claim and published target on the DaemonSet',
    (request) => isPatch(request, /\/daemonsets\//) && has(request, 'daemonset-partition'),
  ],
  [
    'the annotation for paused',
    (request) => isPatch(request, /\/daemonsets\//) && has(request, 'tranche.dev~1paused') && has(request, '"true"'),
  ],
  ['a touch', (request) => isPatch(request, /\/pods\//) && has(request, 'tranche.dev/touched')],
  ['a label', (request) => isPatch(request, /\/pods\//) && has(request, 'rollout-batch-id')],
  ['the status of the Rollout', ({ method, path }) => method === 'PUT' && /\/rollouts\/[^/?]+\/status/.test(path)],
  ['the deletion of the BatchRelease', ({ method, path }) => method === 'DELETE' && path.includes('/batchreleases/')],
]

describe('a leader that froze between its decision and its write, and returns beside its successor', () => {
  it.each(writes)('sends %s an hour late, which changes no decision of the successor (F8, F9, G7, G8, G9)', async (_what, matches) => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, controllers })
    const first = await leader()
    const { process } = stage.program(first)
    process.freezeBefore(matches)
    await releaseWithPause('v2')
    expect(process.isFrozen()).toBe(true)
    await stage.pass(HOUR)

    await stage.setImage('v3')
    await untilNodesOn(stage, 'v3', 1)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('the pause is acknowledged', isPaused)
    const deleted = deletions(stage)
    process.thaw()
    await stage.pass(60_000)
    expect(process.held()).toBeGreaterThan(0)
    expect(deletions(stage)).toBe(deleted)
    expect(await isPaused()).toBe(true)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v3')).toHaveLength(3)
    await stage.approve()
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })
})

it('a late order for a batch is ignored if another leader has stopped the release since (F9, G8, G9)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, controllers })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const { process } = stage.program(await leader())
  process.freezeBefore((request) => isPatch(request, /\/batchreleases\/[^/?]+(\?|$)/) && has(request, '"/spec"'))
  await stage.approve()
  await untilNodesOn(stage, 'v2', 5)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', isPaused)
  process.thaw()
  await stage.pass(60_000)
  expect(process.held()).toBeGreaterThan(0)
  const orders = ordersFor()
  expect(orders).toEqual(orders.toSorted((a, b) => a - b))
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a BatchRelease that a leader creates an hour late, after its release has ended, is completed (G6, G8)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, controllers })
  const { process } = stage.program(await leader())
  process.freezeBefore(writes[0]![1])
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(process.isFrozen()).toBe(true)
  await stage.approve()
  await untilReleased(stage, 'v2')
  const deleted = deletions(stage)
  process.thaw()
  await stage.pass(60_000)
  expect(process.held()).toBeGreaterThan(0)
  expect(await stage.release()).toBeUndefined()
  expect(deletions(stage)).toBe(deleted)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('two leaders at the same time keep every guarantee (G8, G10)', async () => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, executors })
  // A single controller runs without leader election, so both controllers act at all times.
  await stage.startController('controller-2')
  await releaseWithPause('v2')
  expectKept(stage)
})

/** Tranche's requests whose answers are lost. Each request takes effect, and its sender does not know. */
const answers: readonly (readonly [name: string, matches: (call: FaultCall) => boolean])[] = [
  ['creating a BatchRelease', ({ verb, resource }) => verb === 'create' && resource.resource === 'batchreleases'],
  [
    'changing its spec or finalizers',
    ({ verb, resource, subresource }) => verb === 'patch' && resource.resource === 'batchreleases' && subresource === undefined,
  ],
  [
    'changing its record or status',
    ({ verb, resource, subresource }) => verb === 'patch' && resource.resource === 'batchreleases' && subresource === 'status',
  ],
  ['deleting it', ({ verb, resource }) => verb === 'delete' && resource.resource === 'batchreleases'],
  ['changing the status of the Rollout', ({ verb, resource }) => verb === 'update' && resource.resource === 'rollouts'],
  ['changing the DaemonSet', ({ verb, resource }) => verb === 'patch' && resource.resource === 'daemonsets'],
  ['touching and labelling pods', ({ verb, resource }) => verb === 'patch' && resource.resource === 'pods'],
  ['deleting pods', ({ verb, resource }) => verb === 'delete' && resource.resource === 'pods'],
  ['renewing the Lease', ({ verb, resource }) => verb === 'update' && resource.resource === 'leases'],
]

it.each(answers)('a release continues after the answer to %s was lost (F5, F7, F8, G7)', async (_what, matches) => {
  stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, executors, controllers })
  let lost = 0
  stage.disturb({
    onRequest(call) {
      const isOurs = call.actor.startsWith('controller') || call.actor.startsWith('executor')
      // Every other answer, because a repeated request must succeed at some time.
      return isOurs && matches(call) && ++lost % 2 === 1 ? { kind: 'cut', when: 'after' } : undefined
    },
  })
  await releaseWithPause('v2')
  expect(lost).toBeGreaterThan(0)
  expectKept(stage)
})

it.each([
  ['lost, two in three', (queue) => ({ ...queue, enqueue: async (key) => void (chance(3) && (await queue.enqueue(key))) })],
  [
    'doubled, and once more seconds later',
    (queue) => ({
      ...queue,
      enqueue: async (key) => void (await Promise.all([queue.enqueue(key), queue.enqueue(key), queue.enqueueAfter(key, 3_000)])),
    }),
  ],
  ['delayed by up to seconds', (queue) => ({ ...queue, enqueue: (key) => queue.enqueueAfter(key, chance(2) ? 2_500 : 400) })],
  [
    'processed by two workers at once',
    (queue) => ({
      ...queue,
      process: (handler, options) => ({ close: closeBoth(queue.process(handler, options), queue.process(handler, options)) }),
    }),
  ],
] as readonly (readonly [string, (queue: JobQueue) => JobQueue])[])(
  'every guarantee holds and the release ends although jobs are %s (F4, G6, G8)',
  async (_how, queue) => {
    rolls = 0
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, executors, queue })
    await releaseWithPause('v2')
    expectKept(stage)
  },
)

it.each([
  ['the API server and the nodes', (ms) => stage.simulator.stepClock(ms)],
  ['one executor', (ms) => stage.program('executor-1').process.stepClock(ms)],
  ['the leader', (ms) => stage.program('controller-1').process.stepClock(ms)],
] as readonly (readonly [string, (ms: number) => void])[])(
  'every guarantee holds while wall clocks step by hours: of %s (F6, G1 to G3, G6)',
  async (_whose, step) => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, executors, minReadySeconds: 3 })
    await stage.setImage('v2')
    for (const [nodes, ms] of [
      [1, 2 * HOUR],
      [2, -5 * HOUR],
      [3, HOUR],
    ] as const) {
      await untilNodesOn(stage, 'v2', nodes, 12 * HOUR)
      step(ms)
    }
    // A process with a slow clock waits for Ready timestamps in its future. It never continues too early.
    await untilPausedAt(stage, 1, 12 * HOUR)
    step(-3 * HOUR)
    await stage.approve()
    await untilNodesOn(stage, 'v2', 6, 12 * HOUR)
    step(4 * HOUR)
    await untilReleased(stage, 'v2', 12 * HOUR)
    expectKept(stage)
  },
)

it('every guarantee holds while two executors withdraw at once because old pods break behind the head (F7, G2, G8)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 1, steps: [{ replicas: '100%' }], executors, watchDelayMs: 200 })
  await stage.setImage('v2')
  for (let round = 0; round < 4; round++) {
    await untilNodesOn(stage, 'v2', 1 + round)
    const old = (await stage.pods()).filter((pod) => runs(pod, 'v1') && pod.metadata.deletionTimestamp === undefined)
    if (old.at(-1) !== undefined) await breakPod(stage, old.at(-1)!)
  }
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

/** A release that is paused in its first batch, resumed, approved and completed. No part of it depends on a certain process. */
async function releaseWithPause(tag: string): Promise<void> {
  await stage.setImage(tag)
  await untilNodesOn(stage, tag, 1)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', isPaused)
  const deleted = deletions(stage)
  await stage.pass(5_000)
  expect(deletions(stage)).toBe(deleted)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilPausedAt(stage, 1)
  expect(await nodesOn(stage, tag)).toHaveLength(3)
  await stage.approve()
  await untilReleased(stage, tag)
}

/** @returns for each spec of its BatchReleases, the generation of the Rollout for which it was written, in the order of the writes */
function ordersFor(): readonly number[] {
  return stage.recording().flatMap(({ kind, o }) => {
    const generation = kind === 'BatchRelease' ? (o as unknown as BatchRelease).spec.tranche?.rolloutGeneration : undefined
    return generation === undefined ? [] : [generation]
  })
}

async function leader(): Promise<string> {
  const lease = await stage.client.get<Lease>(resourcePaths.leases, { namespace: 'kube-system', name: 'tranche-controller' })
  return lease.spec?.holderIdentity ?? ''
}

let rolls = 0

/** True once in `times` calls. */
function chance(times: number): boolean {
  return ++rolls % times === 0
}

function closeBoth(...workers: readonly { close(deadlineMs: number): Promise<void> }[]): (deadlineMs: number) => Promise<void> {
  return async (deadlineMs) => void (await Promise.all(workers.map((worker) => worker.close(deadlineMs))))
}

function isPatch({ method, path }: WireRequest, pattern: RegExp): boolean {
  return method === 'PATCH' && pattern.test(path)
}

function isRecord(request: WireRequest): boolean {
  return (
    isPatch(request, /\/batchreleases\/[^/?]+\/status/) &&
    has(request, '/status/flight"') &&
    has(request, '"path":"/status/flight","value"')
  )
}

function has({ body }: WireRequest, text: string): boolean {
  return body?.includes(text) === true
}
