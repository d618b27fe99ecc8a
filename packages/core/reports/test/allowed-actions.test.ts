import { type RolloutActionType, rolloutActionTypes, type RolloutStep } from '@tranche/api-schema'
import { allowedActions } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../test/fakes/fake-cluster.ts'
import { readFakeCluster } from './build-facts.ts'

const steps: readonly RolloutStep[] = [{ replicas: '40%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]

/** States of a release at the time of an action. */
const stands: readonly (readonly [string, (fake: FakeCluster) => void])[] = [
  ['at rest', () => {}],
  ['at a step that waits for approval', atFirstStep],
  [
    'paused',
    (fake) => {
      atFirstStep(fake)
      fake.pause(true)
      settle(fake)
    },
  ],
  [
    'stopped by a verdict',
    (fake) => {
      atFirstStep(fake)
      fake.latch()
      settle(fake)
    },
  ],
  [
    'stopped by an inconclusive analysis',
    (fake) => {
      atFirstStep(fake)
      fake.latch({ reason: 'AnalysisInconclusive' })
      // The fake release, which nothing measures, would clear the inconclusive result.
      for (let passes = 0; passes < 4; passes++) fake.passRollout()
      expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ reason: 'AnalysisInconclusive', status: 'True' }))
    },
  ],
  [
    'held after a re-apply',
    (fake) => {
      rolledBack(fake)
      fake.setImage('v2')
      settle(fake)
    },
  ],
  ['ended, and rolled back', rolledBack],
  [
    'without its DaemonSet',
    (fake) => {
      atFirstStep(fake)
      fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, name: 'missing' } }))
      settle(fake)
    },
  ],
]

describe('the actions that are allowed now', () => {
  it.each(stands)('is what the controller accepts: %s', (_name, play) => {
    const offered = allowedActions(readFakeCluster(standing(play))).filter((type) => rolloutActionTypes.some((action) => action === type))
    expect(offered).toEqual(rolloutActionTypes.toSorted(inTypeOrder).filter((type) => isAccepted(play, type)))
  })

  it.each<[string, (fake: FakeCluster) => void, readonly string[]]>([
    ['at rest: nothing was released before', () => {}, ['pause', 'restart']],
    ['at a step that waits for approval', atFirstStep, ['pause', 'approve', 'promote', 'abort', 'undo', 'jump', 'restart']],
    ['paused', stands[2]![1], ['resume', 'approve', 'promote', 'abort', 'undo', 'jump', 'restart']],
    ['stopped by a verdict, where a resume is a retry', stands[3]![1], ['pause', 'resume', 'abort', 'retry', 'undo', 'restart']],
  ])('is, %s', (_name, play, expected) => {
    expect(allowedActions(readFakeCluster(standing(play)))).toEqual(expected)
  })
})

const order: readonly string[] = ['approve', 'promote', 'abort', 'retry', 'jump']

function inTypeOrder(a: RolloutActionType, b: RolloutActionType): number {
  return order.indexOf(a) - order.indexOf(b)
}

/** Whether the controller accepts it in the end, of any of the ways to put it. */
function isAccepted(play: (fake: FakeCluster) => void, type: RolloutActionType): boolean {
  const bodies =
    type === 'promote'
      ? [{}, { full: true }]
      : type === 'jump'
        ? [{ expectedStep: 1, step: 1 }]
        : type === 'approve'
          ? [{ expectedStep: 1 }]
          : [{}]
  return bodies.some((body) => {
    const fake = standing(play)
    const { currentStepIndex } = fake.rollout?.status?.canaryStatus ?? {}
    fake.act({ id: 'asked', type, ...body, ...('expectedStep' in body && { expectedStep: currentStepIndex }) })
    settle(fake)
    const { id, result } = fake.rollout?.status?.lastAction ?? {}
    return id === 'asked' && result === 'Accepted'
  })
}

function standing(play: (fake: FakeCluster) => void): FakeCluster {
  const fake = new FakeCluster({ steps })
  settle(fake)
  play(fake)
  return fake
}

function atFirstStep(fake: FakeCluster): void {
  fake.setImage('v2')
  settle(fake)
}

function rolledBack(fake: FakeCluster): void {
  atFirstStep(fake)
  fake.act({ id: 'back', type: 'abort' })
  settle(fake)
}
