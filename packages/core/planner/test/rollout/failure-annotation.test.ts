import type { BatchRelease, RolloutStatus } from '@tranche/api-schema'
import { FAILURE_ANNOTATION } from '@tranche/kube-types'
import { planRollout } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: { duration: 600 } }, { replicas: '100%' }]

describe('the annotation that keeps a failure', () => {
  it('is written before the status that first reports that the version is stopped', () => {
    const alone: string[] = []
    const fake = failed((its) => {
      if (its.rollout?.status?.failure?.stops === true && keptIn(its) === undefined) alone.push(planRollout(its.rolloutView()!).kind)
    })
    expect(alone).toEqual([])
    expect(JSON.parse(keptIn(fake)!)).toEqual({
      reason: 'NodesFailed',
      at: fake.rollout!.status!.failure!.at,
      release: fake.release!.spec.tranche!.release,
    })
  })

  it('is removed after a retry', () => {
    const fake = failed()
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect(keptIn(fake)).toBeUndefined()
  })

  it('is removed before the status loses the failure, which it would bring back once the BatchRelease is deleted', () => {
    const fake = failed()
    const alone: string[] = []
    fake.act({ id: 'r', type: 'retry' })
    settle(fake, () => {
      if (fake.rollout?.status?.failure?.stops !== true && keptIn(fake) !== undefined) alone.push(planRollout(fake.rolloutView()!).kind)
    })
    expect([fake.rollout?.status?.failure?.stops, alone]).toEqual([undefined, []])
  })

  it('is not written for a failure that stops nothing', () => {
    const fake = failed(undefined, { stops: false, action: 'Continue' })
    expect(keptIn(fake)).toBeUndefined()
  })

  it('keeps the version stopped where both statuses have lost it, also after another generation of the DaemonSet (G9)', () => {
    const fake = failed()
    fake.editDaemonSet({ spec: { ...fake.daemonSet!.spec, minReadySeconds: 1 } })
    settle(fake)
    prune(fake)
    expectStopped(fake)
    expect(fake.rollout?.status).toMatchObject({ failure: { reason: 'NodesFailed', stops: true } })
    expect(fake.release?.spec.tranche?.hold).toMatchObject({ reason: 'NodesFailed' })
  })

  it('stops the version until a retry that comes after the loss', () => {
    const fake = failed()
    prune(fake)
    expectStopped(fake)
    fake.act({ id: 'r', type: 'retry' })
    fake.nowMs += 600_000
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 2 })
    expect(keptIn(fake)).toBeUndefined()
  })

  it.each([
    ['both statuses have', prune],
    ['that of the Rollout has', pruneRollout],
  ])('keeps a version stopped that failed again after a retry, where %s lost it (G9)', (_which, lose) => {
    const fake = failed()
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    fake.latch()
    settle(fake)
    lose(fake)
    expectStopped(fake)
    expect(fake.rollout?.status).toMatchObject({ failure: { retry: 'r' }, acceptedActions: { retry: 'r' } })
  })

  it('keeps a version stopped that failed in a pause, when the pause ends after the loss (G9)', () => {
    const fake = failed(undefined, {}, (its) => its.pause(true))
    pruneRollout(fake)
    fake.pause(false)
    settle(fake)
    expectStopped(fake)
  })

  it('keeps the nodes that a release left on their pods where both statuses have lost a failure there (G9)', () => {
    const fake = failedOnNodeLeft()
    prune(fake)
    expect(fake.release?.spec.tranche?.left).toEqual({ nodes: ['node-4'] })
    fake.nodes.set('node-3', { ready: true, bad: false })
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake)
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', reason: 'ReleaseFailed' }))
  })

  it('ends in no endless writes where the Rollout is disabled, its release is completed, and its version fails again (G6)', () => {
    const fake = failed()
    fake.onDelete('Complete')
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    prune(fake)
    fake.latch()
    settle(fake)
    expect(fake.rollout?.status?.failure).toMatchObject({ nodes: ['node-0'] })
    expectStopped(fake)
  })

  it('ends in no endless writes where the failure stops nothing any more by the present policy (G6)', () => {
    const fake = failed()
    fake.onDelete('Complete')
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    fake.policy = { failure: { action: 'Continue' } }
    prune(fake)
    expect([fake.rollout?.status?.failure, keptIn(fake)]).toEqual([undefined, undefined])
  })

  it('is ignored beside a status that has lost its answered actions, and names its release (G6)', () => {
    const fake = failed()
    const text = keptIn(fake)
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    fake.act(undefined)
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status?.failure).toBeDefined()
    const { stableRevision: _stable, failure: _failure, lastAction: _last, answeredActions: _answered, ...status } = fake.rollout!.status!
    fake.rollout = { ...fake.rollout!, status: status }
    annotate(fake, text)
    settle(fake)
    expect([fake.rollout?.status?.failure, keptIn(fake)]).toEqual([undefined, undefined])
  })

  it('rolls the version back after the loss, where the policy says so', () => {
    const fake = failed()
    fake.policy = { failure: { action: 'Rollback' } }
    prune(fake)
    expect([fake.image(), fake.oldPods().length]).toEqual(['v1', 0])
    expect(fake.rollout?.status?.heldRevisions).toMatchObject([{ revision: 'hash-v2', reason: 'Failed' }])
  })

  it('leaves it to the policy what follows, and to nothing that a user wrote', () => {
    const fake = failed()
    const copy = JSON.parse(keptIn(fake)!) as object
    prune(fake, JSON.stringify({ ...copy, action: 'Rollback', stops: false }))
    expect(fake.rollout?.status).toMatchObject({ failure: { action: 'Pause', stops: true } })
    expect(fake.rollout?.status).not.toHaveProperty('heldRevisions')
    expectStopped(fake)
  })

  it.each<[string, (copy: Record<string, unknown>) => string]>([
    ['another revision', (copy) => JSON.stringify({ ...copy, release: `${String(copy['release']).split('/')[0]}/hash-v1/99` })],
    ['another Rollout', (copy) => JSON.stringify({ ...copy, release: 'other-uid/hash-v2/99' })],
    ['a retry of unlimited length', (copy) => JSON.stringify({ ...copy, retry: 'r'.repeat(257) })],
    ['a release with more to it', (copy) => JSON.stringify({ ...copy, release: `${String(copy['release'])}/left/${'x'.repeat(10_000)}` })],
    ['no release', () => JSON.stringify({ reason: 'NodesFailed' })],
    ['nothing, because it is invalid JSON', () => '{'],
    ['nothing, because it is no object', () => '"constructor"'],
  ])('is ignored where it names %s', (_title, textOf) => {
    const fake = failed()
    const text = textOf(JSON.parse(keptIn(fake)!) as Record<string, unknown>)
    prune(fake, text)
    const { failure, releaseGeneration } = fake.rollout!.status!
    expect([failure, releaseGeneration]).toEqual([undefined, 3])
    fake.nowMs += 600_000
    settle(fake)
    expect(fake.rollout?.status?.currentStepIndex).toBe(2)
  })

  it('is ignored beside a status that has its fields', () => {
    const fake = failed()
    const text = keptIn(fake)!
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    annotate(fake, text)
    settle(fake)
    expect([fake.rollout?.status?.failure, keptIn(fake)]).toEqual([undefined, undefined])
  })

  it('gives a reason within its limit, and a time that API servers accept, whatever a user wrote', () => {
    const fake = failed()
    const copy = JSON.parse(keptIn(fake)!) as object
    prune(fake, JSON.stringify({ ...copy, reason: 'x'.repeat(10_000), at: '2026-02-30T00:00:00Z' }))
    const { failure } = fake.rollout!.status!
    expect([failure?.reason.length, failure?.at]).toEqual([100, '2026-03-02T00:00:00.000Z'])
    expectStopped(fake)
  })
})

