import { LEFT_REVISIONS_MAX } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

describe('the revisions that completed releases leave behind', () => {
  it('are none where a release reached every node', () => {
    const fake = atRest()
    release(fake, 'v2')
    expect(leftIn(fake)).toEqual([])
  })

  it('are those of dead nodes, and stay in the releases that follow (G1)', () => {
    const fake = atRest()
    setReady(fake, 'node-0', false)
    release(fake, 'v2')
    expect(leftIn(fake)).toEqual(['hash-v1'])
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ stableRevision: 'hash-v2', canaryRevision: 'hash-v3', leftRevisions: ['hash-v1'] })
    promote(fake)
    expect(leftIn(fake)).toEqual(['hash-v1'])
    setReady(fake, 'node-0', true)
    settle(fake)
    release(fake, 'v4')
    expect(leftIn(fake)).toEqual([])
  })

  it('do not include one that was rolled back, which may have taken its nodes down (G1)', () => {
    const fake = atRest()
    fake.setImage('v2')
    settle(fake)
    setReady(fake, 'node-0', false)
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.phase, leftIn(fake)]).toEqual(['v1', 'Healthy', []])
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.spec.tranche?.leftRevisions).toBeUndefined()
  })

  it('do not include one that another template replaced, until that one is released', () => {
    const fake = atRest()
    fake.setImage('v2')
    settle(fake)
    setReady(fake, 'node-0', false)
    fake.setImage('v3')
    settle(fake)
    expect([fake.pods.find(({ node }) => node === 'node-0')?.hash, fake.release?.spec.tranche?.leftRevisions]).toEqual([
      'hash-v2',
      undefined,
    ])
    promote(fake)
    expect([fake.rollout?.status?.phase, leftIn(fake)]).toEqual(['Healthy', ['hash-v2']])
  })

  it('no longer include one that is released again', () => {
    const fake = atRest()
    setReady(fake, 'node-0', false)
    release(fake, 'v2')
    fake.setImage('v1')
    settle(fake)
    expect([leftIn(fake), fake.release?.spec.tranche?.leftRevisions]).toEqual([[], undefined])
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ stableRevision: 'hash-v2', canaryRevision: 'hash-v3' })
    expect(fake.release?.spec.tranche?.leftRevisions).toBeUndefined()
  })

  it('are for a new Rollout all that run on nodes beside its stable one', () => {
    const fake = withOldNodes(1)
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.rollout?.status?.stableRevision, leftIn(fake)]).toEqual([
      'Healthy',
      'hash-v1',
      ['hash-old-00'],
    ])
  })

  it('are at most as many as the status may name', () => {
    const fake = withOldNodes(LEFT_REVISIONS_MAX + 2)
    settle(fake)
    expect(leftIn(fake)).toHaveLength(LEFT_REVISIONS_MAX)
    expect(leftIn(fake).slice(0, 2)).toEqual(['hash-old-00', 'hash-old-01'])
  })
})

function atRest(): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }], maxUnavailable: 3 })
  settle(fake)
  return fake
}

/** The first nodes are dead, each with a pod of a revision of its own. */
function withOldNodes(count: number): FakeCluster {
  const fake = new FakeCluster({ nodes: count + 5 })
  const hashes = new Map(Array.from({ length: count }, (_, at) => [`node-${at}`, `hash-old-${String(at).padStart(2, '0')}`]))
  fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy: { type: 'OnDelete' } } })
  for (const node of hashes.keys()) setReady(fake, node, false)
  fake.pods = fake.pods.map((pod) => ({ ...pod, hash: hashes.get(pod.node) ?? pod.hash }))
  return fake
}

function release(fake: FakeCluster, image: string): void {
  fake.setImage(image)
  settle(fake)
  promote(fake)
}

function promote(fake: FakeCluster): void {
  fake.act({ id: `p-${fake.image()}`, type: 'promote' })
  settle(fake)
}

function setReady(fake: FakeCluster, node: string, ready: boolean): void {
  fake.nodes.set(node, { ...fake.nodes.get(node)!, ready })
}

function leftIn(fake: FakeCluster): readonly string[] {
  return fake.rollout?.status?.leftRevisions ?? []
}
