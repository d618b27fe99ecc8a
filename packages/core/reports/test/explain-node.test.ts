import { explainNode } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { permitFor } from '../../../../test/fakes/build-view.ts'
import { aReading, type FactsFields } from './build-facts.ts'

const spread = { nodes: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] } }
const held = { reason: 'RevisionHeld', message: 'revision new was rolled back at 22:00' }

describe('why a node is not updated', () => {
  it.each<[string, FactsFields, object]>([
    ['it is about to be', { nodes: 'a:old b:old c:old d:old e:old' }, { rule: 'Next', answer: 'a is about to be updated' }],
    [
      'its pod is permitted and may be deleted now',
      { record: { permits: [permitFor('a')] } },
      { rule: 'Next', answer: 'a is about to be updated: its pod may be deleted now' },
    ],
    [
      'its pod is permitted, and the policy drains nodes',
      { tranche: { drain: {} }, record: { permits: [permitFor('a')] } },
      { rule: 'Next', answer: 'a is about to be updated: an executor drains it' },
    ],
    [
      'a later batch updates it',
      { nodes: 'a:old b:new c:new d:old e:old' },
      {
        rule: 'Partition',
        answer: 'a is not updated yet: step 1 ends at 2 nodes, and step 2 of 2 updates it at the current number of nodes',
      },
    ],
    [
      'a later step selects it',
      { tranche: { nodes: { steps: [{ matchLabels: { name: 'b' } }, { matchLabels: { name: 'a' } }] } } },
      { rule: 'Step', answer: 'a is not updated yet: step 2 is the first whose selector matches it' },
    ],
    [
      'earlier steps select other nodes',
      { tranche: { nodes: { steps: [{ matchLabels: { name: 'b' } }, {}] } } },
      { rule: 'Step', answer: 'a is not updated yet: the steps before step 2 select other nodes' },
    ],
    [
      'no step selects it',
      { tranche: { nodes: { steps: [{ matchLabels: { name: 'b' } }, { matchLabels: { name: 'c' } }] } } },
      { rule: 'Step', answer: 'a is not updated yet: no step selects it, so it follows after the last step' },
    ],
    [
      'other nodes come before it and fit the budget',
      {
        nodes: 'a:old b:old c:old d:old e:old',
        change: { a: { pod: { createdAt: '2023-11-14T22:14:00Z' } } },
        record: { partition: 0, limit: 2 },
      },
      { rule: 'Order', answer: 'a is in this batch and waits: 4 nodes come before it' },
    ],
    [
      'the maximum of nodes is down',
      { nodes: 'a:old b:new! c:new! d:old e:old', record: { partition: 0 } },
      {
        rule: 'Budget',
        answer: 'a is in this batch and waits: maxUnavailable (2) is used up: 2 whose new pod is not available (b, c)',
        next: 'fewer than 2 nodes are down',
        facts: expect.arrayContaining([{ name: 'down', value: '2 of 2: b, c' }]) as never,
      },
    ],
    [
      'deletions that are permitted use up the maximum of nodes',
      {
        nodes: 'a:old b:new! c:old d:old e:old',
        change: { a: { pod: { createdAt: '2023-11-14T22:14:00Z' } } },
        record: { partition: 0, permits: [{ node: 'c', podUid: 'pod-c', podResourceVersion: '4' }] },
      },
      {
        rule: 'Budget',
        answer:
          'a is in this batch and waits: maxUnavailable (2) is used up: 1 whose new pod is not available (b), 1 whose deletion is permitted (c)',
        facts: expect.arrayContaining([{ name: 'down', value: '1 of 2: b' }]) as never,
      },
    ],
    [
      'the maximum of nodes in its zone is down',
      {
        nodes: 'a:old b:new! c:old d:old e:old',
        tranche: spread,
        record: { partition: 0 },
        change: { a: { labels: { zone: 'eu-1a' } }, b: { labels: { zone: 'eu-1a' } } },
      },
      { rule: 'Spread', answer: 'a waits: with zone=eu-1a 1 may be down at a time, and b is' },
    ],
    [
      'the policy excludes it',
      { tranche: { nodes: { exclude: [{ matchLabels: { name: 'a' } }] } } },
      {
        rule: 'Excluded',
        answer: 'a is not updated: nodes.exclude of the policy matches it, so the release leaves it on the old revision',
      },
    ],
    [
      'it is NotReady',
      { nodes: 'a:old? b:old c:old d:old e:old' },
      {
        rule: 'NotReady',
        answer: 'a is skipped: its kubelet does not respond (NotReady)',
        next: 'the node is Ready, and not in maintenance',
      },
    ],
    [
      'it is in maintenance',
      { change: { a: { maintenance: 'DrainInProgress' } } },
      { rule: 'NotReady', answer: 'a is skipped: the node is in maintenance (condition DrainInProgress)' },
    ],
    [
      'the DaemonSet does not run there',
      { change: { a: { desired: false } } },
      {
        rule: 'Placement',
        answer: 'a is not updated: the DaemonSet does not run on a node with its labels and taints, and its pod will be deleted',
      },
    ],
    [
      'the DaemonSet does not run there because the node is dead',
      {
        nodes: 'a:-? b:old c:old d:old e:old',
        change: { a: { desired: false, desiredOnReturn: true, silentSince: '2023-11-14T22:00:00Z' } },
      },
      {
        rule: 'NotReady',
        answer:
          'a is not updated: its kubelet does not respond (NotReady), since 2023-11-14T22:00:00Z; the DaemonSet does not run there until it is back',
        next: 'the node is Ready, and Kubernetes or a person has removed the taints for its failure',
      },
    ],
    [
      'the node is back, and still has the taint for its failure',
      { change: { a: { desired: false, desiredOnReturn: true } } },
      {
        rule: 'NotReady',
        answer: 'a is not updated: the node still has a taint for a failure; the DaemonSet does not run there until it is back',
      },
    ],
    [
      'it has no room for the new pod',
      { record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room for the new pod: cpu' }] } },
      {
        rule: 'Room',
        answer: 'a keeps its old pod: no room for the new pod: cpu',
        next: expect.stringContaining('there is room for the new pod'),
      },
    ],
    [
      'it cannot pull the new image',
      { record: { blocked: [{ node: 'a', reason: 'ImagePull', message: 'cannot pull image "agent:v2": ErrImagePull' }] } },
      {
        rule: 'PrePull',
        answer: 'a keeps its old pod: cannot pull image "agent:v2": ErrImagePull',
        next: 'the new images can be pulled on a; executors look again by themselves',
      },
    ],
    [
      'a check of another kind blocks it',
      { record: { blocked: [{ node: 'a', reason: 'CheckFailed', message: 'cannot check the node' }] } },
      { rule: 'CheckFailed', next: 'the check of the node succeeds; executors look again by themselves' },
    ],
    [
      'other pods use it for too long',
      { record: { blocked: [{ node: 'a', reason: 'DrainBlocked', message: 'not drained within 10m: 1 pod uses the agent: b/c' }] } },
      {
        rule: 'Drain',
        answer: 'a keeps its old pod: not drained within 10m: 1 pod uses the agent: b/c',
        next: 'the pods that use the agent leave a; executors look again by themselves',
      },
    ],
    [
      'another release drained it for too long',
      { record: { blocked: [{ node: 'a', reason: 'DrainTaken', message: 'not drained within 10m: BatchRelease b/c drains it' }] } },
      {
        rule: 'Drain',
        answer: 'a keeps its old pod: not drained within 10m: BatchRelease b/c drains it',
        next: 'the other release is done with a, or is paused; executors look again by themselves',
      },
    ],
    [
      'the installation lets no policy check room',
      { record: { blocked: [{ node: 'a', reason: 'RoomNotAllowed', message: 'policies may not check room' }] } },
      { rule: 'Room', next: expect.stringContaining('rbac.room: true in the chart') },
    ],
    [
      'another program holds its Lease',
      { record: { blocked: [{ node: 'a', reason: 'NodeLocked', message: 'repair holds the Lease of the node until 22:00' }] } },
      {
        rule: 'Lock',
        answer: 'a keeps its old pod: repair holds the Lease of the node until 22:00',
        next: 'the Leases of a are given back or expire; executors look again by themselves',
      },
    ],
    [
      'its agent was away for long enough in the last 24 hours',
      { record: { blocked: [{ node: 'a', reason: 'DowntimeSpent', message: 'it can be updated at 22:00' }] } },
      {
        rule: 'Downtime',
        answer: 'a keeps its old pod: it can be updated at 22:00',
        next: 'the downtime of a in the last 24 hours falls below downtime.perDay of the policy; executors look again by themselves',
      },
    ],
    [
      'another node has no room for its new pod',
      { record: { blocked: [{ node: 'b', reason: 'NoRoom', message: 'no room' }] } },
      { rule: 'Next' },
    ],
    [
      'the Rollout is paused',
      {
        rollout: { strategy: { paused: true, canary: { steps: [{ replicas: '100%' }] } } },
        rolloutStatus: { message: 'paused by spec.strategy.paused since 22:00' },
      },
      { rule: 'Paused', answer: 'a is not updated: paused by spec.strategy.paused since 22:00' },
    ],
    [
      'the Rollout is paused, with the user and the reason',
      {
        rollout: { strategy: { paused: true, canary: { steps: [{ replicas: '100%' }] } } },
        rolloutStatus: { message: 'paused by spec.strategy.paused since 22:00' },
      },
      { rule: 'Paused', facts: expect.arrayContaining([{ name: 'paused', value: 'by spec.strategy.paused; the user is not recorded' }]) },
    ],
    [
      'it has no room for the new pod, but the release is paused',
      {
        rollout: { strategy: { paused: true, canary: { steps: [{ replicas: '100%' }] } } },
        record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room for the new pod: cpu' }] },
        rolloutStatus: { message: 'paused by spec.strategy.paused since 22:00' },
      },
      { rule: 'Paused', answer: 'a is not updated: paused by spec.strategy.paused since 22:00' },
    ],
    [
      'the revision is held',
      { rolloutStatus: { conditions: [{ type: 'Stalled', status: 'True', ...held }] } },
      { rule: 'Held', answer: 'a is not updated: revision new was rolled back at 22:00' },
    ],
    [
      'the BatchRelease is stopped, and the Rollout does not report it yet',
      {
        record: { state: 'stopped', holds: [{ reason: 'ReleaseFailed', id: 'r1' }] },
        status: { waiting: waiting('ReleaseFailed', '1 node failed') },
      },
      { rule: 'Failed', answer: 'a is not updated: 1 node failed' },
    ],
    [
      'no pod is permitted yet',
      { record: null },
      {
        rule: 'Pending',
        answer: 'a is not updated: no pod may be deleted yet: the release is starting, or its rules have just changed',
      },
    ],
    [
      'the DaemonSet controller has not observed the template yet',
      { generation: 3, observed: 2 },
      { rule: 'Pending', answer: 'a is not updated: the DaemonSet controller has not observed the template yet' },
    ],
  ])('says that %s', (_name, fields, expected) => {
    const tranche = { canaryRevision: 'new', stableRevision: 'old', release: 'r1', ...fields.tranche }
    expect(explainNode(aReading({ ...fields, tranche }), 'a')).toMatchObject({ subject: 'a', ...expected })
  })
})

describe('the result of the update of a node', () => {
  const deleted = { ready: false, answers: false, desired: false, isDeleted: true as const }
  const lost = { ready: false, answers: false, desired: false, desiredOnReturn: true as const }
  const tranche = { canaryRevision: 'new', stableRevision: 'old', release: 'r1' }
  const since = '2023-11-14T22:00:00Z'
  const failedCondition = {
    ...{ type: 'Stalled' as const, status: 'True' as const, reason: 'ReleaseFailed', message: 'revision new failed' },
    ...{ lastUpdateTime: since, lastTransitionTime: since },
  }
  const lostOn = (node: string) => ({
    ...{ reason: 'ReleaseFailed', message: '1 of 2 nodes failed', nodes: [node], count: 1, release: 'r1' },
    failedNodes: [{ node, reason: 'NodeNotReady', message: 'the node became NotReady' }],
  })
  it.each<[string, FactsFields, object]>([
    [
      'it is done',
      { nodes: 'a:new', change: { a: { pod: { rolloutBatchId: '1', readyStamp: '2023-11-14T22:13:09Z' } } } },
      { rule: 'Updated', answer: 'a runs revision new (batch 1) and is available since 2023-11-14T22:13:09Z' },
    ],
    [
      'it continues: its old pod terminates',
      { nodes: 'a:old~' },
      {
        rule: 'Availability',
        answer: 'a is being updated to revision new: the pod is terminating',
        next: 'the old pod terminates, and the new pod becomes available',
      },
    ],
    [
      'it continues: the node has no pod',
      { nodes: 'a:-' },
      { rule: 'Availability', answer: 'a is being updated to revision new: the node has no pod yet' },
    ],
    [
      'it failed',
      { nodes: 'a:new!', change: { a: { pod: { trouble: { reason: 'ImagePullBackOff', container: 'agent' } } } } },
      { rule: 'Failed', answer: 'a runs revision new and is not available: ImagePullBackOff: container agent' },
    ],
    [
      'the node was lost after it, and is not desired now, which stops the release',
      {
        nodes: 'a:new! b:old',
        change: { a: lost },
        status: { failure: { ...lostOn('a'), stops: true } },
        rolloutStatus: { conditions: [failedCondition] },
        tranche,
      },
      {
        rule: 'Failed',
        answer:
          'a was lost after its update to revision new and is not available: NodeNotReady: the node became NotReady, which counts as a failure of the new version',
        next: expect.stringContaining('abort: roll back to the stable revision'),
      },
    ],
    [
      'its Node object was deleted after it failed, which stops the release all the same',
      {
        nodes: 'a:new! b:old',
        change: { a: deleted },
        status: { failure: { ...lostOn('a'), stops: true } },
        rolloutStatus: { conditions: [failedCondition] },
        tranche,
      },
      {
        rule: 'Placement',
        answer: 'a is not updated: no Node object has this name any more, and its pod will be deleted; its failure still stops the release',
        next: expect.stringContaining('abort: roll back to the stable revision'),
        facts: expect.arrayContaining([{ name: 'node', value: 'deleted' }]),
      },
    ],
    [
      'its Node object was deleted',
      { nodes: 'a:old! b:old', change: { a: deleted }, tranche },
      {
        rule: 'Placement',
        answer: 'a is not updated: no Node object has this name any more, and its pod will be deleted',
        next: 'a node of this name joins the cluster',
        facts: expect.arrayContaining([{ name: 'why', value: 'the node was deleted' }]),
      },
    ],
    [
      'the node was lost after it, and its pod is gone meanwhile',
      { nodes: 'a:- b:old', change: { a: lost }, status: { failure: lostOn('a') }, tranche },
      { rule: 'Failed', answer: expect.stringContaining('a was lost after its update to revision new') },
    ],
    [
      'the node was lost after it, and is not desired now, which the policy ignores',
      { nodes: 'a:new! b:old', change: { a: lost }, tranche },
      { rule: 'NotReady', answer: 'a is on revision new, and its kubelet does not respond (NotReady)' },
    ],
    [
      'the DaemonSet has another template now',
      { nodes: 'a:new', generation: 3, observed: 2 },
      { rule: 'Pending', next: 'the controller observes the template' },
    ],
    [
      'the node went away during it: its kubelet does not remove the old pod',
      { nodes: 'a:old~? b:old', record: { permits: [permitFor('a')] } },
      { rule: 'NotReady', answer: 'a went away during its update to revision new, and its kubelet does not respond (NotReady)' },
    ],
    [
      'the node has not begun it, because it joined without working',
      { nodes: 'a:-? b:old' },
      { rule: 'NotReady', answer: 'a has no pod of revision new yet, and its kubelet does not respond (NotReady)' },
    ],
    ['the node was removed meanwhile', { nodes: 'a:new¿' }, { rule: 'NotReady', answer: 'a is on revision new, and the node is NotReady' }],
  ])('says that %s', (_name, fields, expected) => {
    expect(explainNode(aReading(fields), 'a')).toMatchObject(expected)
  })

  it('has no answer for a node without the DaemonSet', () => {
    expect(explainNode(aReading(), 'missing')).toBeUndefined()
  })

  it('lists its facts, in order', () => {
    const { facts } = explainNode(aReading({ nodes: 'a:old b:new c:new d:old e:old' }), 'a')!
    expect(facts.map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'state: old',
      'revision: old (stable)',
      'released: new',
      'pod: pod-a',
      'node: Ready',
      'step: 1 of 2 (StepUpgrade)',
      'before it: 0 nodes',
    ])
  })
})

function waiting(reason: string, message: string): { reason: string; message: string; since: string; nodes: readonly string[] } {
  return { reason, message, since: '2023-11-14T22:00:00Z', nodes: [] }
}
