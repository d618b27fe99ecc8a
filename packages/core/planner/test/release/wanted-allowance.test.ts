import { daemonSetAnnotations } from '@tranche/kube-types'
import { controlInfo, controlledBy, resolveLimit, wantedAllowance } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, permitFor, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const { controlInfo: control, rollout } = daemonSetAnnotations
const deleting = { deletionTimestamp: '2023-11-14T00:00:00Z' }
const budgetZero = { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 0 } } }
const byHand = { ownerReferences: [] }
const ownerRollout = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: 'agent', uid: 'rollout', controller: true }
const failure = { reason: 'ReleaseFailed', message: 'it crashes', at: '2023-11-14T00:00:00Z', nodes: ['a'], stops: true, release: 'new' }
const failedByHand: ViewFields = {
  metadata: byHand,
  tranche: { release: undefined, canaryRevision: undefined },
  annotations: { [rollout]: null },
  status: { failure },
}
const stop = (reason: string): object => ({ kind: 'stop', holds: [{ reason }] })

describe('wantedAllowance', () => {
  const cases: Record<string, { view: ViewFields; want: object }> = {
    'allows the batch within the budget': {
      view: {},
      want: {
        kind: 'allow',
        stable: 'old',
        allowance: { workloadUid: 'daemonset', generation: 2, revision: 'new', partition: 3, limit: 2 },
      },
    },
    'waits for the Rollout where other definitions have pruned what it names, and with it the rules of its policy (G1, G2)': {
      view: { tranche: { release: undefined, canaryRevision: undefined, stableRevision: undefined } },
      want: { kind: 'pending', message: 'waiting for the Rollout to name its release' },
    },
    'stops when the DaemonSet does not exist, before all else': {
      view: { daemonSet: null, metadata: deleting, tranche: { paused: true } },
      want: stop('WorkloadNotFound'),
    },
    'stops when it is being deleted, before it checks who is in charge': {
      view: { metadata: deleting, view: { otherControl: 'exists' }, tranche: { paused: true } },
      want: stop('Deleting'),
    },
    'stops when another BatchRelease is in charge, paused or not': {
      view: {
        annotations: { [control]: controlInfo({ name: 'b', uid: 'b' }) },
        view: { otherControl: 'exists' },
        tranche: { paused: true },
      },
      want: { kind: 'stop', holds: [{ reason: 'ForeignControl', id: 'b' }], message: expect.stringContaining('names BatchRelease b') },
    },
    'stops when paused, before it looks at the budget': {
      view: { tranche: { paused: true }, daemonSet: budgetZero },
      want: { kind: 'stop', holds: [{ reason: 'Paused', id: '4' }] },
    },
    'stops when the Rollout holds it, with the hold’s message': {
      view: { tranche: { hold: { reason: 'RevisionHeld', id: 'new', message: 'rolled back' }, paused: true }, daemonSet: budgetZero },
      want: { kind: 'stop', holds: [{ reason: 'RevisionHeld', id: 'new' }], message: 'rolled back' },
    },
    'stops when the budget is zero, before it looks for revisions': {
      view: { daemonSet: budgetZero, revisions: [] },
      want: stop('BudgetZero'),
    },
    'stops on surge': {
      view: { daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } } },
      want: stop('BudgetZero'),
    },
    'stops a release by hand that has failed, while its template remains': {
      view: { ...failedByHand, record: { revision: 'new' } },
      want: { kind: 'stop', holds: [{ reason: 'ReleaseFailed', id: 'new' }] },
    },
    'allows the next template after a failed one in a release by hand': {
      view: { ...failedByHand, record: { revision: 'failed' }, status: { failure: { ...failure, release: 'failed' } } },
      want: { kind: 'allow', allowance: { revision: 'new' } },
    },
    'stops a Rollout’s failed release, whatever template its record was for': {
      view: { record: { revision: 'failed' }, status: { failure: { ...failure, release: 'r1' } } },
      want: { kind: 'stop', holds: [{ reason: 'ReleaseFailed', id: 'r1' }] },
    },
    'stops when the template is no longer that of the release': {
      view: { tranche: { canaryRevision: 'older' } },
      want: { kind: 'stop', holds: [{ reason: 'RevisionChanged', id: 'new' }] },
    },
    'stops where a kind Rollout of another group owns it, on a DaemonSet that is bound to a Rollout of that name (F15)': {
      view: { metadata: { ownerReferences: [{ ...ownerRollout, apiVersion: 'argoproj.io/v1alpha1' }] } },
      want: { kind: 'stop', holds: [{ reason: 'ForeignControl', id: 'agent' }] },
    },
    'stops where it names the Rollout as its owner, and is not the one of its name (F15)': {
      view: { metadata: { name: 'other', ownerReferences: [ownerRollout] } },
      want: { kind: 'stop', holds: [{ reason: 'ForeignControl', id: 'agent' }] },
    },
    'stops where the Rollout is not its controller (F15)': {
      view: { metadata: { ownerReferences: [{ ...ownerRollout, controller: false }] } },
      want: { kind: 'stop', holds: [{ reason: 'ForeignControl', id: 'agent' }] },
    },
    'decides nothing while revisions are pending': { view: { revisions: [] }, want: { kind: 'pending' } },
    'decides nothing before the Rollout has bound the DaemonSet': { view: { annotations: { [rollout]: null } }, want: { kind: 'pending' } },
    'takes over from a BatchRelease that has vanished': {
      view: { annotations: { [control]: controlInfo({ name: 'agent', uid: 'gone' }) }, view: { otherControl: 'vanished' } },
      want: { kind: 'allow' },
    },
    'executes a BatchRelease written by hand, with the revisions it discovers': {
      view: {
        metadata: byHand,
        annotations: { [rollout]: null, [control]: null },
        tranche: { canaryRevision: undefined, stableRevision: undefined },
      },
      want: { kind: 'allow', allowance: { revision: 'new' }, stable: 'old' },
    },
    'holds a BatchRelease written by hand on a DaemonSet that has a Rollout': {
      view: { metadata: byHand },
      want: { kind: 'stop', holds: [{ reason: 'ForeignControl', id: 'agent' }], message: expect.stringContaining('Rollout agent') },
    },
    'holds a BatchRelease written by hand where a stale control-info remains': {
      view: {
        metadata: byHand,
        annotations: { [rollout]: null, [control]: controlInfo({ name: 'b', uid: 'gone' }) },
        view: { otherControl: 'vanished' },
      },
      want: { kind: 'stop', holds: [{ reason: 'ForeignControl', id: 'gone' }], message: expect.stringContaining('remove the annotation') },
    },
    'allows everything where the plan names no batch': {
      view: { spec: { batchPartition: undefined } },
      want: { allowance: { partition: 0 } },
    },
    'holds a plan that breaks a rule, and names the field': {
      view: { spec: { batchPartition: 9 } },
      want: { kind: 'stop', holds: [{ reason: 'InvalidSpec' }], message: expect.stringContaining('spec.releasePlan.batchPartition is 9') },
    },
    'counts a percent size of the nodes desired now': {
      view: { nodes: 'a:old b:old c:old d:old e:old f:old' },
      want: { allowance: { partition: 3 } },
    },
    'is complete with zero desired nodes, whatever the budget': {
      view: { nodes: '', daemonSet: budgetZero },
      want: { kind: 'allow', progress: { state: 'Ready' } },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, want }) => {
    expect(wantedAllowance(aView(view))).toMatchObject(want)
  })

  it.each([
    ['is 1 by default', undefined, 10, 1],
    ['rounds a percentage of the desired nodes up', '15%', 10, 2],
    ['is at most 1000', 5000, 9000, 1000],
    ['is 1 without desired nodes', '10%', 0, 1],
  ])('resolves a maxUnavailable that %s', (_name, maxUnavailable, desired, want) => {
    const rollingUpdate = maxUnavailable === undefined ? {} : { maxUnavailable }
    expect(resolveLimit(aView({ daemonSet: { updateStrategy: { rollingUpdate } } }).daemonSet!, desired)).toBe(want)
  })

  it.each([
    ['invalid JSON', '{'],
    ['a list', '[]'],
    ['a number for a uid', '{"name":"a","uid":1}'],
    ['null', 'null'],
  ])('ignores a control-info that is %s', (_name, text) => {
    expect(controlledBy(aView({ annotations: { [control]: text } }).daemonSet!)).toBeUndefined()
  })
})

