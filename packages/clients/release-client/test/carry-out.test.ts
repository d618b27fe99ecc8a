import { customResourceDefinitions, type Rollout, type ActionAnswer } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator } from '@tranche/sim'
import { ApiStatusError, type FaultCall, type RequestFault } from '@tranche/sim-api'
import { carryOut, type ActionOrder } from '@tranche/release-client'
import { recordEvent } from '../src/record-event.ts'
import { recordedActionsOf } from '@tranche/actions'
import { beforeEach, describe, expect, it } from 'vitest'

// Cluster without a controller: tests write its status, and inject request faults.

const key = { namespace: 'demo', name: 'agent' }
type Failing = (call: FaultCall) => RequestFault | undefined

let clock: VirtualClock
let sim: Simulator
let admin: KubeClient
let failing: Failing

beforeEach(async () => {
  clock = new VirtualClock()
  failing = () => undefined
  sim = createSimulator({
    clock,
    nodes: 0,
    watchDelayMs: 1,
    faults: { onRequest: (call) => (call.actor === 'steering' ? failing(call) : undefined) },
  })
  admin = clientOf('admin')
  await played(furnish())
})

async function furnish(): Promise<void> {
  for (const definition of customResourceDefinitions) await admin.create(resourcePaths.customResourceDefinitions, definition as never)
  await admin.create(resourcePaths.namespaces, { metadata: { name: 'demo' } })
  await createRollout()
  const canary = { currentStepIndex: 1, nextStepIndex: 2, currentStepState: 'StepPaused', finalisingStep: '', podTemplateHash: 'v2' }
  await writeStatus({
    phase: 'Progressing',
    observedGeneration: 1,
    message: 'waits for approval',
    currentStepIndex: 1,
    currentStepState: 'StepPaused',
    canaryStatus: { ...canary, canaryRevision: 'v2', stableRevision: 'v1', canaryReplicas: 1, canaryReadyReplicas: 1 },
  })
}