function expectStopped(fake: FakeCluster): void {
  const before = updated(fake)
  fake.nowMs += 3_600_000
  settle(fake)
  expect(updated(fake)).toEqual(before)
  expect(fake.rollout?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'ReleaseFailed' }),
  )
}

/** Version v2 failed on its first node. */
function failed(
  look: (fake: FakeCluster) => void = () => {},
  change: Parameters<FakeCluster['latch']>[0] = {},
  before: (fake: FakeCluster) => void = () => {},
): FakeCluster {
  const fake = new FakeCluster({ steps })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  before(fake)
  settle(fake)
  fake.latch(change)
  settle(fake, () => look(fake))
  return fake
}

/** Another client wrote both statuses under the definitions of OpenKruise; the API server dropped the fields of Tranche. */
function prune(fake: FakeCluster, text = keptIn(fake)): void {
  const { tranche: _, ...spec } = fake.release!.spec
  const { phase, canaryStatus, observedGeneration } = fake.release!.status!
  fake.release = { ...fake.release!, spec, status: { phase, canaryStatus, observedGeneration } } as BatchRelease
  pruneRollout(fake, text)
}

function pruneRollout(fake: FakeCluster, text = keptIn(fake)): void {
  const { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration, conditions } = fake.rollout!.status!
  const status = { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration, conditions } as RolloutStatus
  fake.rollout = { ...fake.rollout!, status }
  annotate(fake, text)
  settle(fake)
}

/** Version v2 failed on node-3 after its release had ended; node-4 is left. */
function failedOnNodeLeft(): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '100%' }] })
  // Pods of v2 are younger than the Rollout: without more, only the revision of the nodes left counts as stable.
  fake.rollout = { ...fake.rollout!, metadata: { ...fake.rollout!.metadata, creationTimestamp: new Date(fake.nowMs).toISOString() } }
  settle(fake)
  for (const node of ['node-3', 'node-4']) fake.nodes.set(node, { ready: false, bad: false })
  fake.setImage('v2')
  settle(fake)
  fake.nowMs += 300_000
  settle(fake)
  fake.nodes.set('node-3', { ready: true, bad: true })
  settle(fake)
  fake.nowMs += 600_000
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', failure: { nodes: ['node-3'], stops: true } })
  return fake
}

function annotate(fake: FakeCluster, record: string | undefined): void {
  const { metadata } = fake.rollout!
  const { [FAILURE_ANNOTATION]: _, ...rest } = metadata.annotations ?? {}
  const annotations = { ...rest, ...(record !== undefined && { [FAILURE_ANNOTATION]: record }) }
  fake.rollout = { ...fake.rollout!, metadata: { ...metadata, annotations } }
}

function updated({ pods }: FakeCluster): readonly string[] {
  return pods.flatMap(({ hash, node }) => (hash === 'hash-v2' ? [node] : []))
}

function keptIn({ rollout }: FakeCluster): string | undefined {
  return rollout?.metadata.annotations?.[FAILURE_ANNOTATION]
}
