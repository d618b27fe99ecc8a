import type { RolloutStep } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { type RolloutView, strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

const pause = { duration: 0 }
const same = (view: RolloutView): RolloutView => view

const obstacles: readonly [string, (view: RolloutView) => RolloutView][] = [
  [
    'PolicyInvalid',
    (view) => ({ ...view, policy: { kind: 'found', policy: { metadata: namedCareful, spec: { soak: { step: 'a while' } } } } }),
  ],
  ['PolicyNotFound', (view) => ({ ...view, policy: { kind: 'missing', name: 'careful' } })],
  ['WorkloadNotFound', (view) => ({ ...view, daemonSet: undefined })],
  ['PeerActive', (view) => ({ ...view, peer: { lease: 'manager', holder: 'manager-0', activeForMs: 12_000 } })],
]

describe('a release that is over but for a node', () => {
  it.each(obstacles)('is stopped by %s, and brought to its end once that is no more (G6, F9)', (reason, spoil) => {
    const toy = leftBehind()
    toy.readsAs = spoil
    settle(toy)
    expect(toy.release?.status?.flight).toMatchObject({ state: 'stopped', holds: [{ reason }] })
    toy.readsAs = same
    settle(toy)
    expect(toy.release?.spec.tranche).toMatchObject({ paused: false })
    expect(toy.release?.spec.tranche).not.toHaveProperty('hold')
    expect(toy.rollout?.status?.message).toContain('1 node is left behind')
    bringBack(toy)
    expectGivenBack(toy)
  })

  it.each<[string, (toy: ToyCluster) => void, (toy: ToyCluster) => void]>([
    ['the generation moves in the same moment', () => {}, (toy) => toy.editRollout((spec) => ({ ...spec }))],
    ['it is paused meanwhile', (toy) => toy.pause(true), (toy) => toy.pause(false)],
    ['its steps change meanwhile', (toy) => setSteps(toy, [{ replicas: 1 }, { replicas: '100%' }]), () => {}],
    ['its steps break the rules meanwhile', (toy) => setSteps(toy, []), (toy) => setSteps(toy, [{ replicas: '100%' }])],
    ['its node is back meanwhile', (toy) => toy.nodes.set('node-4', { ready: true, bad: false }), () => {}],
    ['the BatchRelease is made anew meanwhile', (toy) => (toy.release = undefined), () => {}],
  ])('is brought to its end though %s, of a policy that is invalid for a while (G6, F9)', (_what, meanwhile, then) => {
    const toy = leftBehind()
    toy.policy = { soak: { step: 'a while' } }
    settle(toy)
    meanwhile(toy)
    settle(toy)
    toy.policy = { maxUnavailable: 1 }
    then(toy)
    settle(toy)
    bringBack(toy)
    expectGivenBack(toy)
  })

  it('goes to the next template all the same that came while its policy was invalid', () => {
    const toy = leftBehind()
    toy.policy = { soak: { step: 'a while' } }
    settle(toy)
    toy.setImage('v3')
    settle(toy)
    expect(toy.oldPods()).toHaveLength(5)
    toy.policy = undefined
    settle(toy)
    bringBack(toy)
    expect(toy.rollout?.status?.stableRevision).toBe('hash-v3')
    expectGivenBack(toy)
  })

  it.each<[string, (toy: ToyCluster) => void]>([
    ['deleted', (toy) => toy.deleteRollout()],
    ['disabled', (toy) => toy.editRollout((spec) => ({ ...spec, disabled: true }))],
  ])('is let go where its Rollout is %s while its policy is invalid', (_how, end) => {
    const toy = leftBehind()
    toy.policy = { soak: { step: 'a while' } }
    settle(toy)
    end(toy)
    settle(toy)
    expect(toy.release).toBeUndefined()
  })

  it('keeps the selectors of its own steps, which its sizes go with, when the Rollout gets others (G6)', () => {
    const [a, b] = [{ matchLabels: { pool: 'a' } }, { matchLabels: { pool: 'b' } }]
    const toy = leftBehind([{ replicas: '100%', nodes: a, pause }, { replicas: '50%', nodes: b, pause }, { replicas: '100%' }])
    setSteps(toy, [{ replicas: '100%' }])
    settle(toy)
    expect(toy.release?.status?.waiting).toMatchObject({ reason: 'NodesLeft' })
    bringBack(toy)
    expectGivenBack(toy)
  })
})

describe('a release that is over', () => {
  it('ends the BatchRelease that somebody makes anew as it was to begin with (G6, G8)', () => {
    const toy = new ToyCluster({ steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }], scope: 'release' })
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    const first = toy.release!
    expect(first.spec.releasePlan.batchPartition).toBe(0)
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect(toy.release).toBeUndefined()
    const { status: _none, ...made } = first
    toy.release = { ...made, metadata: { ...made.metadata, uid: 'made-late' } }
    settle(toy)
    expectGivenBack(toy)
  })
})

const namedCareful = { namespace: 'demo', name: 'careful', uid: 'careful', resourceVersion: '1', generation: 1 }

function leftBehind(steps: readonly RolloutStep[] = [{ replicas: '100%' }]): ToyCluster {
  const toy = new ToyCluster({ steps, scope: 'release' })
  settle(toy)
  toy.nodes.set('node-4', { ready: false, bad: false })
  toy.setImage('v2')
  settle(toy)
  expect(toy.rollout?.status).toMatchObject({ phase: 'Healthy', message: expect.stringContaining('1 node is left behind') })
  return toy
}

function bringBack(toy: ToyCluster): void {
  toy.nodes.set('node-4', { ready: true, bad: false })
  settle(toy)
}

function expectGivenBack(toy: ToyCluster): void {
  expect(toy.rollout?.status?.phase).toBe('Healthy')
  expect(toy.oldPods()).toEqual([])
  expect(toy.release).toBeUndefined()
  expect(strategyOf(toy.daemonSet)).toBe('RollingUpdate')
  expect(toy.daemonSet.metadata.annotations).not.toHaveProperty([daemonSetAnnotations.controlInfo])
}

function setSteps(toy: ToyCluster, steps: readonly RolloutStep[]): void {
  toy.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps } } }))
}
