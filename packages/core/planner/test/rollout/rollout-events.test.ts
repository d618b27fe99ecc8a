import type { RolloutStatus } from '@tranche/api-schema'
import { rolloutEvents } from '@tranche/planner'
import { describe, expect, it } from 'vitest'

describe('the events of a Rollout', () => {
  const cases: Record<string, { before: RolloutStatus | undefined; after: RolloutStatus; want: readonly string[] }> = {
    'report a release that starts': {
      before: aStatus('Completed', 'Completed'),
      after: aStatus('Initializing', 'BeforeStepUpgrade'),
      want: ['ReleaseStarted'],
    },
    'warn of a held template, for which nothing starts': {
      before: aStatus('Completed', 'Completed'),
      after: withConditionsOf(aStatus('Initializing', 'BeforeStepUpgrade'), stalled('RevisionHeld')),
      want: ['RevisionHeld'],
    },
    'report a step that starts': {
      before: aStatus('InRolling', 'BeforeStepUpgrade'),
      after: aStatus('InRolling', 'StepUpgrade'),
      want: ['StepStarted'],
    },
    'report a step that pauses': {
      before: aStatus('InRolling', 'StepUpgrade'),
      after: aStatus('InRolling', 'StepPaused'),
      want: ['StepPaused'],
    },
    'report no step where an early approval was put back': {
      before: aStatus('InRolling', 'StepReady'),
      after: aStatus('InRolling', 'StepUpgrade'),
      want: [],
    },
    'report a rollback that starts, and no step': {
      before: aStatus('InRolling', 'StepPaused'),
      after: finalising(aStatus('Cancelling', 'StepUpgrade')),
      want: ['RollbackStarted'],
    },
    'report a pause': { before: aStatus('InRolling', 'StepUpgrade'), after: aStatus('Paused', 'StepUpgrade'), want: ['Paused'] },
    'report the end of a pause': {
      before: aStatus('Paused', 'StepUpgrade'),
      after: aStatus('InRolling', 'StepUpgrade'),
      want: ['Resumed'],
    },
    'report a release that is over': {
      before: aStatus('Finalising', 'Completed'),
      after: aStatus('Completed', 'Completed'),
      want: ['ReleaseCompleted'],
    },
    'warn of a stall reason, once': { before: undefined, after: stalled('BudgetZero'), want: ['BudgetZero'] },
    'warn of a stable revision that holds another template': {
      before: aStatus('Completed', 'Completed'),
      after: { ...aStatus('Completed', 'Completed'), stableRevision: 'v1', stableMismatch: 'agent-v1' },
      want: ['StableRevisionChanged'],
    },
    'warn of it once': {
      before: { ...aStatus('Completed', 'Completed'), stableMismatch: 'agent-v1' },
      after: { ...aStatus('Completed', 'Completed'), stableMismatch: 'agent-v1' },
      want: [],
    },
    'warn of config that is not part of the version': {
      before: aStatus('Completed', 'Completed'),
      after: withConditionsOf(aStatus('Completed', 'Completed'), unversioned('True', 'agent')),
      want: ['ConfigUnversioned'],
    },
    'warn of other config that is not part of the version': {
      before: withConditionsOf(aStatus('Completed', 'Completed'), unversioned('True', 'agent')),
      after: withConditionsOf(aStatus('Completed', 'Completed'), unversioned('True', 'agent and token')),
      want: ['ConfigUnversioned'],
    },
    'warn of the same config once': {
      before: withConditionsOf(aStatus('Completed', 'Completed'), unversioned('True', 'agent')),
      after: withConditionsOf(aStatus('Completed', 'Completed'), unversioned('True', 'agent')),
      want: [],
    },
    'report no config that became part of the version': {
      before: withConditionsOf(aStatus('Completed', 'Completed'), unversioned('True', 'agent')),
      after: aStatus('Completed', 'Completed'),
      want: [],
    },
    'warn of a version that failed and is rolled back, once': {
      before: aStatus('InRolling', 'StepUpgrade'),
      after: { ...aStatus('InRolling', 'StepUpgrade'), heldRevisions: [held('Aborted'), held('Failed')] },
      want: ['ReleaseFailed'],
    },
    'do not repeat a failed version when it is tried again': {
      before: { ...aStatus('InRolling', 'StepUpgrade'), heldRevisions: [held('Failed')] },
      after: { ...aStatus('InRolling', 'StepUpgrade'), heldRevisions: [{ ...held('Failed'), reverted: true, revision: 'newer' }] },
      want: [],
    },
    'warn of failed nodes where the release continues': {
      before: aStatus('InRolling', 'StepUpgrade'),
      after: { ...aStatus('InRolling', 'StepUpgrade'), failure: failure('Continue') },
      want: ['ReleaseFailed'],
    },
    'warn of failed nodes once': {
      before: { ...aStatus('InRolling', 'StepUpgrade'), failure: failure('Continue') },
      after: { ...aStatus('InRolling', 'StepUpgrade'), failure: { ...failure('Continue'), count: 2 } },
      want: [],
    },
    'leave a failure that stops to the event of the stop': {
      before: aStatus('InRolling', 'StepUpgrade'),
      after: { ...aStatus('InRolling', 'StepUpgrade'), failure: failure('Pause') },
      want: [],
    },
    'warn of another stall reason': { before: stalled('BudgetZero'), after: stalled('InvalidSpec'), want: ['InvalidSpec'] },
    'report an accepted action': {
      before: aStatus('InRolling', 'StepUpgrade'),
      after: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'approve', result: 'Accepted', at: '' } },
      want: ['ActionAccepted'],
    },
    'warn of a refused action': {
      before: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'approve', result: 'Accepted', at: '' } },
      after: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '2', type: 'abort', result: 'Refused', at: '' } },
      want: ['ActionRejected'],
    },
    'warn of an action that was refused because its id is that of another one': {
      before: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'approve', result: 'Accepted', at: '' } },
      after: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'abort', result: 'Refused', at: '' } },
      want: ['ActionRejected'],
    },
    'warn of an action of the same type that was refused for its id': {
      before: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'approve', result: 'Accepted', at: '' } },
      after: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'approve', result: 'Refused', at: 'later' } },
      want: ['ActionRejected'],
    },
    'report an action once': {
      before: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'approve', result: 'Accepted', at: '' } },
      after: { ...aStatus('InRolling', 'StepUpgrade'), lastAction: { id: '1', type: 'approve', result: 'Accepted', at: '' } },
      want: [],
    },
    'report that the end of a pause lifts a failure': {
      before: aStatus('Paused', 'StepUpgrade'),
      after: { ...aStatus('Paused', 'StepUpgrade'), acceptedActions: { retry: 'resume-7' } },
      want: ['ActionAccepted'],
    },
    'report that once': {
      before: { ...aStatus('Paused', 'StepUpgrade'), acceptedActions: { retry: 'resume-7' } },
      after: { ...aStatus('Paused', 'StepUpgrade'), acceptedActions: { retry: 'resume-7' } },
      want: [],
    },
    'report that once after an upgrade from the version with acceptedWishes': {
      before: { ...aStatus('Paused', 'StepUpgrade'), acceptedWishes: { retry: 'resume-7' } },
      after: { ...aStatus('Paused', 'StepUpgrade'), acceptedActions: { retry: 'resume-7' } },
      want: [],
    },
    'report nothing if only counts changed': {
      before: stalled('BudgetZero'),
      after: { ...stalled('BudgetZero'), message: 'again' },
      want: [],
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { before, after, want }) => {
    expect(rolloutEvents(before, after, null).map(({ reason }) => reason)).toEqual(want)
  })

  it('warn of a value in the status that was put back', () => {
    const status = aStatus('InRolling', 'StepUpgrade')
    expect(rolloutEvents(status, status, 'put back')).toEqual([{ type: 'Warning', reason: 'ActionRejected', message: 'put back' }])
  })
})

