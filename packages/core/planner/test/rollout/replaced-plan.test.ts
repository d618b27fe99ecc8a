import type { RolloutStep } from '@tranche/api-schema'
import { expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'
import { setSteps } from './stories.ts'

it.each([
  ['it has detached', detach],
  ['it vanished', vanish],
])('steps that change after %s continue at the first one with as many nodes as were opened (G3)', (_title, lose) => {
  const fake = atStep2()
  lose(fake)
  setSteps(fake, steps(2, 4))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([3, 1])
})

it('steps that change while a policy is missing and the BatchRelease is lost open nothing without an approval (G3)', () => {
  const fake = atStep2()
  withoutPolicy(fake, () => {
    detach(fake)
    setSteps(fake, steps(2, 4))
  })
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([3, 1])
})

it.each([
  ['it vanished', (fake: FakeCluster, change: () => void) => (vanish(fake), change())],
  ['it vanished and a policy is missing', (fake: FakeCluster, change: () => void) => withoutPolicy(fake, () => (vanish(fake), change()))],
])('steps that select other nodes after %s go back to the first one that has nodes to update (G3)', (_title, lose) => {
  const fake = atStep2(onNodes('node-1', 'node-2'))
  lose(fake, () => setSteps(fake, onNodes('node-3', 'node-4')))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([2, 1])
})

it('steps that select other nodes go back to the first one that has nodes to update, and to none that was opened (G3)', () => {
  const fake = atStep2(onNodes('node-1', 'node-2'))
  setSteps(fake, onNodes('node-1', 'node-3'))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([2, 2])
  setSteps(fake, onNodes('node-4', 'node-3'))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([1, 1])
})

it.each<[string, RolloutStep[], RolloutStep[], { readonly old: number; readonly index: number }]>([
  ['one that was finished is removed', onNodes('node-1', 'node-2'), onNodes('node-2'), { old: 3, index: 1 }],
  [
    'one that was finished is removed, and another is added',
    onNodes('node-1', 'node-2'),
    onNodes('node-2', 'node-3'),
    { old: 3, index: 1 },
  ],
  ['the present one changes places with the one before', onNodes('node-1', 'node-2'), onNodes('node-2', 'node-1'), { old: 3, index: 2 }],
  ['the one before is split', onNodes(['node-1', 'node-2'], 'node-3'), onNodes('node-1', 'node-2', 'node-3'), { old: 2, index: 3 }],
  ['they select nodes for the first time', steps(1, 3), onNodes('node-3', 'node-4'), { old: 1, index: 1 }],
  [
    'one that has other nodes comes before the same step',
    steps(1, 3),
    [{ ...onNodes(['node-3', 'node-4'])[0], replicas: 1, pause: {} }, ...steps(3)],
    { old: 1, index: 1 },
  ],
  [
    'one that has no node comes instead of the present one',
    onNodes('node-1', 'node-2'),
    onNodes('node-1', 'no-such-node', 'node-3'),
    { old: 3, index: 2 },
  ],
  [
    'they select nodes no more, and the first one has more than was finished',
    onNodes('node-1', ['node-2', 'node-3']),
    steps(2, 3),
    { old: 2, index: 1 },
  ],
  ['they select nodes no more', onNodes('node-1', 'node-2'), steps(1, 3), { old: 2, index: 2 }],
])('changed steps that select nodes open none without the pauses before them: %s (G3)', (_which, before, after, { old, index }) => {
  const fake = pausedAtStep2(before)
  setSteps(fake, after)
  settle(fake)
  expect({ old: fake.oldPods().length, index: fake.rollout?.status?.currentStepIndex }).toEqual({ old, index })
})

it('a step is inserted without another approval, though the first one left a NotReady node behind, whose place others took', () => {
  const plan = (...sizes: readonly number[]): RolloutStep[] => [{ nodes: among('node-1', 'node-4'), pause: {} }, ...steps(...sizes)]
  const fake = pausedAtStep2(plan(3), (cluster) => cluster.nodes.set('node-4', { ready: false, bad: false }))
  const old = fake.oldPods().length
  setSteps(fake, plan(2, 3))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([old, 3])
})

it.each([
  ['enabled again', again],
  ['created again', recreate],
])('a Rollout that is %s continues at the first of changed steps that has nodes to update (G3)', (_title, back) => {
  const fake = atStep2(onNodes('node-1', 'node-2'))
  back(fake, () => setSteps(fake, onNodes('node-3', ['node-1', 'node-2'])))
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([2, 1])
})

it('a step that selects a node by now which the policy excludes is not run again', () => {
  const fake = atStep2(onNodes('node-1', 'node-2'))
  const exclude = [among('node-0')]
  const policy = { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: { name: 'careful' }, spec: { nodes: { exclude } } }
  fake.readsAs = (view) => ({ ...view, policy: { kind: 'found', policy, problems: [] } as never })
  settle(fake)
  setSteps(fake, onNodes(['node-0', 'node-1'], 'node-2'))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([3, 2])
})

it('steps that select other nodes do not go back to one that was opened and left a NotReady node behind', () => {
  const plan = (last: string): RolloutStep[] => [{ nodes: among('node-1', 'node-5'), pause: {} }, ...onNodes(last)]
  const fake = atStep2(plan('node-2'), (cluster) => cluster.nodes.set('node-5', { ready: false, bad: false }))
  setSteps(fake, plan('node-3'))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([2, 2])
})

it('steps that change while the Rollout is enabled again, and waits for its policy, open nothing without an approval (G3)', () => {
  const fake = atStep2()
  disable(fake, true)
  settle(fake)
  withoutPolicy(fake, () => {
    disable(fake, false)
    settle(fake)
    setSteps(fake, steps(2, 4))
  })
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([3, 1])
})

it('steps that change while a BatchRelease of another owner is in the way open nothing without an approval (G3)', () => {
  const fake = atStep2()
  const { release } = fake
  detach(fake)
  const metadata = { ...release!.metadata, uid: 'other', finalizers: [], ownerReferences: [] }
  const releasePlan = { ...release!.spec.releasePlan, batches: [{ canaryReplicas: 2 }, { canaryReplicas: 4 }, { canaryReplicas: '100%' }] }
  fake.release = { ...release!, metadata, spec: { ...release!.spec, releasePlan } }
  settle(fake)
  setSteps(fake, steps(2, 4))
  settle(fake)
  fake.release = undefined
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([3, 1])
})

it('no step is skipped because nodes came back after the BatchRelease vanished (G3)', () => {
  const fake = atStep2()
  vanish(fake)
  for (const node of ['node-5', 'node-6']) fake.nodes.set(node, { ready: true, bad: false })
  fake.actNatively()
  setSteps(fake, steps(1, 2, 4))
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
})

it.each([
  ['does not change', 1, 2],
  ['grows', 1, 3],
])('a step that %s after its BatchRelease was lost stays the present one', (_title, first, second) => {
  const fake = atStep2()
  detach(fake)
  setSteps(fake, steps(first, second))
  settle(fake)
  expect([fake.oldPods().length, fake.rollout?.status?.currentStepIndex]).toEqual([5 - second, 2])
})

it('the step is that of the changed steps while the BatchRelease is being deleted, and an approval is for it', () => {
  const fake = atStep2()
  fake.release = { ...fake.release!, metadata: { ...fake.release!.metadata, deletionTimestamp: new Date(fake.nowMs).toISOString() } }
  setSteps(fake, steps(2, 4))
  fake.passRollout()
  expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 1, message: 'waiting for the previous BatchRelease to be deleted' })
})

