import type { CanaryStatus, Rollout } from '@tranche/api-schema'
import { problemText, validateStatusChange } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { rolloutWith } from './rollouts.ts'

const canaryStatus: CanaryStatus = {
  podTemplateHash: '7c9f',
  currentStepIndex: 1,
  nextStepIndex: 2,
  finalisingStep: '',
  currentStepState: 'StepPaused',
  canaryRevision: '7c9f',
  canaryReplicas: 3,
  canaryReadyReplicas: 3,
}
const before = withCanary({})

describe('a status written by a user', () => {
  it.each<[string, Rollout]>([
    ['nothing', before],
    ['an approval', withCanary({ currentStepState: 'StepReady' })],
    ['a jump', withCanary({ nextStepIndex: 1 })],
    ['both', withCanary({ currentStepState: 'StepReady', nextStepIndex: 1 })],
  ])('may be %s', (_, after) => {
    expect(validateStatusChange(before, after)).toEqual([])
  })

  it('may be anything on a Rollout of another workload', () => {
    const other = rolloutWith({ spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } } })
    expect(validateStatusChange(other, withCanary({ canaryReplicas: 99 }))).toEqual([])
  })

  it('may be anything without our fields: another controller has the Rollout', () => {
    const theirs = withCanary({}, { stableRevision: undefined })
    expect(validateStatusChange(theirs, withCanary({ canaryReplicas: 99, currentStepState: 'Completed' }))).toEqual([])
    expect(validateStatusChange(rolloutWith(), withCanary({ canaryReplicas: 99 }))).toEqual([])
  })

  it('may be anything while another controller is active', () => {
    const stalled = { type: 'Stalled', status: 'True', reason: 'OpenKruiseActive', message: '' } as const
    expect(validateStatusChange(withCanary({}, { conditions: [stalled] }), withCanary({ canaryReplicas: 99 }))).toEqual([])
    const over = { ...stalled, status: 'False' } as const
    expect(validateStatusChange(withCanary({}, { conditions: [over] }), withCanary({ canaryReplicas: 99 }))).not.toEqual([])
  })

  it('may be an approval when no step is paused: the controller reverts it and says so', () => {
    expect(validateStatusChange(withCanary({ currentStepState: 'StepUpgrade' }), withCanary({ currentStepState: 'StepReady' }))).toEqual([])
  })

  it.each<[string, Rollout, readonly string[]]>([
    [
      'another state',
      withCanary({ currentStepState: 'Completed' }),
      [
        'status.canaryStatus.currentStepState is "Completed": users may only set it to StepReady, which approves a paused step; set it to StepReady, or leave it as it is',
      ],
    ],
    [
      'a jump to a step that does not exist',
      withCanary({ nextStepIndex: 3 }),
      [
        'status.canaryStatus.nextStepIndex is 3: users may only set it to the number of a step, which jumps to that step; set it to a number from 1 to 2, or leave it as it is',
      ],
    ],
    [
      'a field of the controller',
      withCanary({ canaryReplicas: 9 }, { stableRevision: '5d4f' }),
      [
        'status.stableRevision is "5d4f": the controller writes the status; users may change only canaryStatus.currentStepState and canaryStatus.nextStepIndex; leave the rest of the status as it is',
        expect.stringContaining('status.canaryStatus is {'),
      ],
    ],
    [
      'the end of the release',
      rolloutWith(),
      [expect.anything(), expect.anything(), expect.anything(), expect.anything(), expect.anything(), expect.anything(), expect.anything()],
    ],
  ])('may not be %s', (_, after, texts) => {
    expect(validateStatusChange(before, after).map(problemText)).toEqual(expect.arrayContaining([...texts]))
    expect(validateStatusChange(before, after)).toHaveLength(texts.length)
  })
})

function withCanary(canary: Partial<CanaryStatus>, status: Partial<NonNullable<Rollout['status']>> = {}): Rollout {
  return rolloutWith({
    status: {
      phase: 'Progressing',
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
      stableRevision: '4b3a',
      canaryStatus: { ...canaryStatus, ...canary },
      ...status,
    },
  })
}