function aStatus(reason: string, currentStepState: NonNullable<RolloutStatus['canaryStatus']>['currentStepState']): RolloutStatus {
  const phase = reason === 'Completed' ? 'Healthy' : 'Progressing'
  const canaryStatus = { podTemplateHash: 'new', canaryRevision: 'new', canaryReplicas: 0, canaryReadyReplicas: 0 } as const
  return {
    phase,
    message: 'some progress',
    currentStepIndex: 1,
    currentStepState,
    conditions: [{ type: 'Progressing', status: phase === 'Progressing' ? 'True' : 'False', reason, message: '' }],
    canaryStatus: { ...canaryStatus, currentStepIndex: 1, nextStepIndex: 2, finalisingStep: '', currentStepState },
  }
}

function finalising(status: RolloutStatus): RolloutStatus {
  return { ...status, canaryStatus: { ...status.canaryStatus!, finalisingStep: 'ResumeWorkload', nextStepIndex: -1 } }
}

function failure(action: string): NonNullable<RolloutStatus['failure']> {
  return {
    reason: 'ReleaseFailed',
    message: '1 of 5 nodes failed',
    nodes: ['a'],
    count: 1,
    action,
    stops: action !== 'Continue',
    release: 'r',
  }
}

function held(reason: 'Aborted' | 'Failed'): NonNullable<RolloutStatus['heldRevisions']>[number] {
  return { revision: 'new', digest: reason, reason, at: '2023-11-14T00:00:00Z' }
}

function stalled(reason: string): RolloutStatus {
  return {
    phase: 'Healthy',
    currentStepIndex: 1,
    currentStepState: 'Completed',
    conditions: [{ type: 'Stalled', status: 'True', reason, message: '' }],
  }
}

function unversioned(status: 'True' | 'False', message: string): RolloutStatus {
  return { ...stalled(''), conditions: [{ type: 'ConfigUnversioned', status, reason: '', message }] }
}

function withConditionsOf(status: RolloutStatus, { conditions = [] }: RolloutStatus): RolloutStatus {
  return { ...status, conditions: [...(status.conditions ?? []), ...conditions] }
}
