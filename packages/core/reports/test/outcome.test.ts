import type { RolloutStatus, RolloutStep } from '@tranche/api-schema'
import { explainNode, allowedActions, explainRollout, reportBatches, reportRollout, summarizeRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { act, settle } from '../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../test/fakes/fake-cluster.ts'
import { aReading, readFakeCluster } from './build-facts.ts'

const steps: readonly RolloutStep[] = [{ replicas: '40%', pause: {} }, { replicas: '100%' }]

describe('a template that a stall keeps from being released', () => {
  const rolloutStatus: Partial<RolloutStatus> = {
    ...aReading().rollout.status,
    phase: 'Healthy',
    stableRevision: 'old',
    message: 'there is no such ReleasePolicy',
    conditions: [
      { ...aReading().rollout.status!.conditions![0]!, type: 'Progressing', status: 'False', reason: 'Completed' },
      { ...aReading().rollout.status!.conditions![0]!, type: 'Stalled', status: 'True', reason: 'PolicyNotFound', message: 'no policy' },
    ],
    canaryStatus: {
      ...aReading().rollout.status!.canaryStatus!,
      canaryRevision: 'old',
      stableRevision: 'older',
      currentStepState: 'Completed',
    },
  }
  const waiting = aReading({ nodes: 'a:old b:old c:old d:old e:old', rolloutStatus })

  it('is what the report is about, with the message and the decision', () => {
    const report = reportRollout(waiting)
    expect(report).toMatchObject({ outcome: 'Blocked', canaryRevision: 'new', stableRevision: 'old', nodes: { desired: 5, updated: 0 } })
    expect(report.message).toMatch(/there is no such ReleasePolicy; revision new.* waits until this is fixed/)
    expect(report.need?.message).toMatch(/no policy; revision new.* waits until this is fixed/)
  })

  it('has started no step and no batch', () => {
    const { step, steps } = reportRollout(waiting)
    expect(step).toBeUndefined()
    expect(steps.map(({ state }) => state)).toEqual(['ahead', 'ahead'])
    expect(reportBatches(waiting).map(({ state }) => state)).toEqual(['ahead', 'ahead'])
  })

  it('is named in mid-release too, while the report stays with that release', () => {
    const canaryStatus = { ...rolloutStatus.canaryStatus!, canaryRevision: 'newer', currentStepState: 'StepUpgrade' as const }
    const report = reportRollout({
      ...waiting,
      rollout: { ...waiting.rollout, status: { ...waiting.rollout.status!, phase: 'Progressing', canaryStatus } },
    })
    expect(report).toMatchObject({ canaryRevision: 'newer' })
    expect(report.need?.message).toMatch(/revision new.* waits until this is fixed/)
  })

  it('is missing from the text where the status covers the present template', () => {
    const canaryStatus = { ...rolloutStatus.canaryStatus!, canaryRevision: 'new' }
    const report = reportRollout({ ...waiting, rollout: { ...waiting.rollout, status: { ...waiting.rollout.status!, canaryStatus } } })
    expect(report.need?.message).toBe('no policy')
  })
})

describe('a Rollout of another workload', () => {
  it.each([undefined, { observedGeneration: 1, phase: 'Healthy', message: 'of another controller' }])(
    'is reported as ignored: %j',
    (status) => {
      const reading = aReading({ rollout: { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'agent' } } })
      const facts = { ...reading, rollout: { ...reading.rollout, status: status as RolloutStatus | undefined } }
      const message = 'ignored: it names a Deployment of apps/v1, and Tranche releases only DaemonSets of apps/v1'
      expect(summarizeRollout(facts)).toMatchObject({ reason: 'OtherWorkload', outcome: 'Running', message })
      expect(explainRollout(facts)).toMatchObject({ rule: 'OtherWorkload', answer: message, facts: [] })
      expect(allowedActions(facts)).toEqual([])
    },
  )
})