/** Two nodes of five are updated, and step 2 waits for an approval. */
function atStep2(plan = steps(1, 2), prepare?: (fake: FakeCluster) => unknown): FakeCluster {
  const fake = pausedAtStep2(plan, prepare)
  expect(fake.oldPods().length).toBe(3)
  return fake
}

function pausedAtStep2(plan: RolloutStep[], prepare: (fake: FakeCluster) => unknown = () => undefined): FakeCluster {
  const fake = new FakeCluster({ steps: plan })
  settle(fake)
  prepare(fake)
  fake.setImage('v2')
  settle(fake)
  fake.setCanaryStatus({ currentStepState: 'StepReady' })
  settle(fake)
  expect(fake.rollout?.status).toMatchObject({ currentStepIndex: 2, currentStepState: 'StepPaused' })
  return fake
}

function steps(...sizes: readonly number[]): RolloutStep[] {
  return [...sizes.map((replicas) => ({ replicas, pause: {} })), { replicas: '100%' }]
}

/** One node or more in each step, and all in the last. */
function onNodes(...names: readonly (string | readonly string[])[]): RolloutStep[] {
  const selecting = names.map((name) => ({ nodes: among(...[name].flat()), pause: {} }))
  return [...selecting, { replicas: '100%' }]
}

function among(...names: readonly string[]): NonNullable<RolloutStep['nodes']> {
  return { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [...names] }] }
}

/** A client deletes the BatchRelease, which detaches from the DaemonSet. */
function detach(fake: FakeCluster): void {
  fake.release = { ...fake.release!, metadata: { ...fake.release!.metadata, deletionTimestamp: new Date(fake.nowMs).toISOString() } }
  while (fake.release !== undefined) if (!fake.passRelease()) fake.nowMs += 1_000
}

/** A client removes the BatchRelease with its finalizer. */
function vanish(fake: FakeCluster): void {
  fake.release = undefined
}

/** The policy of the Rollout is missing meanwhile. */
function withoutPolicy(fake: FakeCluster, change: () => void): void {
  fake.readsAs = (view) => ({ ...view, policy: { kind: 'missing', name: 'careful' } })
  settle(fake)
  change()
  settle(fake)
  fake.readsAs = (view) => view
  settle(fake)
}

function again(fake: FakeCluster, change: () => void): void {
  disable(fake, true)
  settle(fake)
  change()
  disable(fake, false)
  settle(fake)
}

function recreate(fake: FakeCluster, change: () => void): void {
  const { spec, metadata } = fake.rollout!
  fake.deleteRollout()
  settle(fake)
  const { name, uid, generation = 1 } = metadata
  fake.rollout = { metadata: { namespace: 'demo', name, uid, generation, resourceVersion: '1' }, spec }
  change()
  settle(fake)
}

function disable(fake: FakeCluster, disabled: boolean): void {
  fake.editRollout((spec) => ({ ...spec, disabled }))
}
