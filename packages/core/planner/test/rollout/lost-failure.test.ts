import { FAILURE_ANNOTATION } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const steps = [{ replicas: '20%', pause: { duration: 600 } }, { replicas: '100%' }]

describe('a verdict whose BatchRelease is deleted before the status of the Rollout has it', () => {
  it.each<[string, (fake: FakeCluster) => unknown]>([
    ['has only its annotation', (fake) => [copyFailure(fake), removeRelease(fake)]],
    ['has nothing yet, and it waits for nodes in flight', (fake) => [deleteRelease(fake), passRelease(fake)]],
    ['has only its annotation, and it waits for nodes in flight', (fake) => [copyFailure(fake), deleteRelease(fake), passRelease(fake)]],
    ['has only its annotation, and an earlier version of the controller detaches it', (fake) => [copyFailure(fake), deleteAsBefore(fake)]],
  ])('stops the release until a retry, where the Rollout %s (G7)', (_what, lose) => {
    const fake = failed()
    lose(fake)
    expect(fake.rollout?.status?.failure).toBeUndefined()
    settle(fake)
    expectStopped(fake)
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    expect(fake.release?.spec.tranche?.hold).toBeUndefined()
    fake.nowMs += 600_000
    settle(fake)
    expectReleased(fake)
  })

  it('stops the release where it came after a retry, and the status still has the failure from before (G7)', () => {
    const fake = failed()
    settle(fake)
    fake.act({ id: 'r', type: 'retry' })
    for (let pass = 0; fake.release?.spec.tranche?.retry === undefined && pass < 10; pass++) fake.passRollout()
    fake.latch()
    copyFailure(fake)
    expect(fake.rollout?.status?.failure).not.toHaveProperty('retry')
    removeRelease(fake)
    settle(fake)
    expectStopped(fake)
  })

  it('stops the update of nodes that the release had left (G7, G12)', () => {
    const fake = leftWithNodes('node-3', 'node-4')
    fake.nodes.set('node-3', { ready: true, bad: true })
    settle(fake)
    fake.nowMs += 700_000
    for (let round = 0; fake.release?.status?.failure?.stops !== true && round < 20; round++) fake.passRelease()
    copyFailure(fake)
    fake.nodes.set('node-3', { ready: true, bad: false })
    removeRelease(fake)
    fake.nodes.set('node-4', { ready: true, bad: false })
    settle(fake)
    expect(stalled(fake)).toBe('ReleaseFailed')
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-4'])
  })

  it('rolls nothing back where only the annotation has it, because a user may have written that: it waits for a person', () => {
    const fake = failed('Rollback')
    annotate(fake, copyOf(fake))
    removeRelease(fake)
    settle(fake)
    expectStopped(fake)
    expect([fake.image(), fake.rollout?.status?.heldRevisions]).toEqual(['v2', undefined])
    expect(fake.rollout?.status?.failure?.message).toContain('so failure.action does not apply')
  })

  it('stops nothing by a policy that says Continue (G6)', () => {
    const fake = failed()
    copyFailure(fake)
    removeRelease(fake)
    fake.policy = { failure: { action: 'Continue' } }
    settle(fake)
    fake.nowMs += 600_000
    settle(fake)
    expectReleased(fake)
  })
})

describe('an annotation that a user has written', () => {
  it.each<[string, (copy: Record<string, unknown>) => Record<string, unknown>]>([
    ['of another release of the same revision', (copy) => ({ ...copy, release: `${String(copy['release'])}9` })],
    ['from before a retry that was accepted', (copy) => ({ ...copy, retry: 'another' })],
  ])('stops nothing where it has a failure %s (G6)', (_what, change) => {
    const fake = paused()
    annotate(fake, JSON.stringify(change({ reason: 'NodesFailed', at: stamp(fake), release: fake.release!.spec.tranche!.release })))
    removeRelease(fake)
    settle(fake)
    expect([stalled(fake), fake.rollout?.metadata.annotations?.[FAILURE_ANNOTATION]]).toEqual([undefined, undefined])
  })

  it('is removed where the BatchRelease has no failure', () => {
    const fake = paused()
    annotate(fake, JSON.stringify({ reason: 'NodesFailed', at: stamp(fake), release: fake.release!.spec.tranche!.release }))
    settle(fake)
    expect([stalled(fake), fake.rollout?.metadata.annotations?.[FAILURE_ANNOTATION]]).toEqual([undefined, undefined])
  })
})

function paused(): FakeCluster {
  const fake = new FakeCluster({ steps })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  return fake
}

/** The BatchRelease has failed; the Rollout has not read that. */
function failed(action?: 'Rollback'): FakeCluster {
  const fake = paused()
  fake.latch({ ...(action !== undefined && { action }) })
  return fake
}

function leftWithNodes(...names: readonly string[]): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '100%' }], scope: 'release' })
  settle(fake)
  for (const name of names) fake.nodes.set(name, { ready: false, bad: false })
  fake.setImage('v2')
  settle(fake)
  expect(fake.rollout?.status?.phase).toBe('Healthy')
  return fake
}

/** The Rollout writes the annotation, and dies before it writes the status. */
function copyFailure(fake: FakeCluster): void {
  fake.passRollout()
  expect(fake.rollout?.metadata.annotations?.[FAILURE_ANNOTATION]).toBe(copyOf(fake))
}

function copyOf({ release }: FakeCluster): string {
  const { reason, at, release: id, retry } = release!.status!.failure!
  return JSON.stringify({ reason, at, release: id, retry })
}

function annotate(fake: FakeCluster, text: string): void {
  const { metadata } = fake.rollout!
  fake.rollout = { ...fake.rollout!, metadata: { ...metadata, annotations: { ...metadata.annotations, [FAILURE_ANNOTATION]: text } } }
}

function removeRelease(fake: FakeCluster): void {
  fake.release = undefined
}

/** A client deletes it while a node is in flight, so that it does not detach at once. */
function deleteRelease(fake: FakeCluster): void {
  const { metadata, status } = fake.release!
  const permit = { node: 'node-0', podUid: 'gone', podResourceVersion: '1', seq: 1, at: stamp(fake) }
  const flight = { ...status!.flight!, permits: [permit] } as NonNullable<typeof status>['flight']
  fake.release = { ...fake.release!, metadata: { ...metadata, deletionTimestamp: stamp(fake) }, status: { ...status, flight } }
}

/** An earlier version removes the failure from the status of a BatchRelease that is being deleted. */
function deleteAsBefore(fake: FakeCluster): void {
  deleteRelease(fake)
  const { failure: _removed, ...status } = fake.release!.status!
  fake.release = { ...fake.release!, status }
}

/** Runs only the reconciler of the BatchRelease. */
function passRelease(fake: FakeCluster): void {
  for (let pass = 0; pass < 5; pass++) fake.passRelease()
  expect(fake.release?.status?.flight?.holds).toMatchObject([{ reason: 'Deleting' }])
}

function expectStopped(fake: FakeCluster): void {
  fake.nowMs += 3_600_000
  settle(fake)
  expect(stalled(fake)).toBe('ReleaseFailed')
  expect(fake.release?.spec.tranche?.hold).toMatchObject({ reason: 'NodesFailed' })
  expect(fake.oldPods()).toHaveLength(4)
}

function expectReleased(fake: FakeCluster): void {
  expect([fake.rollout?.status?.phase, fake.oldPods().length]).toEqual(['Healthy', 0])
}

function stalled(fake: FakeCluster): string | undefined {
  return fake.rollout?.status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True')?.reason
}

function stamp(fake: FakeCluster): string {
  return new Date(fake.nowMs).toISOString()
}
