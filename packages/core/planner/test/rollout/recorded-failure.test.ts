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
      if (its.rollout?.status?.failure?.stops === true && recordIn(its) === undefined) alone.push(planRollout(its.rolloutView()!).kind)
    })
    expect(alone).toEqual([])
    expect(JSON.parse(recordIn(fake)!)).toEqual({
      reason: 'NodesFailed',
      action: 'Pause',
      at: fake.rollout!.status!.failure!.at,
      release: fake.release!.spec.tranche!.release,
    })
  })

  it('is removed after a retry', () => {
    const fake = failed()
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect(recordIn(fake)).toBeUndefined()
  })

  it('is not written for a failure that stops nothing', () => {
    const fake = failed(undefined, { stops: false, action: 'Continue' })
    expect(recordIn(fake)).toBeUndefined()
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
    expect(recordIn(fake)).toBeUndefined()
  })

  it.each<[string, (record: Record<string, unknown>) => string]>([
    ['another revision', (record) => JSON.stringify({ ...record, release: `${String(record['release']).split('/')[0]}/hash-v1/99` })],
    ['another Rollout', (record) => JSON.stringify({ ...record, release: 'other-uid/hash-v2/99' })],
    ['a retry of unlimited length', (record) => JSON.stringify({ ...record, retry: 'r'.repeat(257) })],
    ['no release', () => JSON.stringify({ reason: 'NodesFailed' })],
    ['no JSON', () => '{'],
    ['no object', () => '"constructor"'],
  ])('is ignored where it names %s', (_title, textOf) => {
    const fake = failed()
    const text = textOf(JSON.parse(recordIn(fake)!) as Record<string, unknown>)
    prune(fake, text)
    const { failure, releaseGeneration } = fake.rollout!.status!
    expect([failure, releaseGeneration]).toEqual([undefined, 3])
    fake.nowMs += 600_000
    settle(fake)
    expect(fake.rollout?.status?.currentStepIndex).toBe(2)
  })

  it('is ignored beside a status that has its fields', () => {
    const fake = failed()
    const text = recordIn(fake)!
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    annotate(fake, text)
    settle(fake)
    expect([fake.rollout?.status?.failure, recordIn(fake)]).toEqual([undefined, undefined])
  })

  it('gives a reason, an id and a time within their limits, whatever a user wrote', () => {
    const fake = failed()
    const record = JSON.parse(recordIn(fake)!) as object
    prune(fake, JSON.stringify({ ...record, reason: 'x'.repeat(10_000), at: 'yesterday' }))
    const { failure } = fake.rollout!.status!
    expect([failure?.reason.length, failure?.at]).toEqual([100, undefined])
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
function failed(look: (fake: FakeCluster) => void = () => {}, change: Parameters<FakeCluster['latch']>[0] = {}): FakeCluster {
  const fake = new FakeCluster({ steps })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  fake.latch(change)
  settle(fake, () => look(fake))
  return fake
}

/** Another client wrote both statuses under the definitions of OpenKruise; the API server dropped the fields of Tranche. */
function prune(fake: FakeCluster, record = recordIn(fake)): void {
  const { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration, conditions } = fake.rollout!.status!
  const status = { phase, message, canaryStatus, currentStepIndex, currentStepState, observedGeneration, conditions } as RolloutStatus
  fake.rollout = { ...fake.rollout!, status }
  const { tranche: _, ...spec } = fake.release!.spec
  const left = fake.release!.status!
  fake.release = {
    ...fake.release!,
    spec,
    status: { phase: left.phase, canaryStatus: left.canaryStatus, observedGeneration: left.observedGeneration },
  } as BatchRelease
  annotate(fake, record)
  settle(fake)
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

function recordIn({ rollout }: FakeCluster): string | undefined {
  return rollout?.metadata.annotations?.[FAILURE_ANNOTATION]
}
