import { FORMER_REVISIONS_MAX, type Rollout, type RolloutStatus } from '@tranche/api-schema'
import { type NodeView, toFleetView } from '@tranche/fleet'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

describe('the former revisions of a status', () => {
  it('are none where a release reached every node', () => {
    const fake = atRest()
    release(fake, 'v2')
    expect(formerOf(fake)).toEqual([])
  })

  it('are those of dead nodes, and stay in the releases that follow (G1)', () => {
    const fake = atRest()
    setReady(fake, 'node-0', false)
    release(fake, 'v2')
    expect(formerOf(fake)).toEqual(['hash-v1'])
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ stableRevision: 'hash-v2', canaryRevision: 'hash-v3', formerRevisions: ['hash-v1'] })
    promote(fake)
    expect(formerOf(fake)).toEqual(['hash-v1'])
    setReady(fake, 'node-0', true)
    settle(fake)
    release(fake, 'v4')
    expect(formerOf(fake)).toEqual([])
  })

  it('do not include one that only nodes run that are not desired any more, nor is it the stable one of the next release (G1)', () => {
    const fake = atRest()
    setReady(fake, 'node-0', false)
    release(fake, 'v2')
    expect(formerOf(fake)).toEqual(['hash-v1'])
    const undesire = (node: NodeView): NodeView => (node.name === 'node-0' ? { ...node, desired: false } : node)
    fake.readsAs = (view) => ({ ...view, fleet: toFleetView(view.fleet.nodes.map(undesire)) })
    release(fake, 'v3')
    expect([fake.rollout?.status?.stableRevision, formerOf(fake)]).toEqual(['hash-v3', []])
    fake.setImage('v4')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ stableRevision: 'hash-v3', canaryRevision: 'hash-v4' })
    expect(fake.release?.spec.tranche?.formerRevisions).toBeUndefined()
  })

  it('do not include one that runs only on nodes that are not desired when the Rollout is created (G1)', () => {
    const fake = withOldNodes(1)
    const undesire = (node: NodeView): NodeView => (node.name === 'node-0' ? { ...node, desired: false } : node)
    fake.readsAs = (view) => ({ ...view, fleet: toFleetView(view.fleet.nodes.map(undesire)) })
    settle(fake)
    expect([fake.rollout?.status?.stableRevision, formerOf(fake)]).toEqual(['hash-v1', []])
  })

  it('do not include one that was rolled back, which may have taken its nodes down (G1)', () => {
    const fake = atRest()
    fake.setImage('v2')
    settle(fake)
    setReady(fake, 'node-0', false)
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.phase, formerOf(fake)]).toEqual(['v1', 'Healthy', []])
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.spec.tranche?.formerRevisions).toBeUndefined()
  })

  it('never include one that another template replaced (G1)', () => {
    const fake = atRest()
    fake.setImage('v2')
    settle(fake)
    setReady(fake, 'node-0', false)
    release(fake, 'v3')
    expect(fake.pods.find(({ node }) => node === 'node-0')?.hash).toBe('hash-v2')
    expect([fake.rollout?.status?.phase, formerOf(fake)]).toEqual(['Healthy', []])
  })

  it('include one that is released again, until it is replaced or rolled back (G1, G6)', () => {
    const fake = atRest()
    setReady(fake, 'node-0', false)
    release(fake, 'v2')
    fake.setImage('v1')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ canaryRevision: 'hash-v1', formerRevisions: ['hash-v1'] })
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ stableRevision: 'hash-v2', canaryRevision: 'hash-v3' })
    expect(fake.release?.spec.tranche?.formerRevisions).toBeUndefined()
  })

  it('do not include one whose release was frozen with its Rollout, and that a new one finds (G1)', () => {
    const fake = atRest()
    fake.setImage('v2')
    settle(fake)
    setReady(fake, fake.pods.find(({ hash }) => hash === 'hash-v2')!.node, false)
    const { metadata, spec } = fake.rollout!
    fake.deleteRollout()
    settle(fake)
    fake.rollout = {
      metadata: { namespace: 'demo', name: 'agent', uid: 'next', resourceVersion: metadata.resourceVersion!, generation: 1 },
      spec,
    }
    fake.setImage('v1')
    settle(fake)
    expect([fake.rollout?.status?.stableRevision, formerOf(fake)]).toEqual(['hash-v1', []])
  })

  it.each([
    ['its stable revision, as under the definitions of OpenKruise', ({ stableRevision: _lost, ...kept }: RolloutStatus) => kept],
    ['everything', () => undefined],
  ])('do not include one that a release brought before the status lost %s (G1)', (_what, lose) => {
    const fake = atRest()
    fake.setImage('v2')
    settle(fake)
    fake.rollout = { ...fake.rollout!, status: lose(fake.rollout!.status!) } as Rollout
    fake.setImage('v3')
    settle(fake)
    expect(fake.pods.filter(({ hash }) => hash === 'hash-v2').length + Number(fake.release !== undefined)).toBeGreaterThan(0)
    expect([formerOf(fake), fake.release?.spec.tranche?.formerRevisions]).toEqual([[], undefined])
  })

  it('do not include a superseded one where the status loses its stable revision, as under the definitions of OpenKruise (G1)', () => {
    const fake = atRest()
    fake.setImage('v2')
    settle(fake)
    setReady(fake, fake.pods.find(({ hash }) => hash === 'hash-v2')!.node, false)
    fake.setImage('v3')
    settle(fake)
    expect(fake.pods.some(({ hash }) => hash === 'hash-v2')).toBe(true)
    const { stableRevision: _lost, ...kept } = fake.rollout!.status!
    fake.rollout = { ...fake.rollout!, status: kept }
    settle(fake)
    expect([fake.rollout?.status?.stableRevision, formerOf(fake)]).toEqual(['hash-v1', []])
  })

  it('are known from the first status, in a native update too (G6)', () => {
    const fake = withOldNodes(1)
    fake.setImage('v2')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({
      canaryRevision: 'hash-v2',
      stableRevision: 'hash-v1',
      formerRevisions: ['hash-old-00'],
    })
  })

  it('are for a new Rollout all that run beside its stable one', () => {
    const fake = withOldNodes(1)
    settle(fake)
    expect([fake.rollout?.status?.phase, fake.rollout?.status?.stableRevision, formerOf(fake)]).toEqual([
      'Healthy',
      'hash-v1',
      ['hash-old-00'],
    ])
  })

  it('are at most as many as the status may name', () => {
    const fake = withOldNodes(FORMER_REVISIONS_MAX + 2)
    settle(fake)
    expect(formerOf(fake)).toHaveLength(FORMER_REVISIONS_MAX)
    expect(formerOf(fake).slice(0, 2)).toEqual(['hash-old-00', 'hash-old-01'])
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

function formerOf(fake: FakeCluster): readonly string[] {
  return fake.rollout?.status?.formerRevisions ?? []
}
