import type { Rollout, RolloutStep, RolloutSummary } from '@tranche/api-schema'
import { type ReleaseFacts, summarizeRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aReading, type FactsFields } from './build-facts.ts'

const steps: readonly RolloutStep[] = [{ replicas: 4, pause: { duration: 60 } }, { replicas: '100%' }]
const rollout: Partial<Rollout['spec']> = { ...aReading().rollout.spec, strategy: { canary: { steps: [...steps] } } }
const batchPod = (createdAt: string): object => ({ pod: { rolloutBatchId: '1', createdAt } })
/** 20 seconds before the facts are read, and 10 seconds. */
const change = { a: batchPod('2023-11-14T22:13:00Z'), b: batchPod('2023-11-14T22:13:10Z') }

/** A release without progress, because all nodes that it may update are held. */
function holdsFor(reason: string): FactsFields {
  return {
    record: { blocked: ['c', 'd', 'e'].map((node) => ({ node, reason, message: 'not now' })) },
    status: { waiting: { reason, message: '', nodes: ['c', 'd', 'e'], since: '2023-11-14T22:13:00Z' } },
  }
}

describe('what ends by itself', () => {
  it.each<[string, FactsFields, RolloutSummary['remaining']]>([
    [
      'is a timed pause, a minute after it began',
      { rollout, rolloutStatus: inState('StepPaused') },
      { of: 'pause', until: '2023-11-14T22:01:00.000Z' },
    ],
    ['is not a pause that waits for approval', { rolloutStatus: inState('StepPaused') }, undefined],
    [
      'is the soak of a step, from the time when the batch was ready',
      { tranche: { stepSoakSeconds: 90 }, rolloutStatus: { ...inState('StepMetricsAnalysis'), ...waits('Soak') } },
      { of: 'soak', until: '2023-11-14T22:13:30.000Z' },
    ],
    [
      'is not an analysis, whose end is unknown',
      { tranche: { stepSoakSeconds: 90 }, rolloutStatus: { ...inState('StepMetricsAnalysis'), ...waits('Analysis') } },
      undefined,
    ],
    [
      'is the settling of the last batch',
      { rolloutStatus: { ...inState('Completed'), settlingUntil: '2023-11-14T22:13:25Z' } },
      { of: 'settling', until: '2023-11-14T22:13:25.000Z' },
    ],
    [
      'is a batch, at its speed so far: two of four nodes in 20 seconds',
      { rollout, nodes: 'a:new b:new c:old d:old e:old', change },
      { of: 'batch', until: '2023-11-14T22:13:40.000Z' },
    ],
    [
      'is a batch without its dead nodes: two of three that it can update in 20 seconds',
      { rollout, nodes: 'a:new b:new c:old d:old!? e:old!?', change, tranche: { nodes: { notReady: { exempt: 2 } } } },
      { of: 'batch', until: '2023-11-14T22:13:30.000Z' },
    ],
    [
      'is not a batch that lacks only dead nodes and excluded ones',
      {
        rollout,
        nodes: 'a:new b:new c:old d:old!? e:old!?',
        change,
        tranche: { nodes: { notReady: { exempt: 2 }, exclude: [{ matchLabels: { name: 'c' } }] } },
      },
      undefined,
    ],
    ['is not a batch with a single available node', { rollout, nodes: 'a:new b:new! c:old d:old e:old', change }, undefined],
    ['is not a batch whose nodes are all available', { nodes: 'a:new b:new c:old d:old e:old', change }, undefined],
    ['is not a batch without labelled pods, whose start is unknown', { rollout, nodes: 'a:new b:new c:old d:old e:old' }, undefined],
    [
      'is not a batch without progress for a check of the policy',
      { rollout, nodes: 'a:new b:new c:old d:old e:old', change, ...holdsFor('DowntimeSpent') },
      undefined,
    ],
    [
      'is not a batch without progress while a node is drained',
      { rollout, nodes: 'a:new b:new c:old d:old e:old', change, ...holdsFor('Draining') },
      undefined,
    ],
    [
      'is not a batch of which some nodes are held while others proceed',
      {
        rollout,
        nodes: 'a:new b:new c:none d:old e:old',
        change,
        record: { blocked: [{ node: 'd', reason: 'NoRoom', message: 'no room' }] },
        status: { waiting: { reason: 'Upgrading', message: '', nodes: ['c'], since: '2023-11-14T22:13:00Z' } },
      },
      undefined,
    ],
    [
      'is a batch of which some nodes pull their images ahead',
      {
        rollout,
        nodes: 'a:new b:new c:none d:old e:old',
        change,
        record: { blocked: [{ node: 'd', reason: 'Pulling', message: 'pulls' }] },
        status: { waiting: { reason: 'Upgrading', message: '', nodes: ['c'], since: '2023-11-14T22:13:00Z' } },
      },
      { of: 'batch', until: '2023-11-14T22:13:40.000Z' },
    ],
    [
      'is not a batch whose budget other nodes use up',
      {
        rollout,
        nodes: 'a:new b:new c:old d:old! e:old!',
        change,
        status: { waiting: { reason: 'BudgetUsedUp', message: '', nodes: ['d', 'e'], since: '2023-11-14T22:13:00Z' } },
      },
      undefined,
    ],
    [
      'is not a batch that a hold has stopped',
      {
        rollout,
        nodes: 'a:new b:new c:old d:old e:old',
        change,
        record: { state: 'stopped', holds: [{ reason: 'GroupBusy', id: '1' }] },
      },
      undefined,
    ],
    [
      'is not a batch while the nodes after the last step are updated',
      {
        rollout,
        nodes: 'a:new b:new c:old d:old e:old',
        change,
        rolloutStatus: inState('StepUpgrade', { finalisingStep: 'ResumeWorkload', nextStepIndex: -1 }),
      },
      undefined,
    ],
    [
      'is nothing while the release is stopped',
      {
        rollout,
        rolloutStatus: {
          ...inState('StepPaused'),
          conditions: [{ type: 'Stalled', status: 'True', reason: 'ReleaseFailed', message: '' }],
        },
      },
      undefined,
    ],
    ['is nothing for a time that is none', { rollout, rolloutStatus: inState('StepPaused', { lastUpdateTime: 'soon' }) }, undefined],
  ])('%s', (_name, fields, remaining) => {
    const facts = aReading(fields)
    expect(summarizeRollout(facts).remaining).toEqual(remaining)
    expect(summarizeRollout(withoutMessages(facts)).remaining).toEqual(remaining)
  })
})