async function createRollout(): Promise<void> {
  const spec = {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
  }
  await admin.create(resourcePaths.rollouts, { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', metadata: key, spec } as never)
}

function clientOf(actor: string): KubeClient {
  return createKubeClient({ exchange: sim.exchangeFor(actor), clock, userAgent: 'tester/1', log: silentLogger })
}

/** Lets virtual time pass until the promise has settled. */
async function played<T>(promise: Promise<T>): Promise<T> {
  let settled = false
  promise.catch(() => {}).finally(() => (settled = true))
  await clock.run({ done: () => settled })
  return promise
}

function approve(more: Partial<ActionOrder> = {}, signal?: AbortSignal, timeUp?: AbortSignal): Promise<ActionAnswer> {
  const ports = { client: clientOf('steering'), clock, log: silentLogger, component: 'tranche-api' }
  const order = { on: 'Rollout', key, type: 'approve', body: { expectedStep: 1 }, by: 'alice', via: 'rest', waitMs: 0, ...more } as const
  return carryOut(ports, order, { signal, timeUp })
}

async function writeStatus(status: object): Promise<void> {
  await admin.patch(resourcePaths.rollouts, key, { type: 'merge', body: { status } }, { subresource: 'status' })
}

/** Answers the action on the Rollout like the controller, after a delay. */
function answerIn(ms: number): void {
  clock.setTimer(ms, () => void answer())
}

async function answer(): Promise<void> {
  const { metadata } = await rollout()
  const { id, type } = JSON.parse(metadata.annotations?.['tranche.dev/action'] ?? '{}') as { readonly id: string; readonly type: string }
  await writeStatus({ message: 'continues', lastAction: { id, type, result: 'Accepted', at: '2026-01-01T00:00:00Z' } })
}

const rollout = (): Promise<Rollout> => admin.get<Rollout>(resourcePaths.rollouts, key)
const isPatch = ({ verb, resource }: FaultCall): boolean => verb === 'patch' && resource.resource === 'rollouts'

/** Fails the first `count` patches of the Rollout with this fault. */
function firstPatches(count: number, fault: RequestFault): Failing {
  let left = count
  return (call) => (isPatch(call) && left-- > 0 ? fault : undefined)
}

it.each<{ title: string; fault: Failing }>([
  { title: 'other clients change the object continuously', fault: firstPatches(3, { kind: 'conflict' }) },
  { title: 'the response to the write is lost', fault: firstPatches(1, { kind: 'cut', when: 'after' }) },
  { title: 'the write is lost', fault: firstPatches(2, { kind: 'cut', when: 'before' }) },
  {
    title: 'no event can be written',
    fault: ({ resource }) => (resource.resource === 'events' ? { kind: 'cut', when: 'before' } : undefined),
  },
])('writes an action once, though $title', async ({ fault }) => {
  failing = fault
  expect(await played(approve())).toMatchObject({ state: 'accepted', repeated: false })
  expect(recordedActionsOf(await rollout())).toMatchObject([{ type: 'approve', by: 'alice' }])
})

it.each([
  ['says which config changes back', false, '; ConfigMap agent has its earlier content again'],
  ['needs no right to read revisions', true, 'rolled back to the stable revision'],
])('the dry run of an abort %s', async (_what, isForbidden, end) => {
  const metadata = { name: 'agent', namespace: 'demo' }
  const labels = { app: 'agent' }
  const templateOf = (copy: string) => ({
    metadata: { labels, annotations: { 'tranche.dev/pinned-config': `ConfigMap/agent=${copy}` } },
    spec: { containers: [{ name: 'agent', image: 'agent:v1' }] },
  })
  const spec = { selector: { matchLabels: labels }, template: templateOf('agent-2') }
  const made = (await played(admin.create(resourcePaths.daemonSets, { metadata, spec } as never))) as KubeObject
  for (const [at, hash] of ['v1', 'v2'].entries()) {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: made.metadata.uid, controller: true }
    const about = {
      name: `agent-${hash}`,
      namespace: 'demo',
      labels: { ...labels, 'controller-revision-hash': hash },
      ownerReferences: [owner],
    }
    const data = { spec: { template: templateOf(`agent-${at + 1}`) } }
    await played(admin.create(resourcePaths.controllerRevisions, { metadata: about, revision: at + 1, data } as never))
  }
  const refusal = new ApiStatusError(403, 'Forbidden', 'no')
  if (isForbidden)
    failing = ({ resource }) => (resource.resource === 'controllerrevisions' ? ({ kind: 'error', error: refusal } as never) : undefined)
  const { message } = await played(approve({ type: 'abort', body: {}, dryRun: true }))
  expect(message.endsWith(end)).toBe(true)
})

it('records an event, even if the response to the write is lost', async () => {
  failing = firstPatches(1, { kind: 'cut', when: 'after' })
  await played(approve())
  const { items } = await admin.list<KubeObject & { readonly reason?: string }>(resourcePaths.events, { namespace: key.namespace })
  expect(items.map(({ reason }) => reason)).toEqual(['ActionRequested'])
})

it('records one event per action, even if its record was removed and it was carried out again', async () => {
  await played(approve({ idempotencyKey: 'k' }))
  await played(admin.patch(resourcePaths.rollouts, key, { type: 'merge', body: { metadata: { annotations: null } } }))
  await played(approve({ idempotencyKey: 'k' }))
  const { items } = await admin.list<KubeObject>(resourcePaths.events, { namespace: key.namespace })
  expect(items).toHaveLength(1)
})

it.each([
  { type: 'abort', ms: 110, annotations: null },
  { type: 'pause', ms: 110, annotations: { team: 'a' } },
  { type: 'approve', ms: 60, annotations: null },
] as const)('writes $type with $ms ms per request while the status is written ten times a second', async ({ type, ms, annotations }) => {
  await played(admin.patch(resourcePaths.rollouts, key, { type: 'merge', body: { metadata: { annotations } } }))
  failing = () => ({ kind: 'delay', ms, when: 'before' })
  let count = 0
  const write = (): void => {
    void writeStatus({ message: `write ${(count += 1)}` })
    if (count < 100) clock.setTimer(100, write)
  }
  write()
  const body = type === 'approve' ? { expectedStep: 1 } : { reason: 'bad' }
  expect(await played(approve({ type, body }))).toMatchObject({ state: 'accepted' })
  expect(recordedActionsOf(await rollout())).toMatchObject([{ type }])
  expect(clock.monotonicMs()).toBeLessThan(3_000)
})

it('gives up if it loses every race against other clients', async () => {
  failing = firstPatches(Infinity, { kind: 'conflict' })
  await expect(played(approve())).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
})

it.each([
  { title: 'missing rights', error: new ApiStatusError(403, 'Forbidden', 'may not patch') },
  { title: 'a webhook', error: new ApiStatusError(422, 'Invalid', 'the webhook says no') },
])('returns the refusal of the cluster: $title', async ({ error }) => {
  failing = (call) => (isPatch(call) ? { kind: 'error', error } : undefined)
  await expect(played(approve())).rejects.toMatchObject({ status: error.code })
  expect(recordedActionsOf(await rollout())).toEqual([])
})

it.each<{ title: string; fault: Failing }>([
  { title: 'by a watch', fault: () => undefined },
  {
    title: 'by reads, without permission to watch',
    fault: ({ verb }) => (verb === 'watch' ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'may not watch') } : undefined),
  },
  {
    title: 'by another watch, after one was cut',
    fault: ({ verb, count }) => (verb === 'watch' && count < 8 ? { kind: 'cut', when: 'before' } : undefined),
  },
])('waits for the answer $title', async ({ fault }) => {
  failing = fault
  answerIn(7_000)
  const startedMs = clock.monotonicMs()
  expect(await played(approve({ waitMs: 60_000 }))).toMatchObject({ state: 'acknowledged', message: 'continues' })
  expect(clock.monotonicMs() - startedMs).toBeLessThan(9_000)
})

