import { daemonSetAnnotations } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { act, settle } from '../../../../../test/fakes/settle.ts'

describe('a version that no node runs', () => {
  it.each([
    ['in one step', [{ replicas: '100%' }]],
    [
      'in steps without pauses',
      [
        { replicas: '20%', pause: { duration: 0 } },
        { replicas: '60%', pause: { duration: 0 } },
      ],
    ],
  ])('never becomes stable while all nodes are out of reach, %s (G6, G12)', (_how, steps) => {
    const fake = outOfReach(steps)
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      stableRevision: 'hash-v1',
      message: expect.stringContaining('no node of the batch is in reach, and no desired node runs the revision'),
      waitingFor: { reason: 'NoNodeInReach' },
    })
    expect(fake.rollout?.status?.conditions?.find(({ type }) => type === 'Succeeded')).toBeUndefined()
    setReady(fake, ['node-3'])
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
    expect(fake.oldPods()).toHaveLength(4)
  })

  it.each([
    ['with their old pods', false],
    ['without pods, which Kubernetes or a person has deleted', true],
  ])('waits while all nodes are dead and not desired %s, and continues with the first that is back (G3)', (_which, withoutPods) => {
    const fake = outOfReach([{ replicas: '20%', pause: { duration: 0 } }, { replicas: '100%' }])
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: false, bad: false, isTainted: true })
    if (withoutPods) fake.pods = []
    fake.setImage('v2')
    settle(fake)
    fake.nowMs += 3_600_000
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      currentStepIndex: 1,
      stableRevision: 'hash-v1',
      waitingFor: { reason: 'NoNodeInReach', nodes: [...fake.nodes.keys()] },
    })
    fake.nodes.set('node-3', { ready: true, bad: false, isTainted: true })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', stableRevision: 'hash-v1' })
    setReady(fake, ['node-3'])
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
  })

  it('is rolled back by an abort to the version that did run', () => {
    const fake = outOfReach([{ replicas: '100%' }])
    fake.setImage('v2')
    settle(fake)
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.stableRevision, fake.rollout?.status?.canaryStatus?.canaryRevision]).toEqual([
      'v1',
      'hash-v1',
      'hash-v1',
    ])
    setReady(fake, [...fake.nodes.keys()])
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1', rollbackFrom: 'hash-v2' })
  })

  it('is not what the next template is compared with', () => {
    const fake = outOfReach([{ replicas: '100%' }])
    fake.setImage('v2')
    settle(fake)
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.spec.tranche).toMatchObject({ canaryRevision: 'hash-v3', stableRevision: 'hash-v1' })
  })

  it('becomes stable with zero desired nodes: there is nothing to release', () => {
    const fake = outOfReach([{ replicas: '100%' }])
    fake.nodes.clear()
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
  })

  it.each([
    ['once its pod is Ready', { ready: true, bad: false }, 'hash-v2'],
    ['never, while its pod is not Ready', { ready: true, bad: true }, 'hash-v1'],
    ['never, while it is dead', { ready: false, bad: false, isTainted: true }, 'hash-v1'],
  ])('becomes stable for a node that joins in the moment of its end %s (G3)', (_when, node, stableRevision) => {
    const fake = outOfReach([{ replicas: '100%' }])
    fake.nodes.clear()
    fake.pods = []
    fake.setImage('v2')
    untilCompleted(fake)
    fake.nodes.set('late', { ready: true, bad: true })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      stableRevision: 'hash-v1',
      message: expect.stringContaining('no node has run revision hash-v2 yet'),
      waitingFor: { reason: 'NotAvailable', nodes: ['late'] },
    })
    fake.nodes.set('late', node)
    settle(fake)
    expect(fake.rollout?.status?.stableRevision).toBe(stableRevision)
  })

  it.each([
    ['becomes stable once that node is gone again', (fake: FakeCluster) => fake.nodes.clear(), 'v2', 'hash-v2'],
    ['is rolled back by an abort', (fake: FakeCluster) => fake.act({ id: 'a', type: 'abort' }), 'v1', 'hash-v1'],
    ['makes way for another template', (fake: FakeCluster) => fake.setImage('v3'), 'v3', 'hash-v1'],
  ])('that waits for the first Ready pod of a node that has joined %s', (_what, act, image, stableRevision) => {
    const fake = outOfReach([{ replicas: '100%' }])
    fake.nodes.clear()
    fake.pods = []
    fake.setImage('v2')
    untilCompleted(fake)
    fake.nodes.set('late', { ready: true, bad: true })
    settle(fake)
    act(fake)
    settle(fake)
    expect([fake.image(), fake.rollout?.status?.stableRevision]).toEqual([image, stableRevision])
  })

  it('does not keep a rollback waiting that finds no Ready pod at its end', () => {
    const fake = outOfReach([{ replicas: '100%' }])
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: true })
    fake.setImage('v2')
    for (let round = 0; round < 20; round++) act(fake)
    fake.nodes.clear()
    fake.pods = []
    fake.act({ id: 'a', type: 'abort' })
    for (let round = 0; round < 60 && fake.release?.status?.phase !== 'Completed'; round++) act(fake)
    fake.nodes.set('late', { ready: true, bad: true })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v1' })
  })

  it('has not run on a node that is gone, where its pod was never Ready: it waits for the next one (G3)', () => {
    const fake = outOfReach([{ replicas: '100%' }])
    fake.nodes.clear()
    fake.pods = []
    fake.setImage('v2')
    for (let round = 0; round < 60 && fake.release?.status?.phase !== 'Finalizing'; round++) act(fake)
    fake.nodes.set('early', { ready: true, bad: true })
    for (let round = 0; round < 60 && fake.release?.status?.canaryStatus?.updatedReplicas !== 1; round++) act(fake)
    fake.nodes.clear()
    untilCompleted(fake)
    fake.nodes.set('late', { ready: true, bad: true })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      stableRevision: 'hash-v1',
      waitingFor: { reason: 'NotAvailable', nodes: ['late'] },
    })
    setReady(fake, ['late'])
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
  })

  it('does not become stable for a Rollout whose release ends because it is disabled, and is released once it is enabled (G3)', () => {
    const fake = outOfReach([{ replicas: '100%' }])
    fake.nodes.clear()
    fake.pods = []
    fake.setImage('v2')
    for (let round = 0; round < 3; round++) act(fake)
    fake.onDelete('Complete')
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    for (let round = 0; round < 60 && fake.release?.status?.phase !== 'Completed'; round++) act(fake)
    fake.nodes.set('late', { ready: true, bad: true })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Disabled', stableRevision: 'hash-v1' })
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', stableRevision: 'hash-v1' })
  })

  it.each([
    ['not Ready', true, 'Progressing', 'hash-v1'],
    ['Ready', false, 'Healthy', 'hash-v2'],
  ])('is stable once other clients brought it to every node, by pods that are %s (G3)', (_which, bad, phase, stable) => {
    const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
    settle(fake)
    for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad })
    fake.setImage('v2')
    for (let round = 0; round < 30; round++) act(fake)
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    fake.pods = []
    settle(fake)
    fake.editRollout((spec) => ({ ...spec, disabled: false }))
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase, stableRevision: stable })
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect(fake.image()).toBe(bad ? 'v1' : 'v2')
  })

  it('is released again to nodes that are desired again with their old pods (G6)', () => {
    const fake = outOfReach([{ replicas: '20%', pause: {} }, { replicas: '100%' }])
    const { pods } = fake
    fake.nodes.clear()
    fake.setImage('v2')
    untilCompleted(fake)
    setReady(
      fake,
      pods.map(({ node }) => node),
    )
    fake.pods = [...pods]
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      currentStepIndex: 1,
      stableRevision: 'hash-v1',
      currentStepState: 'StepPaused',
    })
    expect(fake.oldPods()).toHaveLength(4)
    fake.act({ id: 'a', type: 'approve', expectedStep: 1 })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
  })

  it('becomes stable beside a node that was lost in its update, for a node that joins, once its pod is Ready (G3)', () => {
    const fake = outOfReach([{ replicas: '100%' }])
    for (const name of ['node-1', 'node-2', 'node-3', 'node-4']) fake.nodes.delete(name)
    setReady(fake, ['node-0'])
    fake.pods = fake.pods.filter(({ node }) => node === 'node-0')
    fake.setImage('v2')
    for (let round = 0; round < 60 && fake.oldPods().length > 0; round++) act(fake)
    fake.nodes.clear()
    fake.pods = []
    withoutExecutor(fake)
    expect(fake.release?.status?.waiting).toMatchObject({ reason: 'NodesLeft', nodes: ['node-0'] })
    fake.nodes.set('late', { ready: true, bad: true })
    withoutExecutor(fake)
    expect(fake.rollout?.status).toMatchObject({
      phase: 'Progressing',
      stableRevision: 'hash-v1',
      message: expect.stringMatching(/node-0.*; no node runs a Ready pod of revision hash-v2, so it becomes the stable one/),
      waitingFor: { reason: 'NotAvailable', nodes: ['late'] },
    })
    setReady(fake, ['late'])
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
  })

  it('does not become stable either where its BatchRelease counts as over, because another client removed in-progressing (G12)', () => {
    const fake = outOfReach([{ replicas: '20%', pause: { duration: 0 } }])
    setReady(fake, ['node-0'])
    fake.setImage('v2')
    for (let round = 0; round < 60 && fake.release?.status?.phase !== 'Finalizing'; round++) act(fake)
    fake.nodes.delete('node-0')
    const { [daemonSetAnnotations.inProgressing]: _gone, ...annotations } = fake.daemonSet.metadata.annotations ?? {}
    fake.editDaemonSet({ metadata: { ...fake.daemonSet.metadata, annotations } })
    settle(fake)
    expect(fake.release?.status?.waiting?.reason).toBe('NodesLeft')
    expect(fake.rollout?.status).toMatchObject({ phase: 'Progressing', stableRevision: 'hash-v1' })
    setReady(fake, ['node-3'])
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ phase: 'Healthy', stableRevision: 'hash-v2' })
  })
})

/** Until nothing changes. No executor takes lost nodes out of the record. */
function withoutExecutor(fake: FakeCluster): void {
  for (let round = 0; round < 60; round++) {
    fake.passRollout()
    fake.passRelease()
    fake.actNatively()
    fake.nowMs += 1_000
  }
}

/** The BatchRelease is Completed, and the Rollout has not read it yet. */
function untilCompleted(fake: FakeCluster): void {
  for (let round = 0; round < 60 && fake.release?.status?.phase !== 'Completed'; round++) act(fake)
  expect(fake.release?.status?.phase).toBe('Completed')
  expect(fake.rollout?.status?.phase).toBe('Progressing')
}

/** Five nodes, none of them Ready, on the first version. */
function outOfReach(steps: NonNullable<ConstructorParameters<typeof FakeCluster>[0]>['steps'] & object): FakeCluster {
  const fake = new FakeCluster({ steps, maxUnavailable: 5 })
  settle(fake)
  for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: false, bad: true })
  return fake
}

function setReady(fake: FakeCluster, names: readonly string[]): void {
  for (const name of names) fake.nodes.set(name, { ready: true, bad: false })
}
