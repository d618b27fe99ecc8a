import type { BatchRelease, Rollout, ActionAnswer } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'
import { createKubeClient, type KubeClient, KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { carryOut, type ActionOrder } from '@tranche/release-client'
import { afterEach, describe, expect, it } from 'vitest'
import { define, defineBy } from './definitions.ts'
import { breakPod } from './hands.ts'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const lacks =
  /CustomResourceDefinitions are outdated.*Rollout lacks spec\.strategy\.canary\.steps\[\]\.nodes.*BatchRelease lacks spec\.tranche.*; apply those of this version/

describe('a permit record that other definitions have pruned in mid-release (F11)', () => {
  it('is restored with the nodes in flight each time, and the release ends within its limit (G2, G6)', async () => {
    const annotations = { 'sim.tranche.dev/start-ms': '8000' }
    stage = await setStage({ nodes: 12, maxUnavailable: 2, annotations, steps: [{ replicas: '100%' }] })
    // Broken old pods cost no budget, so only the record limits how many are deleted at a time.
    for (const pod of await stage.pods()) await breakPod(stage, pod)
    await stage.setImage('v2')
    for (const count of [2, 4, 6]) {
      await stage.until(`${count} pods were deleted`, () => deletions(stage) >= count)
      await losesItsRecord()
    }
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('acknowledges no pause before the old pods are touched, and deletes nothing after it (G9)', async () => {
    stage = await setStage({
      nodes: 12,
      maxUnavailable: 3,
      annotations: { 'sim.tranche.dev/start-ms': '8000' },
      steps: [{ replicas: '100%' }],
    })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    await losesItsRecord()
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('the pause is acknowledged', async () => {
      const { metadata, status } = await stage.rollout()
      return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
    })
    const before = deletions(stage)
    expect((await stage.release())?.status?.flight).toMatchObject({ state: 'stopped' })
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(before)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})

/** Loses the record by a write under definitions without the field. */
async function losesItsRecord(): Promise<void> {
  await define(stage, 'theirs')
  const body = { status: { message: `written at ${stage.clock.nowMs()}` } }
  const options = { subresource: 'status' }
  const written = await stage.client.patch<BatchRelease>(resourcePaths.batchReleases, stageKey, { type: 'merge', body }, options)
  expect(written.status).not.toHaveProperty('flight')
  await define(stage, 'ours')
}

describe('under the definitions of OpenKruise', () => {
  it('no release starts, the Rollout reports why, and nothing is written repeatedly', async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
    await stage.startController('controller-1')
    await stage.setImage('v2')
    await untilOutdated()
    expect((await condition(stage, 'Stalled'))?.message).toMatch(lacks)
    expect((await stage.rollout()).status?.canaryStatus).toBeDefined()
    const { items } = await stage.client.list<{ readonly reason: string }>(resourcePaths.events, { namespace: stageKey.namespace })
    expect(items.filter(({ reason }) => reason === 'CRDOutdated')).toHaveLength(1)
    const written = writes()
    await stage.pass(60_000)
    expect(writes()).toBe(written)
    expect(deletions(stage)).toBe(0)
    expect(await stage.release()).toBeUndefined()
  })

  it("the release starts by itself once Tranche's definitions are applied", async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
    await stage.startController('controller-1')
    await stage.setImage('v2')
    await untilOutdated()
    await define(stage, 'ours')
    await untilPausedAt(stage, 1)
    expect((await condition(stage, 'Stalled'))?.status).toBe('False')
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('a Rollout can be deleted', async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({}) as never)
    await stage.startController('controller-1')
    await untilOutdated()
    await stage.client.delete(resourcePaths.rollouts, stageKey)
    await stage.until('the Rollout is gone', async () => (await rollouts()) === 0)
  })

  it("a BatchRelease written by hand reports why it waits, and is carried out once Tranche's definitions are applied", async () => {
    stage = await setStage({ withRollout: false, controllers: [], strategyType: 'OnDelete' })
    await define(stage, 'theirs')
    await stage.client.create(resourcePaths.batchReleases, byHand as never)
    await stage.startController('controller-1')
    await stage.setImage('v2')
    await stage.until('the reason is reported', async () => lacks.test((await stage.release())?.status?.message ?? ''))
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(0)
    await define(stage, 'ours')
    await stage.until('its batch is updated', async () => (await nodesOn(stage, 'v2')).length === 4)
    expectKept(stage)
  })
})

it("OpenKruise's definitions in mid-release stop it before the next batch, and it continues when Tranche's return", async () => {
  stage = await setStage({ nodes: 10 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await define(stage, 'theirs')
  await stage.approve()
  await untilWarned()
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(2)
  await define(stage, 'ours')
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('temporary definitions of OpenKruise lose nothing that was stored (F11, G10)', async () => {
  await releaseAndAbort()
  await stage.setImage('v3')
  await untilPausedAt(stage, 1)
  const before = (await stage.rollout()).status!
  expect(before).toMatchObject({ heldRevisions: [{}], answeredActions: ['abort-1'], stableDigest: expect.any(String) })
  await define(stage, 'theirs')
  // This makes the controller run: counts and a generation in the status have changed.
  const [node] = await nodesOn(stage, 'v1')
  const old = (await stage.pods()).find(({ spec }) => spec?.nodeName === node)
  await breakPod(stage, old!)
  await untilWarned()
  await stage.pass(60_000)
  await define(stage, 'ours')
  await stage.pass(1_000)
  const { heldRevisions, answeredActions, stableDigest, stableRevision } = before
  expect((await stage.rollout()).status).toMatchObject({ heldRevisions, answeredActions, stableDigest, stableRevision })
  await stage.approve()
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('a status that is due while the watches outlive their definitions is not written (F11, G10)', async () => {
  await releaseAndAbort()
  const { heldRevisions, answeredActions } = (await stage.rollout()).status!
  expect(answeredActions).toEqual(['abort-1'])
  await define(stage, 'theirs')
  await stage.setImage('v3')
  await stage.pass(900)
  await define(stage, 'ours')
  await stage.pass(100)
  expect((await stage.rollout()).status).toMatchObject({ heldRevisions, answeredActions })
  await untilNodesOn(stage, 'v3', 2)
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('a controller that starts under other definitions loses nothing that was stored (F11, G10)', async () => {
  stage = await setStage({ nodes: 10 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const before = (await stage.rollout()).status!
  stage.program('controller-1').kill()
  await define(stage, 'theirs')
  await stage.startController('controller-2')
  await untilWarned()
  await stage.pass(60_000)
  await define(stage, 'ours')
  await stage.pass(20_000)
  const { stableDigest, stableRevision, releaseGeneration } = before
  expect((await stage.rollout()).status).toMatchObject({ stableDigest, stableRevision, releaseGeneration })
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a failed version stays stopped after an approval has pruned the status of its release (G9)', async () => {
  stage = await setStage({ nodes: 10 })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const [node] = await nodesOn(stage, 'v2')
  await stage.simulator.nodes.kill(node!)
  await stage.until('the release has failed', async () => (await stage.release())?.status?.failure?.stops === true)
  await stage.simulator.nodes.revive(node!)
  // Another generation that starts no release.
  await stage.patchDaemonSet({ spec: { minReadySeconds: 1 } })
  await stage.pass(60_000)
  await define(stage, 'theirs')
  await stage.pass(3_000)
  await stage.approve()
  expect((await stage.rollout()).status).not.toHaveProperty('releaseGeneration')
  const before = deletions(stage)
  await define(stage, 'ours')
  await stage.pass(60_000)
  expect((await stage.rollout()).status?.canaryStatus).toMatchObject({ currentStepIndex: 1, currentStepState: 'StepPaused' })
  expect(deletions(stage)).toBe(before)
})

it('a failed version stays stopped after other clients have pruned the statuses of its Rollout and its BatchRelease (G9)', async () => {
  const annotations = { 'sim.tranche.dev/heal-ms': '60000' }
  stage = await setStage({
    nodes: 10,
    annotations,
    steps: [{ replicas: '20%', pause: { duration: 30 } }, { replicas: '100%' }],
    policy: { failure: { progressDeadlineSeconds: 20 } },
  })
  await stage.setImage('v2-bad-heals')
  await stage.until('the release has failed', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed')
  // Another generation that starts no release.
  await stage.patchDaemonSet({ spec: { minReadySeconds: 1 } })
  await stage.pass(120_000)
  const before = deletions(stage)
  await define(stage, 'theirs')
  await stage.pass(3_000)
  const body = { status: { message: 'written under the definitions of OpenKruise' } }
  const options = { subresource: 'status' }
  const rollout = await stage.client.patch<Rollout>(resourcePaths.rollouts, stageKey, { type: 'merge', body }, options)
  const release = await stage.client.patch<BatchRelease>(resourcePaths.batchReleases, stageKey, { type: 'merge', body }, options)
  expect([rollout.status?.failure, release.status?.failure]).toEqual([undefined, undefined])
  await stage.pass(3_000)
  await define(stage, 'ours')
  await stage.pass(120_000)
  expect(deletions(stage)).toBe(before)
  expect(await condition(stage, 'Stalled')).toMatchObject({ status: 'True', reason: 'ReleaseFailed' })
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"retry-1","type":"retry"}' } } })
  await stage.until('it continues', () => deletions(stage) > before)
  expectKept(stage)
})

it('a step for one node stays one when another client has pruned its selector, until the manifest is applied again (G3)', async () => {
  const nodes = { matchLabels: { 'kubernetes.io/hostname': 'node-001' } }
  const steps = [{ nodes, replicas: '100%', pause: {} }, { replicas: '100%' }]
  stage = await setStage({ nodes: 6, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await define(stage, 'theirs')
  await stage.pass(3_000)
  const body = { status: { message: 'written under the definitions of OpenKruise' } }
  const options = { subresource: 'status' }
  const pruned = await stage.client.patch<Rollout>(resourcePaths.rollouts, stageKey, { type: 'merge', body }, options)
  await stage.client.patch<BatchRelease>(resourcePaths.batchReleases, stageKey, { type: 'merge', body }, options)
  expect(pruned.spec.strategy.canary?.steps?.[0]).not.toHaveProperty('nodes')
  await stage.pass(3_000)
  await define(stage, 'ours')
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toEqual(['node-001'])
  expect((await condition(stage, 'Stalled'))?.message).toContain('apply the manifest of the Rollout again')
  await stage.patchRollout({ spec: { strategy: { canary: { steps } } } })
  await stage.until('it is not stalled', async () => (await condition(stage, 'Stalled'))?.status === 'False')
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v2')).toEqual(['node-001'])
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a BatchRelease that is being deleted keeps its permit record under other definitions (F11, G2)', async () => {
  const annotations = { 'sim.tranche.dev/start-ms': '90000' }
  stage = await setStage({ nodes: 6, maxUnavailable: 2, annotations, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await stage.until('pods were deleted', () => deletions(stage) === 2)
  const inFlight = await podUids(2)
  await stage.client.delete(resourcePaths.batchReleases, stageKey)
  await stage.pass(1_000)
  await define(stage, 'theirs')
  await stage.pass(20_000)
  await define(stage, 'ours')
  await stage.pass(15_000)
  expect(await podUids(2)).toEqual(inFlight)
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

/** Uids of the pods of the first permits. */
async function podUids(count: number): Promise<readonly string[] | undefined> {
  return (await stage.release())?.status?.flight?.permits.slice(0, count).map(({ podUid }) => podUid)
}

it('a standby controller does not mistake objects pruned by temporary definitions for the stored ones (G7, F11)', async () => {
  await releaseAndAbort(['controller-1', 'controller-2'])
  const { heldRevisions, answeredActions, lastAction } = (await stage.rollout()).status!
  await define(stage, 'theirs')
  // The watches end, and the objects are listed by definitions that prune them.
  await stage.pass(3_000)
  await define(stage, 'ours')
  await stage.program('controller-1').stop()
  await stage.pass(60_000)
  expect((await stage.rollout()).status).toMatchObject({ heldRevisions, answeredActions, lastAction })
})

it('an action is not carried out a second time after other definitions pruned the answers (G10)', async () => {
  await releaseAndAbort()
  await stage.setImage('v3')
  await untilPausedAt(stage, 1)
  await define(stage, 'theirs')
  await stage.patchRollout({ metadata: { annotations: { 'example.com/seen': 'under the definitions of OpenKruise' } } })
  await define(stage, 'ours')
  await stage.until('the action is refused', async () => (await stage.rollout()).status?.lastAction?.result === 'Refused')
  expect((await stage.rollout()).status?.lastAction).toMatchObject({
    id: 'abort-1',
    reason: expect.stringContaining('the status has lost its record of answered actions'),
  })
  await stage.pass(60_000)
  expect(await nodesOn(stage, 'v3')).toHaveLength(2)
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"abort-2","type":"abort"}' } } })
  await untilReleased(stage, 'v1')
  expectKept(stage)
})

it('a revision stays blocked when another program writes the Rollout under other definitions (G12)', async () => {
  await releaseAndAbort()
  const [held] = (await stage.rollout()).status!.heldRevisions!
  await define(stage, 'theirs')
  const written = await stage.client.patch<Rollout>(resourcePaths.rollouts, stageKey, {
    type: 'merge',
    body: { metadata: { annotations: { 'example.com/seen': 'under the definitions of OpenKruise' } } },
  })
  expect(written.status).not.toHaveProperty('heldRevisions')
  await stage.setImage('v2')
  await stage.pass(60_000)
  const before = deletions(stage)
  await define(stage, 'ours')
  await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
  await stage.pass(60_000)
  expect(deletions(stage)).toBe(before)
  const { digest, revision, reason, at } = held!
  expect((await stage.rollout()).status?.heldRevisions).toMatchObject([{ digest, revision, reason, at }])
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"retry-1","type":"retry"}' } } })
  await untilPausedAt(stage, 1)
  expect((await stage.rollout()).metadata.annotations).not.toHaveProperty(['tranche.dev/held-revisions'])
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

describe('an action over REST or the command line', () => {
  it.each(['abort', 'pause'] as const)(
    'of type %s is rejected while other definitions are served, and drops nothing (F11, G10)',
    async (type) => {
      await pausedWithMemory()
      await define(stage, 'theirs')
      await stage.pass(3_000)
      const { resourceVersion } = (await stage.rollout()).metadata
      expect(await ask({ type })).toBe('CRD_OUTDATED')
      expect((await stage.rollout()).metadata.resourceVersion).toBe(resourceVersion)
      await define(stage, 'ours')
      expect((await stage.rollout()).status).toMatchObject(remembered)
      await stage.pass(20_000)
      expect(await ask({ type })).toMatchObject({ state: 'acknowledged' })
    },
  )

  it('is rejected if other definitions come between its read and its write (F11, G10)', async () => {
    await pausedWithMemory()
    const { resourceVersion } = (await stage.rollout()).metadata
    expect(await ask({ type: 'abort' }, { beforeWrite: () => defineBy(stage.client, 'theirs') })).toBe('CRD_OUTDATED')
    await define(stage, 'ours')
    const { metadata, status } = await stage.rollout()
    expect(metadata.resourceVersion).toBe(resourceVersion)
    expect(status).toMatchObject(remembered)
  })

  it('is rejected because its Rollout has lost fields, even if the schemas that it reads are outdated (F11, G10)', async () => {
    await pausedWithMemory()
    const { resourceVersion } = (await stage.rollout()).metadata
    const before = await stage.client.text(SCHEMAS)
    const text = (): Promise<string> => Promise.resolve(before)
    expect(await ask({ type: 'abort' }, { beforeWrite: () => defineBy(stage.client, 'theirs'), text })).toBe('CRD_OUTDATED')
    await define(stage, 'ours')
    const { metadata, status } = await stage.rollout()
    expect(metadata.resourceVersion).toBe(resourceVersion)
    expect(status).toMatchObject(remembered)
  })

  it.each(['abort', 'pause'] as const)('of type %s is carried out while no schema can be read (G9)', async (type) => {
    await pausedWithMemory()
    expect(await ask({ type }, { text: unavailable })).toMatchObject({ state: 'acknowledged' })
  })

  it('that continues the release is rejected while no schema can be read (F11)', async () => {
    await pausedWithMemory()
    const { resourceVersion } = (await stage.rollout()).metadata
    expect(await ask({ type: 'approve', body: { expectedStep: 1 } }, { text: unavailable })).toBe('API_REFUSED')
    expect((await stage.rollout()).metadata.resourceVersion).toBe(resourceVersion)
  })

  it('is carried out for a user who may not read the schemas', async () => {
    await pausedWithMemory()
    const text = (): Promise<string> => Promise.reject(new KubeStatusError({ attempt: `GET ${SCHEMAS}`, status: 403 }))
    expect(await ask({ type: 'pause' }, { text })).toMatchObject({ state: 'acknowledged' })
  })
})

const SCHEMAS = '/openapi/v3/apis/rollouts.kruise.io/v1beta1'

const remembered = { stableDigest: expect.any(String) as string, answeredActions: ['abort-1'], heldRevisions: [{}] }

async function pausedWithMemory(): Promise<void> {
  await releaseAndAbort()
  await stage.setImage('v3')
  await untilPausedAt(stage, 1)
  expect((await stage.rollout()).status).toMatchObject(remembered)
}

interface Disturbance {
  /** Called between reading and writing. */
  readonly beforeWrite?: () => Promise<void>
  /** Answers requests for schemas in place of the API server. */
  readonly text?: KubeClient['text']
}

/** Answer to requests for schemas while the API server is unavailable. */
const unavailable = (): Promise<string> => Promise.reject(new KubeStatusError({ attempt: `GET ${SCHEMAS}`, status: 503 }))

/** Sends an action as the REST API does. @returns code of the error if it is rejected */
async function ask(
  asked: Pick<ActionOrder, 'type'> & Partial<Pick<ActionOrder, 'body'>>,
  { beforeWrite, text }: Disturbance = {},
): Promise<ActionAnswer | string> {
  const { clock, simulator } = stage
  const open = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'tranche-api/1', log: silentLogger })
  const patch: typeof open.patch = async (...args) => {
    await beforeWrite?.()
    return open.patch(...args)
  }
  const client = { ...open, ...(beforeWrite !== undefined && { patch }), ...(text !== undefined && { text }) }
  const order = { on: 'Rollout', key: stageKey, body: {}, by: 'alice', via: 'rest', waitMs: 60_000, ...asked } as const
  const ports = { client, clock, log: silentLogger, component: 'tranche-api' }
  const answer = carryOut(ports, order).catch((error: unknown) => {
    if (isAppError(error)) return error.code
    throw error
  })
  let settled = false
  void answer.finally(() => (settled = true))
  await stage.until('it is answered', () => settled, 120_000)
  return answer
}

/** Leaves a blocked revision and an answered action in the status. */
async function releaseAndAbort(controllers = ['controller-1']): Promise<void> {
  stage = await setStage({ nodes: 10, controllers })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': '{"id":"abort-1","type":"abort"}' } } })
  await untilReleased(stage, 'v1')
}

const byHand: BatchRelease & { readonly apiVersion: string; readonly kind: string } = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'BatchRelease',
  metadata: { ...stageKey } as BatchRelease['metadata'],
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
    releasePlan: { batches: [{ canaryReplicas: 4 }, { canaryReplicas: '100%' }], batchPartition: 0, enableExtraWorkloadForCanary: false },
  },
}

async function untilOutdated(): Promise<void> {
  await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.reason === 'CRDOutdated')
}

/** Waits for the event, which replaces a status that must not be written. */
async function untilWarned(): Promise<void> {
  await stage.until('an event warns of it', async () => (await warnings()).length > 0)
  expect(await warnings()).toMatchObject([{ message: expect.stringMatching(lacks) }])
}

async function warnings(): Promise<readonly { readonly message: string }[]> {
  const { namespace } = stageKey
  const { items } = await stage.client.list<{ readonly reason: string; readonly message: string }>(resourcePaths.events, { namespace })
  return items.filter(({ reason }) => reason === 'CRDOutdated')
}

async function rollouts(): Promise<number> {
  return (await stage.client.list(resourcePaths.rollouts, { namespace: stageKey.namespace })).items.length
}

function writes(): number {
  return stage.recording().filter(({ kind }) => kind === 'Rollout' || kind === 'BatchRelease').length
}