describe('a template that no controller has observed', () => {
  it('is named with the next event, and the images are those of the shown revision', () => {
    const fake = new FakeCluster({ steps: [{ replicas: '100%' }] })
    settle(fake)
    fake.setImage('v2')
    fake.actNatively()
    const message =
      'the template is now revision hash-v2 (v2), which the controller has not observed yet; if this lasts, check with tranche doctor that a controller runs'
    expect(summarizeRollout(readFakeCluster(fake))).toMatchObject({ canaryRevision: 'hash-v1', images: ['v1'], message })
    const { answer, rule, facts, next } = explainRollout(readFakeCluster(fake))
    expect([answer, rule, next]).toEqual([message, 'Pending', 'the controller observes the template'])
    expect(facts).toContainEqual({ name: 'releases', value: 'hash-v1: v1' })
  })

  it('is named in place of the failure of the version before', () => {
    const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    fake.latch()
    settle(fake)
    fake.setImage('v3')
    fake.actNatively()
    const facts = readFakeCluster(fake)
    expect([summarizeRollout(facts).message, explainRollout(facts).answer]).toEqual([
      expect.stringContaining('revision hash-v3 (v3), which the controller has not observed yet'),
      expect.stringContaining('revision hash-v3 (v3), which the controller has not observed yet'),
    ])
  })
})

it('a node whose template came under an invalid policy is explained by the policy, not by a controller that does not run', () => {
  const fake = new FakeCluster({ steps })
  settle(fake)
  fake.policy = { soak: { step: 'a while' } }
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  const { rule, answer } = explainNode(readFakeCluster(fake), 'node-0')!
  expect([rule, answer]).toEqual([
    'PolicyInvalid',
    expect.stringMatching(/^node-0 is not updated to the present template: ReleasePolicy strict: spec\.soak\.step is "a while"/),
  ])
})

it('a version that was rolled back is named with its images in the next event', () => {
  const fake = new FakeCluster({ steps })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  fake.act({ id: '1', type: 'abort' })
  settle(fake)
  const { answer, next } = explainRollout(readFakeCluster(fake))
  expect(next).toBe('apply another template; or run retry with revision hash-v2 (v2), and apply its template again')
  expect(answer.match(/was rolled back/g)).toHaveLength(1)
})