describe('the start of a release', () => {
  const startedAt = '2023-11-14T21:00:00Z'
  const earlier = { revision: 'old', startedAt: '2023-11-01T00:00:00Z', endedAt: '2023-11-01T01:00:00Z', result: 'Completed' } as const

  it('is that of the current release', () => {
    expect(startOf([earlier, { revision: 'new', startedAt }])).toBe(startedAt)
  })

  it('is absent once the release has ended', () => {
    expect(startOf([earlier])).toBeUndefined()
  })

  function startOf(releases: NonNullable<Rollout['status']>['releases']): string | undefined {
    return summarizeRollout(aReading({ rolloutStatus: { releases } })).releaseStartedAt
  }
})

describe('the images of the stable revision', () => {
  it('come from the history', () => {
    expect(summarizeRollout(aReading())).toMatchObject({ stableRevision: 'old', stableImages: ['old'], images: ['new'] })
  })

  it('come from the BatchRelease if the history has lost the revision', () => {
    const template = { spec: { containers: [{ name: 'agent', image: 'kept' }] } }
    const facts = aReading({ status: { stableTemplate: { revision: 'old', template } } })
    expect(summarizeRollout({ ...facts, revisions: [] }).stableImages).toEqual(['kept'])
  })

  it('are absent if neither has it, or the BatchRelease has another', () => {
    const template = { spec: { containers: [{ name: 'agent', image: 'kept' }] } }
    const facts = aReading({ status: { stableTemplate: { revision: 'older', template } } })
    expect(summarizeRollout({ ...facts, revisions: [] })).not.toHaveProperty('stableImages')
  })

  it('are absent while the DaemonSet is hidden', () => {
    const hidden = { ...aReading(), daemonSet: undefined, revisions: [], fleet: undefined, notBound: 'not bound' }
    expect(summarizeRollout(hidden)).not.toHaveProperty('stableImages')
  })
})

it('the creation time is that of the Rollout', () => {
  const facts = aReading()
  const metadata = { ...facts.rollout.metadata, creationTimestamp: '2023-10-01T08:00:00Z' }
  expect(summarizeRollout({ ...facts, rollout: { ...facts.rollout, metadata } }).createdAt).toBe('2023-10-01T08:00:00Z')
})

function withoutMessages(facts: ReleaseFacts): ReleaseFacts {
  const masked = (value: object): object =>
    JSON.parse(JSON.stringify(value, (key, part: unknown) => (key === 'message' ? 'x' : part))) as object
  return { ...facts, rollout: masked(facts.rollout) as Rollout }
}

type Status = NonNullable<FactsFields['rolloutStatus']>

function inState(currentStepState: 'StepUpgrade' | 'StepPaused' | 'StepMetricsAnalysis' | 'Completed', more: object = {}): Status {
  const { status } = aReading().rollout
  return { currentStepState, canaryStatus: { ...status!.canaryStatus!, currentStepState, ...more } }
}

function waits(reason: string): Status {
  return { waitingFor: { reason, message: 'step 1 is ready', since: '2023-11-14T22:12:00Z', nodes: [] } }
}
