import type { RolloutStatus, RolloutStep } from '@tranche/api-schema'
import { allowedActions, explainRollout, summarizeRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../test/toys/toy-cluster.ts'
import { aReading, readToy } from './build-facts.ts'

const steps: readonly RolloutStep[] = [{ replicas: '40%', pause: {} }, { replicas: '100%' }]

describe('a Rollout of another workload', () => {
  it.each([undefined, { observedGeneration: 1, phase: 'Healthy', message: 'of another controller' }])(
    'is said not to be ours: %j',
    (status) => {
      const reading = aReading({ rollout: { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'agent' } } })
      const facts = { ...reading, rollout: { ...reading.rollout, status: status as RolloutStatus | undefined } }
      const message = 'not ours: it names a Deployment of apps/v1, and Tranche acts on DaemonSets of apps/v1 only'
      expect(summarizeRollout(facts)).toMatchObject({ reason: 'OtherWorkload', outcome: 'Running', message })
      expect(explainRollout(facts)).toMatchObject({ rule: 'OtherWorkload', answer: message, facts: [] })
      expect(allowedActions(facts)).toEqual([])
    },
  )
})

describe('a template that no controller has taken up', () => {
  it('is named, with what would change it, and the images shown are those of the revision beside them', () => {
    const toy = new ToyCluster({ steps: [{ replicas: '100%' }] })
    settle(toy)
    toy.setImage('v2')
    toy.actNatively()
    const message =
      'the template is now revision hash-v2 (v2), which the controller has yet to take up; if this lasts, tranche doctor says whether one runs'
    expect(summarizeRollout(readToy(toy))).toMatchObject({ canaryRevision: 'hash-v1', images: ['v1'], message })
    const { answer, rule, facts, next } = explainRollout(readToy(toy))
    expect([answer, rule, next]).toEqual([message, 'Pending', 'the controller takes the template up'])
    expect(facts).toContainEqual({ name: 'releases', value: 'hash-v1: v1' })
  })

  it('is named in place of the failure of the version before', () => {
    const toy = new ToyCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
    settle(toy)
    toy.setImage('v2')
    settle(toy)
    toy.latch()
    settle(toy)
    toy.setImage('v3')
    toy.actNatively()
    const facts = readToy(toy)
    expect([summarizeRollout(facts).message, explainRollout(facts).answer]).toEqual([
      expect.stringContaining('revision hash-v3 (v3), which the controller has yet to take up'),
      expect.stringContaining('revision hash-v3 (v3), which the controller has yet to take up'),
    ])
  })
})