it('returns the message of the Rollout when the time is up', async () => {
  const startedMs = clock.monotonicMs()
  expect(await played(approve({ waitMs: 5_000 }))).toMatchObject({
    state: 'accepted',
    message: expect.stringContaining('waits for approval'),
  })
  expect(clock.monotonicMs() - startedMs).toBe(5_000)
})

it('keeps a written action if the caller disconnects', async () => {
  const gone = new AbortController()
  clock.setTimer(2_000, () => gone.abort(new Error('the caller is gone')))
  await expect(played(approve({ waitMs: 60_000 }, gone.signal))).rejects.toThrow('the caller is gone')
  expect(recordedActionsOf(await rollout())).toHaveLength(1)
})

describe('when the time of a request is up', () => {
  const ofPatches =
    (fault: RequestFault): Failing =>
    (call) =>
      isPatch(call) ? fault : undefined
  const slowReads: Failing = ({ verb }) => (verb === 'get' ? { kind: 'delay', ms: 9_000, when: 'before' } : undefined)
  const upAfter = (ms: number): AbortSignal => {
    const timeUp = new AbortController()
    clock.setTimer(ms, () => timeUp.abort(new AppError('NOT_READY', 'the time is up')))
    return timeUp.signal
  }

  it('nothing is written afterwards, and the error says so', async () => {
    failing = slowReads
    await expect(played(approve({}, undefined, upAfter(5_000)))).rejects.toMatchObject({ code: 'NOT_READY', message: 'the time is up' })
    failing = () => undefined
    await clock.run({ untilMs: clock.monotonicMs() + 60_000 })
    expect(recordedActionsOf(await rollout())).toEqual([])
  })

  it.each<{ title: string; fault: RequestFault }>([
    { title: 'under way', fault: { kind: 'delay', ms: 9_000, when: 'after' } },
    { title: 'lost, and cannot be read', fault: { kind: 'cut', when: 'after' } },
  ])('the error says that a write may have happened whose response is $title', async ({ fault }) => {
    let isSent = false
    failing = (call) => {
      if (isSent && call.verb === 'get') return { kind: 'delay', ms: 9_000, when: 'before' }
      isSent ||= isPatch(call)
      return ofPatches(fault)(call)
    }
    await expect(played(approve({ idempotencyKey: 'one' }, undefined, upAfter(5_000)))).rejects.toMatchObject({
      code: 'NOT_READY',
      message: 'the approve was sent and may have been written: the time is up',
      hint: expect.stringContaining('the same Idempotency-Key writes it once'),
    })
    failing = () => undefined
    expect(await played(approve({ idempotencyKey: 'one' }))).toMatchObject({ repeated: true })
  })

  it('a written action is accepted, without a wait for its answer', async () => {
    expect(await played(approve({ waitMs: 60_000 }, undefined, upAfter(5_000)))).toMatchObject({ state: 'accepted' })
    expect(clock.monotonicMs()).toBeLessThan(10_000)
  })
})

it.each<{ title: string; after: () => Promise<unknown> }>([
  { title: 'goes', after: async () => {} },
  { title: 'is recreated under the same name between two reads', after: createRollout },
])('reports a Rollout that $title during the wait for its answer', async ({ after }) => {
  failing = ({ verb }) => (verb === 'watch' ? { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'may not watch') } : undefined)
  clock.setTimer(1_500, () => void admin.delete(resourcePaths.rollouts, key).then(after))
  const startedMs = clock.monotonicMs()
  await expect(played(approve({ waitMs: 60_000 }))).rejects.toMatchObject({ code: 'MOVED_ON' })
  expect(clock.monotonicMs() - startedMs).toBeLessThan(5_000)
})

it('writes the event of an object with a name of the maximum length', async () => {
  const name = `${'a'.repeat(235)}.${'b'.repeat(17)}`
  const ports = { client: clientOf('steering'), clock, log: silentLogger, component: 'tranche-api' }
  const record = { id: '1', type: 'approve', by: 'alice', via: 'rest', at: '2026-01-01T00:00:00Z' } as never
  await played(recordEvent(ports, 'Rollout', { metadata: { ...key, name, uid: 'u', resourceVersion: '1' } }, record))
  const { items } = await played(admin.list<KubeObject>(resourcePaths.events, { namespace: key.namespace }))
  expect(items.map(({ metadata }) => metadata.name)).toEqual([expect.stringMatching(/^a{235}\.[0-9a-f]{16}$/)])
})