describe('the outcome of a Rollout', () => {
  it.each<[string, (fake: FakeCluster) => void, object]>([
    ['is Done before anything was released', () => {}, { outcome: 'Done', phase: 'Healthy' }],
    [
      'is Running during a step',
      (fake) => {
        fake.setImage('v2')
        for (let round = 0; round < 8; round++) act(fake)
      },
      { outcome: 'Running', phase: 'Progressing' },
    ],
    [
      'is Running as soon as a new template exists, before any controller observes it',
      (fake) => fake.setImage('v2'),
      { outcome: 'Running', phase: 'Healthy' },
    ],
    [
      'is Running while only the DaemonSet controller has observed the template',
      (fake) => {
        fake.setImage('v2')
        fake.actNatively()
      },
      { outcome: 'Running', phase: 'Healthy' },
    ],
    [
      'is Waiting at a step that needs approval',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
      },
      {
        outcome: 'Waiting',
        step: { index: 1, count: 2, state: 'StepPaused' },
        need: { reason: 'StepPaused', actions: ['approve', 'promote', 'abort', 'jump'] },
        nodes: { desired: 5, updated: 2, updatedAvailable: 2 },
      },
    ],
    [
      'is Waiting while it is paused',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.pause(true)
        settle(fake)
      },
      { outcome: 'Waiting', reason: 'Paused', need: { reason: 'Paused', actions: ['resume', 'abort'] } },
    ],
    [
      'is Running until a pause is acknowledged',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.pause(true)
      },
      { outcome: 'Running', paused: true },
    ],
    [
      'is Failed after a bad verdict, with the possible actions',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.latch()
        settle(fake)
      },
      { outcome: 'Failed', reason: 'ReleaseFailed', need: { reason: 'ReleaseFailed', actions: ['abort', 'undo', 'retry'] } },
    ],
    [
      'is Running as soon as another template exists, though the version before it failed',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.latch()
        settle(fake)
        fake.setImage('v3')
      },
      { outcome: 'Running', reason: 'ReleaseFailed' },
    ],
    [
      'is Running as soon as another template exists, though the version before it waited for approval',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.setImage('v3')
        fake.actNatively()
      },
      { outcome: 'Running' },
    ],
    [
      'stays Blocked with another template when the spec breaks a rule',
      (fake) => {
        fake.editRollout((spec) => ({ ...spec, strategy: { canary: { steps: [] } } }))
        settle(fake)
        fake.setImage('v2')
      },
      { outcome: 'Blocked', reason: 'InvalidSpec' },
    ],
    [
      'is Running during a rollback, with the revision that it rolls back',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.setImage('v1')
        fake.actNatively()
        for (let at = 0; at < 3; at += 1) act(fake)
      },
      { outcome: 'Running', rollbackFrom: 'hash-v2', canaryRevision: 'hash-v1', nodes: { updated: 3 } },
    ],
    [
      'is RolledBack after an abort, when every node runs the stable revision',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.act({ id: '1', type: 'abort' })
        settle(fake)
      },
      { outcome: 'RolledBack', phase: 'Healthy', nodes: { updated: 5 } },
    ],
    [
      'is Failed while a held template was applied again, until a retry',
      applyHeldAgain,
      { outcome: 'Failed', reason: 'RevisionHeld', need: { reason: 'RevisionHeld', actions: ['abort', 'undo', 'retry'] } },
    ],
    [
      'is Running without a rollback or a step where the stable template replaces a held one',
      (fake) => {
        applyHeldAgain(fake)
        fake.setImage('v1')
        fake.actNatively()
        for (let at = 0; at < 3; at += 1) act(fake)
      },
      { outcome: 'Running', reason: 'Cancelling', nodes: { updated: 5 } },
    ],
    [
      'is Done when every node is updated',
      (fake) => {
        fake.setImage('v2')
        settle(fake)
        fake.act({ id: '1', type: 'approve', expectedStep: 1 })
        settle(fake)
      },
      { outcome: 'Done', phase: 'Healthy', nodes: { updated: 5, updatedAvailable: 5, unavailable: 0 } },
    ],
    [
      'is Done though a NotReady node was left behind, which is counted as skipped',
      (fake) => {
        fake.nodes.set('node-4', { ready: false, bad: false })
        fake.setImage('v2')
        settle(fake)
        fake.act({ id: '1', type: 'approve', expectedStep: 1 })
        settle(fake)
      },
      { outcome: 'Done', phase: 'Healthy', nodes: { updated: 4, skipped: 1 } },
    ],
    [
      'is Running again when the node that was left behind returns',
      (fake) => {
        fake.nodes.set('node-4', { ready: false, bad: false })
        fake.setImage('v2')
        settle(fake)
        fake.act({ id: '1', type: 'approve', expectedStep: 1 })
        settle(fake)
        fake.nodes.set('node-4', { ready: true, bad: false })
      },
      { outcome: 'Running' },
    ],
    [
      'is Blocked when the DaemonSet does not exist',
      (fake) => {
        fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, name: 'missing' } }))
        settle(fake)
      },
      { outcome: 'Blocked', reason: 'WorkloadNotFound', need: { reason: 'WorkloadNotFound', actions: [] } },
    ],
  ])('%s', (_name, play, expected) => {
    const fake = new FakeCluster({ steps })
    settle(fake)
    play(fake)
    const summary = summarizeRollout(readFakeCluster(fake))
    expect(summary).toMatchObject(expected)
    expect('rollbackFrom' in summary).toBe('rollbackFrom' in expected)
    if (summary.reason === 'Cancelling') expect('step' in summary).toBe('rollbackFrom' in expected)
  })
})

/** A version was rolled back by an abort, and is applied again. */
function applyHeldAgain(fake: FakeCluster): void {
  fake.setImage('v2')
  settle(fake)
  fake.act({ id: '1', type: 'abort' })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
}