describe('what a Rollout comes to', () => {
  it.each<[string, (toy: ToyCluster) => void, object]>([
    ['is Done before anything was released', () => {}, { outcome: 'Done', phase: 'Healthy' }],
    [
      'is Running while a step goes on',
      (toy) => {
        toy.setImage('v2')
        for (let round = 0; round < 8; round++) act(toy)
      },
      { outcome: 'Running', phase: 'Progressing' },
    ],
    [
      'is Running from the moment of a new template, before any controller has seen it',
      (toy) => toy.setImage('v2'),
      { outcome: 'Running', phase: 'Healthy' },
    ],
    [
      'is Running while the DaemonSet controller has observed the template and ours has not',
      (toy) => {
        toy.setImage('v2')
        toy.actNatively()
      },
      { outcome: 'Running', phase: 'Healthy' },
    ],
    [
      'is Waiting at a step that a person must approve',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
      },
      {
        outcome: 'Waiting',
        step: { index: 1, count: 2, state: 'StepPaused' },
        need: { reason: 'StepPaused', actions: ['approve', 'promote', 'abort', 'jump'] },
        nodes: { desired: 5, updated: 2, updatedAvailable: 2 },
      },
    ],
    [
      'is Waiting while somebody has paused it',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.pause(true)
        settle(toy)
      },
      { outcome: 'Waiting', reason: 'Paused', need: { reason: 'Paused', actions: ['resume', 'abort'] } },
    ],
    [
      'is Running as long as a pause is not acknowledged',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.pause(true)
      },
      { outcome: 'Running', paused: true },
    ],
    [
      'is Failed when the version was found to be bad, and says what a person can do',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.latch()
        settle(toy)
      },
      { outcome: 'Failed', reason: 'ReleaseFailed', need: { reason: 'ReleaseFailed', actions: ['abort', 'retry', 'undo'] } },
    ],
    [
      'is Running from the moment of another template, though the version before it had failed',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.latch()
        settle(toy)
        toy.setImage('v3')
      },
      { outcome: 'Running', reason: 'ReleaseFailed' },
    ],
    [
      'is Running from the moment of another template, though the step of the version before waited for a person',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.setImage('v3')
        toy.actNatively()
      },
      { outcome: 'Running' },
    ],
    [
      'stays Blocked with another template, where the spec breaks a rule',
      (toy) => {
        toy.editRollout((spec) => ({ ...spec, strategy: { canary: { steps: [] } } }))
        settle(toy)
        toy.setImage('v2')
      },
      { outcome: 'Blocked', reason: 'InvalidSpec' },
    ],
    [
      'is Running on its way back, and says from which revision',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.setImage('v1')
        toy.actNatively()
        for (let at = 0; at < 3; at += 1) act(toy)
      },
      { outcome: 'Running', rollbackFrom: 'hash-v2', canaryRevision: 'hash-v1', nodes: { updated: 3 } },
    ],
    [
      'is RolledBack after an abort, when every node is back',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.act({ id: '1', type: 'abort' })
        settle(toy)
      },
      { outcome: 'RolledBack', phase: 'Healthy', nodes: { updated: 5 } },
    ],
    [
      'is Failed while a held template was applied again, until a retry',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.act({ id: '1', type: 'abort' })
        settle(toy)
        toy.setImage('v2')
        settle(toy)
      },
      { outcome: 'Failed', reason: 'RevisionHeld', need: { reason: 'RevisionHeld', actions: ['retry', 'undo', 'abort'] } },
    ],
    [
      'is Done when every node is updated',
      (toy) => {
        toy.setImage('v2')
        settle(toy)
        toy.act({ id: '1', type: 'approve', expectedStep: 1 })
        settle(toy)
      },
      { outcome: 'Done', phase: 'Healthy', nodes: { updated: 5, updatedAvailable: 5, unavailable: 0 } },
    ],
    [
      'is Done though a NotReady node was left behind, which is counted as skipped',
      (toy) => {
        toy.nodes.set('node-4', { ready: false, bad: false })
        toy.setImage('v2')
        settle(toy)
        toy.act({ id: '1', type: 'approve', expectedStep: 1 })
        settle(toy)
      },
      { outcome: 'Done', phase: 'Healthy', nodes: { updated: 4, skipped: 1 } },
    ],
    [
      'is Running again when the node that was left behind is back',
      (toy) => {
        toy.nodes.set('node-4', { ready: false, bad: false })
        toy.setImage('v2')
        settle(toy)
        toy.act({ id: '1', type: 'approve', expectedStep: 1 })
        settle(toy)
        toy.nodes.set('node-4', { ready: true, bad: false })
      },
      { outcome: 'Running' },
    ],
    [
      'is Blocked when the DaemonSet does not exist',
      (toy) => {
        toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, name: 'nobody' } }))
        settle(toy)
      },
      { outcome: 'Blocked', reason: 'WorkloadNotFound', need: { reason: 'WorkloadNotFound', actions: [] } },
    ],
  ])('%s', (_name, play, expected) => {
    const toy = new ToyCluster({ steps })
    settle(toy)
    play(toy)
    const summary = summarizeRollout(readToy(toy))
    expect(summary).toMatchObject(expected)
    expect('rollbackFrom' in summary).toBe('rollbackFrom' in expected)
  })
})
