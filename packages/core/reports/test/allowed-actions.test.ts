import { type RolloutActionType, rolloutActionTypes, type RolloutStep } from '@tranche/api-schema'
import { allowedActions } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../test/toys/toy-cluster.ts'
import { readToy } from './build-facts.ts'

const steps: readonly RolloutStep[] = [{ replicas: '40%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]

/** States of a release at the time of an action. */
const stands: readonly (readonly [string, (toy: ToyCluster) => void])[] = [
  ['at rest', () => {}],
  ['at a step that waits for a person', atFirstStep],
  [
    'paused',
    (toy) => {
      atFirstStep(toy)
      toy.pause(true)
      settle(toy)
    },
  ],
  [
    'stopped by a verdict',
    (toy) => {
      atFirstStep(toy)
      toy.latch()
      settle(toy)
    },
  ],
  [
    'stopped by an analysis that cannot tell',
    (toy) => {
      atFirstStep(toy)
      toy.latch({ reason: 'AnalysisInconclusive' })
      // The release of the toy, which nothing measures, would find that it can tell.
      for (let passes = 0; passes < 4; passes++) toy.passRollout()
      expect(toy.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ reason: 'AnalysisInconclusive', status: 'True' }))
    },
  ],
  [
    'held after a re-apply',
    (toy) => {
      rolledBack(toy)
      toy.setImage('v2')
      settle(toy)
    },
  ],
  ['over, and taken back', rolledBack],
  [
    'without its DaemonSet',
    (toy) => {
      atFirstStep(toy)
      toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, name: 'nobody' } }))
      settle(toy)
    },
  ],
]

describe('the actions that are allowed now', () => {
  it.each(stands)('is what the controller accepts: %s', (_name, play) => {
    const offered = allowedActions(readToy(standing(play))).filter((type) => rolloutActionTypes.some((action) => action === type))
    expect(offered).toEqual(rolloutActionTypes.toSorted(inTypeOrder).filter((type) => isAccepted(play, type)))
  })

  it.each<[string, (toy: ToyCluster) => void, readonly string[]]>([
    ['at rest: nothing was released before', () => {}, ['pause', 'restart']],
    ['at a step that waits for a person', atFirstStep, ['pause', 'approve', 'promote', 'abort', 'undo', 'jump', 'restart']],
    ['paused', stands[2]![1], ['resume', 'approve', 'promote', 'abort', 'undo', 'jump', 'restart']],
    ['stopped by a verdict, where a resume is a retry', stands[3]![1], ['pause', 'resume', 'abort', 'retry', 'undo', 'restart']],
  ])('is, %s', (_name, play, expected) => {
    expect(allowedActions(readToy(standing(play)))).toEqual(expected)
  })
})

const order: readonly string[] = ['approve', 'promote', 'abort', 'retry', 'jump']

function inTypeOrder(a: RolloutActionType, b: RolloutActionType): number {
  return order.indexOf(a) - order.indexOf(b)
}

/** Whether the controller accepts it in the end, of any of the ways to put it. */
function isAccepted(play: (toy: ToyCluster) => void, type: RolloutActionType): boolean {
  const bodies =
    type === 'promote'
      ? [{}, { full: true }]
      : type === 'jump'
        ? [{ expectedStep: 1, step: 1 }]
        : type === 'approve'
          ? [{ expectedStep: 1 }]
          : [{}]
  return bodies.some((body) => {
    const toy = standing(play)
    const { currentStepIndex } = toy.rollout?.status?.canaryStatus ?? {}
    toy.act({ id: 'asked', type, ...body, ...('expectedStep' in body && { expectedStep: currentStepIndex }) })
    settle(toy)
    const { id, result } = toy.rollout?.status?.lastAction ?? {}
    return id === 'asked' && result === 'Accepted'
  })
}

function standing(play: (toy: ToyCluster) => void): ToyCluster {
  const toy = new ToyCluster({ steps })
  settle(toy)
  play(toy)
  return toy
}

function atFirstStep(toy: ToyCluster): void {
  toy.setImage('v2')
  settle(toy)
}

function rolledBack(toy: ToyCluster): void {
  atFirstStep(toy)
  toy.act({ id: 'back', type: 'abort' })
  settle(toy)
}