describe('the batch of a release that is over and not judged, as after a rollback', () => {
  const rollback: ViewFields = {
    nodes: 'a:new b:new c:new d:new e:new!',
    spec: { batchPartition: undefined },
    tranche: { canaryRevision: 'new', stableRevision: 'new' },
    annotations: { [daemonSetAnnotations.inProgressing]: null },
    status: { phase: 'Finalizing' },
  }
  const cases: Record<string, readonly [ViewFields, string]> = {
    'is ready beside an updated node that is not well': [{}, 'Ready'],
    'waits for a node in flight': [{ record: { permits: [{ ...permitFor('e'), podUid: 'former' }] } }, 'Verifying'],
    'waits for a node with an old pod': [{ nodes: 'a:new b:new c:new d:new! e:old' }, 'Upgrading'],
    'waits for a node without a pod': [{ nodes: 'a:new b:new c:new d:new e:-' }, 'Verifying'],
    'waits for all nodes before its end is published': [{ annotations: {} }, 'Verifying'],
    'waits for all nodes before the last batch': [{ spec: { batchPartition: 1 } }, 'Verifying'],
    'waits for all nodes until its status says that the end has begun': [{ status: { phase: 'Progressing' } }, 'Verifying'],
    'waits for all nodes while its status is of the release before': [
      { status: { phase: 'Finalizing', observedRelease: 'r0' } },
      'Verifying',
    ],
  }
  it.each(Object.entries(cases))('%s', (_name, [fields, state]) => {
    expect(wantedAllowance(aView({ ...rollback, ...fields }))).toMatchObject({ kind: 'allow', progress: { state } })
  })
})
