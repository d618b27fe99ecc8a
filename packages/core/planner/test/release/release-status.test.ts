import { toFleetView } from '@tranche/fleet'
import { daemonSetAnnotations, ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import { planBatchRelease, releaseStatusPatch, type ReleaseView, statusChanges, statusWithRecord } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, NOW_MS, onceSaid, permitFor, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const { controlInfo, inProgressing, partition, paused } = daemonSetAnnotations
const begun = { observedGeneration: 3 }
const availability = { reason: 'NotAvailable', message: '', nodes: [] }
const tolerant = { failure: { maxFailedNodes: '100%' } }
/** A release that a failure stopped. */
const failed = {
  nodes: 'a:new b:new c:old d:old e:old',
  record: { state: 'stopped', holds: [{ reason: 'NodesFailed', id: 'r1' }] },
  status: {
    observedGeneration: 4,
    failure: { reason: 'NodesFailed', message: 'a crashes', nodes: ['a'], count: 1, stops: true, release: 'r1' },
    stoppedTime: { release: 'r1', startedAt: '2023-11-14T21:00:00.000Z', seconds: 0 },
    watchedNodes: [{ node: 'a', since: '2023-11-14T22:00:00.000Z', uid: 'pod-a', restarts: 9, seen: 9 }],
  },
} satisfies ViewFields
const stopped: ViewFields = { tranche: { paused: true }, status: begun, annotations: { [paused]: 'true' } }

describe('the status of a BatchRelease', () => {
  const cases: Record<string, { view: ViewFields; want: object }> = {
    'acknowledges a spec once the record is open for it': {
      view: { status: begun },
      want: {
        observedGeneration: 4,
        phase: 'Progressing',
        updateRevision: 'new',
        stableRevision: 'old',
        observedRolloutID: 'new',
        observedWorkloadReplicas: 5,
      },
    },
    'acknowledges a stop when the record is stopped and says why (G9)': {
      view: { ...stopped, record: { state: 'stopped', holds: [{ reason: 'Paused', id: '4' }] } },
      want: { observedGeneration: 4, message: 'paused by spec.strategy.paused', waiting: { reason: 'Paused' } },
    },
    'acknowledges a stop without a record': {
      view: { ...stopped, record: null, annotations: { [controlInfo]: null } },
      want: { observedGeneration: 4 },
    },
    'acknowledges no stop while a touch has no clear answer (G9)': {
      view: { ...stopped, record: { state: 'voiding', permits: [permitFor('a')] }, view: { unclear: 'refused' } },
      want: { observedGeneration: 3, waiting: { reason: 'TouchUnclear', message: expect.stringContaining('refused') } },
    },
    'acknowledges nothing while the DaemonSet is pending': {
      view: { status: begun, revisions: [] },
      want: { observedGeneration: 3, waiting: { reason: 'Pending' } },
    },
    'does not report the former release’s ready batch, even if it stops at once': {
      view: {
        ...stopped,
        record: { state: 'stopped', holds: [{ reason: 'Paused', id: '4' }] },
        status: { ...begun, observedRelease: 'r0', canaryStatus: { batchState: 'Ready', currentBatch: 0 } },
      },
      want: { observedRelease: 'r1', canaryStatus: { batchState: 'Upgrading', currentBatch: 0 } },
    },
    'counts updated, ready and available nodes': {
      view: { nodes: 'a:new b:new! c:old d:old e:old' },
      want: {
        canaryStatus: { batchState: 'Verifying', currentBatch: 0, updatedReplicas: 2, updatedReadyReplicas: 1 },
        updatedAvailableReplicas: 1,
      },
    },
    'names the unavailable nodes, why, and since when': {
      view: { nodes: 'a:new b:new! c:old d:old e:old' },
      want: { waiting: { reason: 'NotAvailable', message: expect.stringContaining('not ready on b'), nodes: ['b'], since: stamp(0) } },
    },
    'reports that accepted nodes use the budget, and the fix': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        spec: { batchPartition: 1 },
        record: { partition: 0 },
        annotations: { [partition]: '0' },
        status: { ...begun, failure: accepted('a', 'b') },
      },
      want: {
        waiting: {
          message:
            'waiting for updated nodes to become available: not ready on a, b; the failures on a, b were accepted, and they use up maxUnavailable (2): raise it to at least 3, fix the nodes, abort, or apply another template',
        },
      },
    },
    'names no abort alone where the Rollout may be disabled, because accepted nodes use the budget': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        spec: { batchPartition: undefined },
        record: { partition: 0 },
        annotations: { [partition]: '0' },
        status: { ...begun, failure: accepted('a', 'b') },
      },
      want: {
        waiting: {
          message: expect.stringMatching(
            /fix the nodes, abort, or apply another template; if the Rollout is disabled or deleted, set tranche\.dev\/on-delete to Rollback$/,
          ),
        },
      },
    },
    'does not blame an accepted node where starting pods use the rest of the budget': {
      view: {
        nodes: 'a:new! b:new! c:new d:old e:old',
        spec: { batchPartition: 1 },
        record: { partition: 0 },
        annotations: { [partition]: '0' },
        status: { ...begun, failure: accepted('a') },
      },
      want: { waiting: { message: 'waiting for updated nodes to become available: not ready on a, b' } },
    },
    'reports that a batch waits for an updated node that is not among the accepted ones': {
      view: { nodes: 'a:new! b:new! c:old d:old e:old', status: { ...begun, failure: accepted('a', 'b') } },
      want: { waiting: { message: expect.stringContaining('no batch is ready before an updated node is available') } },
    },
    'waits for a person once accepted nodes have used up the budget as long as a new pod may take': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        spec: { batchPartition: 1 },
        record: { partition: 0 },
        annotations: { [partition]: '0' },
        status: { ...begun, failure: accepted('a', 'b'), waiting: { ...availability, since: stamp(-600_000) } },
      },
      want: { waiting: { reason: 'AcceptedFailed', nodes: ['a', 'b'], since: stamp(-600_000) } },
    },
    'waits for a person once the batch has waited as long for accepted nodes only': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        status: { ...begun, failure: accepted('a', 'b'), waiting: { ...availability, since: stamp(-600_000) } },
      },
      want: {
        waiting: {
          reason: 'AcceptedFailed',
          message: expect.stringMatching(/; their time is over \(failure.progressDeadlineSeconds\)$/),
          since: stamp(-600_000),
        },
      },
    },
    'waits for a person once nodes that were down before have used up the budget as long as a new pod may take': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        spec: { batchPartition: 1 },
        record: { partition: 0, permits: wereBad('a', 'b') },
        annotations: { [partition]: '0' },
        status: { ...begun, waiting: { ...availability, since: stamp(-600_000) } },
      },
      want: { waiting: { reason: 'UnavailableBefore', nodes: ['a', 'b'], since: stamp(-600_000) } },
    },
    'waits for a person once the batch has waited as long for one such node, though another is available': {
      view: {
        nodes: 'a:new! b:new c:old d:old e:old',
        record: { permits: wereBad('a') },
        status: { ...begun, waiting: { ...availability, nodes: ['a'], since: stamp(-600_000) } },
      },
      want: { waiting: { reason: 'UnavailableBefore', nodes: ['a'], message: expect.stringMatching(/so only a person ends this$/) } },
    },
    'waits for a person once it has waited as long for a node that ran the version before the release': {
      view: {
        nodes: 'a:new! b:new c:old d:old e:old',
        status: {
          ...begun,
          stoppedTime: { release: 'r1', startedAt: stamp(-700_000), seconds: 0, olderPods: ['pod-a'] },
          waiting: { ...availability, nodes: ['a'], since: stamp(-600_000) },
        },
      },
      want: { waiting: { reason: 'UnavailableBefore', nodes: ['a'] } },
    },
    'waits for no person in a rollback, which nothing stops': {
      view: {
        nodes: 'a:new! b:new c:old d:old e:old',
        record: { permits: wereBad('a') },
        tranche: { stableRevision: 'new' },
        annotations: { [daemonSetAnnotations.stableRevision]: 'new' },
        status: { ...begun, waiting: { ...availability, nodes: ['a'], since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable' } },
    },
    'waits for no person before that': {
      view: {
        nodes: 'a:new! b:new c:old d:old e:old',
        record: { permits: wereBad('a') },
        status: { ...begun, waiting: { ...availability, nodes: ['a'], since: stamp(-599_999) } },
      },
      want: { waiting: { reason: 'NotAvailable', since: stamp(-599_999) } },
    },
    'waits for no person while another node is not available yet': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        record: { permits: wereBad('a') },
        status: { ...begun, waiting: { ...availability, nodes: ['a'], since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable' } },
    },
    'keeps waiting for a person': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        status: { ...begun, failure: accepted('a', 'b'), waiting: { ...availability, reason: 'AcceptedFailed', since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'AcceptedFailed', since: stamp(-700_000) } },
    },
    'waits for accepted nodes by itself until then': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        status: { ...begun, failure: accepted('a', 'b'), waiting: { ...availability, since: stamp(-599_999) } },
      },
      want: { waiting: { reason: 'NotAvailable', since: stamp(-599_999) } },
    },
    'waits for no person where another node is down, too': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        status: { ...begun, failure: accepted('a'), waiting: { ...availability, since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable' } },
    },
    'waits for no person where another node uses up the budget, too': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        spec: { batchPartition: 1 },
        record: { partition: 0 },
        annotations: { [partition]: '0' },
        status: { ...begun, failure: accepted('a'), waiting: { ...availability, nodes: ['a'], since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable' } },
    },
    'waits for no person where the batch has another node to update': {
      view: {
        nodes: 'a:new! b:old c:old d:old e:old',
        status: { ...begun, failure: accepted('a'), waiting: { ...availability, nodes: ['a'], since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable' } },
    },
    'waits for accepted nodes only from the moment at which it waits for no other one': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        status: { ...begun, failure: accepted('a', 'b'), waiting: { ...availability, nodes: ['a', 'c'], since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable', since: stamp(0) } },
    },
    'waits for accepted nodes only from the moment at which it waits for nothing else': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        status: { ...begun, failure: accepted('a', 'b'), waiting: { reason: 'Deleting', message: '', nodes: [], since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable', since: stamp(0) } },
    },
    'waits for accepted nodes only from now where the status has no valid time': {
      view: {
        nodes: 'a:new! b:new! c:old d:old e:old',
        status: { ...begun, failure: accepted('a', 'b'), waiting: { ...availability, since: 'long ago' } },
      },
      want: { waiting: { reason: 'NotAvailable', since: stamp(0) } },
    },
    'waits for no person once an accepted node is available': {
      view: {
        nodes: 'a:new b:new! c:old d:old e:old',
        spec: { batchPartition: 1 },
        record: { partition: 0 },
        annotations: { [partition]: '0' },
        status: { ...begun, failure: accepted('a', 'b'), waiting: { ...availability, reason: 'AcceptedFailed', since: stamp(-700_000) } },
      },
      want: { waiting: { reason: 'NotAvailable' } },
    },
    'keeps the time while the reason stays': {
      view: {
        nodes: 'a:new b:new! c:old d:old e:old',
        status: { ...begun, waiting: { reason: 'NotAvailable', message: '', nodes: [], since: stamp(-5_000) } },
      },
      want: { waiting: { since: stamp(-5_000) } },
    },
    'names the nodes between two pods': {
      view: { nodes: 'a:old~ b:- c:old d:old e:old' },
      want: { waiting: { reason: 'Upgrading', message: 'waiting for new pods on a, b', nodes: ['a', 'b'] } },
    },
    'reports that executors start nothing without the job queue': {
      view: { view: { queueOutage: 'Redis does not answer' } },
      want: {
        waiting: {
          reason: 'QueueUnavailable',
          message:
            '2 more nodes are to be updated; executors start nothing while the job queue is unavailable, and continue by themselves when it is back: ' +
            'Redis does not answer',
          nodes: [],
        },
      },
    },
    'does not mention the job queue where executors have nothing to start': {
      view: { nodes: 'a:new b:new! c:old d:old e:old', view: { queueOutage: 'Redis does not answer' } },
      want: { waiting: { reason: 'NotAvailable' } },
    },
    'names the nodes that use the budget': {
      view: { nodes: 'a:old! b:old! c:old d:old e:old' },
      want: {
        waiting: {
          reason: 'BudgetUsedUp',
          message: expect.stringContaining('maxUnavailable (2) is used up: 2 whose old pod is not available (a, b)'),
          nodes: ['a', 'b'],
        },
      },
    },
    'names the other nodes that use the budget while it waits for new pods': {
      view: { nodes: 'a:- b:old! c:old d:old e:old', record: { permits: [{ node: 'a', podUid: 'gone-a', podResourceVersion: '4' }] } },
      want: {
        waiting: {
          reason: 'Upgrading',
          message: 'waiting for new pods on a; maxUnavailable (2) is used up: 1 being updated (a), 1 whose old pod is not available (b)',
          nodes: ['a'],
        },
      },
    },
    'counts dead nodes apart from those that it skips': {
      view: { nodes: 'a:new b:new c:old?! d:old? e:old' },
      want: {
        message: expect.stringMatching(
          /; 1 dead node is updated on return; 1 node that is NotReady or in maintenance is skipped until it is back$/,
        ),
      },
    },
    'is not ready while a node seems updated whose pod was deleted in a release of another revision (G3)': {
      view: { nodes: 'a:new b:new c:old d:old e:old', record: { permits: [permitFor('a')] }, status: begun },
      want: {
        canaryStatus: { batchState: 'Upgrading' },
        waiting: { reason: 'Upgrading', message: expect.stringContaining('have recorded') },
      },
    },
    'is ready while the record has a permit for an old pod that is gone (G3)': {
      view: { nodes: 'a:new b:new c:old d:old e:old', record: { permits: [{ ...permitFor('a'), podUid: 'pod-gone' }] }, status: begun },
      want: { canaryStatus: { batchState: 'Ready' } },
    },
    'is not ready before the watch has reached what the record relies on (G3)': {
      view: { nodes: 'a:new b:new c:old d:old e:old', record: { watermark: '100' }, view: { podsSeen: '99' }, status: begun },
      want: {
        canaryStatus: { batchState: 'Upgrading' },
        waiting: { reason: 'Upgrading', message: expect.stringContaining('have recorded') },
      },
    },
    'is ready once the watch has reached it (G3)': {
      view: { nodes: 'a:new b:new c:old d:old e:old', record: { watermark: '100' }, view: { podsSeen: '100' }, status: begun },
      want: { canaryStatus: { batchState: 'Ready' } },
    },
    'waits for room on nodes that keep their old pods, and names them': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [...'abcd'].map((node) => ({ node, reason: 'NoRoom', message: `no room on ${node}` })) },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'NoRoom',
          message: expect.stringMatching(/would not fit: a \(no room on a\), b \(no room on b\), c \(no room on c\) and 1 more; free room/),
          nodes: ['a', 'b', 'c', 'd'],
        },
      },
    },
    'waits until nodes have pulled the new images: says so': {
      view: { nodes: 'a:old b:old c:old d:old e:old', tranche: { prePull: {} }, status: begun },
      want: { waiting: { reason: 'Upgrading', message: expect.stringContaining('each node pulls the new images'), nodes: [] } },
    },
    'waits for images on nodes, and for room on others: says both': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: {
          blocked: [
            { node: 'a', reason: 'ImagePull', message: 'cannot pull' },
            { node: 'b', reason: 'NoRoom', message: 'no room' },
            { node: 'c', reason: 'Other', message: 'is odd' },
          ],
        },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'ImagePull',
          message: expect.stringMatching(
            /cannot be pulled: a \(cannot pull\); .*would not fit: b \(no room\); .*old pods: c \(is odd\); executors/,
          ),
          nodes: ['a', 'b', 'c'],
        },
      },
    },
    'waits for nodes whose Lease another program holds, and says until when': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'NodeLocked', message: 'repair holds the Lease of the node until 22:00' }] },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'NodeLocked',
          message: expect.stringContaining(
            'another holder has the Lease of the node: a (repair holds the Lease of the node until 22:00); executors take the Lease once',
          ),
          nodes: ['a'],
        },
      },
    },
    'waits for nodes whose agent was away for long enough in the last 24 hours': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'DowntimeSpent', message: 'it can be updated at 22:00' }] },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'DowntimeSpent',
          message: expect.stringContaining('for long enough in the last 24 hours: a (it can be updated at 22:00); executors update'),
          nodes: ['a'],
        },
      },
    },
    'waits for nodes that executors drain, and says for what': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'Draining', message: '1 pod uses the agent: b/c, since 22:00' }] },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'Draining',
          message:
            '2 more nodes are to be updated, and executors first drain the nodes (drain of the policy): a (1 pod uses the agent: b/c, since 22:00)',
          nodes: ['a'],
        },
      },
    },
    'waits for nodes that pull, and for others whose drain failed: the failure comes first': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: {
          blocked: [
            { node: 'a', reason: 'Pulling', message: 'pulls agent:v2' },
            { node: 'b', reason: 'DrainBlocked', message: '1 pod uses the agent: b/c' },
          ],
        },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'DrainBlocked',
          message: expect.stringMatching(
            /executors first pull the new images \(prePull of the policy\): a \(pulls agent:v2\); drain of .*: b \(/,
          ),
          nodes: ['a', 'b'],
        },
      },
    },
    'waits for nodes whose pods are still used, and says by which': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'DrainBlocked', message: '1 pod uses the agent: b/c' }] },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'DrainBlocked',
          message: expect.stringContaining('where other pods still use them: a (1 pod uses the agent: b/c); let these pods leave'),
          nodes: ['a'],
        },
      },
    },
    'has waited for the same time once a drain takes too long, because it waits for the same nodes': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'DrainBlocked', message: '1 pod uses the agent: b/c' }] },
        status: { ...begun, waiting: { reason: 'Draining', message: '', nodes: ['a'], since: stamp(-600_000) } },
      },
      want: { waiting: { reason: 'DrainBlocked', since: stamp(-600_000) } },
    },
    'waits for a person from the moment at which a right is found missing': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'DrainNotAllowed', message: 'policies may not drain' }] },
        status: { ...begun, waiting: { reason: 'Draining', message: '', nodes: ['a'], since: stamp(-600_000) } },
      },
      want: { waiting: { reason: 'DrainNotAllowed', since: stamp(0) } },
    },
    'waits for a right of the installation, and says which': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'RoomNotAllowed', message: 'policies may not check room' }] },
        status: begun,
      },
      want: { waiting: { reason: 'RoomNotAllowed', message: expect.stringContaining('allow it with rbac.room: true'), nodes: ['a'] } },
    },
    'waits for nodes that another release drains, and does not say that pods use them': {
      view: {
        nodes: 'a:old b:old c:old d:old e:old',
        record: { blocked: [{ node: 'a', reason: 'DrainTaken', message: 'BatchRelease b/c drains it' }] },
        status: begun,
      },
      want: {
        waiting: {
          reason: 'DrainTaken',
          message: expect.stringContaining('where another release drains the node: a (BatchRelease b/c drains it); executors drain'),
          nodes: ['a'],
        },
      },
    },
    'waits for the budget first, whatever room other nodes have': {
      view: { nodes: 'a:old! b:old! c:old d:old e:old', record: { blocked: [{ node: 'c', reason: 'NoRoom', message: 'no room' }] } },
      want: { waiting: { reason: 'BudgetUsedUp', message: expect.not.stringContaining('no room'), nodes: ['a', 'b'] } },
    },
    'waits for the budget that a broken pod uses on a node without room, and says what the node lacks': {
      view: { nodes: 'a:old! b:old! c:old d:old e:old', record: { blocked: [{ node: 'b', reason: 'NoRoom', message: 'no room' }] } },
      want: { waiting: { reason: 'BudgetUsedUp', message: expect.stringContaining('would not fit: b (no room)'), nodes: ['a', 'b'] } },
    },
    'waits for nothing in a ready batch': {
      view: {
        nodes: 'a:new b:new c:old d:old e:old',
        status: { ...begun, waiting: { reason: 'Upgrading', message: '', nodes: [], since: stamp(0) } },
      },
      want: { canaryStatus: { batchState: 'Ready', batchReadyTime: stamp(0) }, waiting: null },
    },
    'counts at most the nodes of the batch': {
      view: { nodes: 'a:new b:new c:new d:old e:old', status: begun },
      want: { message: 'batch 1 is ready: 3 nodes are updated and available, more than the 2 of the batch' },
    },
    'reports when the final settling time ends': {
      view: {
        ...leaving(-9_000),
        nodes: 'a:new b:new c:new d:new e:new',
        annotations: { [partition]: '0' },
        status: { ...leaving(-9_000).status, ...begun },
      },
      want: { message: `settling: becomes Healthy at ${stamp(1_000)} if nothing crashes; 5 of 5 nodes are updated and available` },
    },
    'restarts the final settling time where its start is unreadable': {
      view: {
        ...leaving(-9_000),
        nodes: 'a:new b:new c:new d:new e:new',
        annotations: { [partition]: '0' },
        status: {
          ...begun,
          canaryStatus: { ...leaving(-9_000).status?.canaryStatus, batchReadyTime: '2026-01-01T00:00:00x0+99:99' } as never,
        },
      },
      want: { settlingUntil: stamp(10_000) },
    },
    'reports no settling while a node is unavailable': {
      view: {
        ...leaving(-9_000),
        nodes: 'a:new b:new c:new d:new e:new!',
        annotations: { [partition]: '0' },
        status: { ...leaving(-9_000).status, ...begun },
      },
      want: { message: expect.stringMatching(/^batch 2: 4 of 5 nodes/) },
    },
    'leaves nodes behind only when the others have settled': {
      view: { ...leaving(-9_000), status: { ...leaving(-9_000).status, ...begun } },
      want: { waiting: null, skippedNodes: ['e'] },
    },
    'names the nodes that are left': {
      view: { ...leaving(-10_000), status: { ...leaving(-10_000).status, ...begun } },
      want: {
        phase: 'Finalizing',
        waiting: {
          reason: 'NodesLeft',
          message: '1 node is left behind: 1 NotReady (e), updated once Ready',
          nodes: ['e'],
        },
      },
    },
    'promises to restore the strategy once they are updated': {
      view: { ...leaving(-10_000), status: { ...leaving(-10_000).status, ...begun }, view: { strategyScope: 'release' } },
      want: { waiting: { reason: 'NodesLeft', message: expect.stringMatching(/; the update strategy is restored once they are/) } },
    },
    'promises no other strategy where OnDelete stays while the Rollout is bound': {
      view: { ...leaving(-10_000), status: { ...leaving(-10_000).status, ...begun }, view: { strategyScope: 'binding' } },
      want: { waiting: { reason: 'NodesLeft', message: expect.stringMatching(/updated once Ready$/) } },
    },
    'leaves tolerated nodes behind, too, and names them': {
      view: {
        ...leaving(-10_000),
        nodes: 'a:new b:new c:new d:new e:new!',
        spec: { batchPartition: undefined, failureThreshold: 1 },
        record: { partition: 0, permits: [permitFor('e')] },
        status: { ...leaving(-10_000).status, ...begun },
      },
      want: {
        waiting: {
          reason: 'NodesLeft',
          message: expect.stringContaining('1 updated and not available (e)'),
          nodes: ['e'],
        },
      },
    },
    'keeps its verdict and what it has watched while the DaemonSet is not bound (G12)': {
      view: { ...failed, annotations: { [daemonSetAnnotations.rollout]: null, [controlInfo]: null } },
      want: { failure: failed.status.failure, watchedNodes: failed.status.watchedNodes, waiting: { reason: 'Pending' } },
    },
    'keeps its verdict and what it has watched while the DaemonSet does not exist (G12)': {
      view: { ...failed, daemonSet: null, record: { state: 'stopped', holds: [{ reason: 'WorkloadNotFound', id: 'agent' }] } },
      want: { failure: failed.status.failure, watchedNodes: failed.status.watchedNodes, waiting: { reason: 'WorkloadNotFound' } },
    },
    'keeps its verdict, and is not over, while the DaemonSet is not bound in its last batch (G12)': {
      view: {
        ...failed,
        spec: { batchPartition: undefined },
        status: { ...failed.status, phase: 'Finalizing' },
        annotations: { [daemonSetAnnotations.rollout]: null, [controlInfo]: null, [inProgressing]: null },
      },
      want: { phase: 'Finalizing', failure: failed.status.failure, watchedNodes: failed.status.watchedNodes },
    },
    'drops the verdict of another release while the DaemonSet is not bound': {
      view: { ...failed, tranche: { release: 'r2' }, annotations: { [daemonSetAnnotations.rollout]: null, [controlInfo]: null } },
      want: { failure: null },
    },
    'does not report a release as over while its last nodes are being updated': {
      view: {
        ...leaving(-10_000),
        nodes: 'a:new b:new c:new d:new! e:old?',
        annotations: { [partition]: '0' },
        status: { phase: 'Finalizing', ...begun },
      },
      want: { waiting: { reason: 'NotAvailable', nodes: ['d'] } },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, want }) => {
    expect(planBatchRelease(aView(view))).toMatchObject({ kind: 'writeStatus', status: want })
  })

  it('looks again when accepted nodes have had their time to recover', () => {
    const waiting = { ...availability, since: stamp(-590_000) }
    const view = onceSaid(aView({ nodes: 'a:new! b:new! c:old d:old e:old', status: { ...begun, failure: accepted('a', 'b'), waiting } }))
    expect(planBatchRelease(view)).toMatchObject({ kind: 'wait', recheckAfterMs: 10_000 })
  })

  it('writes counts every five seconds and everything else at once', () => {
    const said = onceSaid(aView({ nodes: 'a:old~ b:old~ c:old d:old e:old' }))
    const counts = { ...said, fleet: aView({ nodes: 'a:- b:old~ c:old d:old e:old' }).fleet, statusWrittenMs: 98_000 }
    const fewer = { ...counts, fleet: aView({ nodes: 'a:new b:- c:old d:old e:old' }).fleet }
    expect(planBatchRelease(fewer)).toMatchObject({ kind: 'wait', recheckAfterMs: 3_000 })
    expect(planBatchRelease({ ...fewer, statusWrittenMs: 95_000 })).toMatchObject({ kind: 'writeStatus' })
    const ready = { ...counts, fleet: aView({ nodes: 'a:new b:new c:old d:old e:old' }).fleet }
    expect(planBatchRelease(ready)).toMatchObject({ kind: 'writeStatus', status: { canaryStatus: { batchState: 'Ready' } } })
  })

  it('writes the changed text of a hold within a second, and that of an ordinary wait within five', () => {
    const nodes = 'a:old b:old c:old d:old e:old'
    const held = (reason: string, message: string) => aView({ nodes, record: { blocked: [{ node: 'a', reason, message }] } })
    const said = onceSaid(held('DowntimeSpent', 'away for 1s of the 1s allowed'))
    const flight = held('DowntimeSpent', 'away for 1s of the 2s allowed').release.status?.flight
    const changed = { ...said, release: { ...said.release, status: { ...said.release.status, flight } } } as typeof said
    expect(planBatchRelease({ ...changed, statusWrittenMs: 99_700 })).toMatchObject({ kind: 'wait', recheckAfterMs: 700 })
    expect(planBatchRelease({ ...changed, statusWrittenMs: 99_000 })).toMatchObject({
      kind: 'writeStatus',
      status: { waiting: { message: expect.stringContaining('of the 2s allowed') } },
    })
  })

  it('writes every two seconds that an ordinary wait is better, and at once that it is worse, or another one', () => {
    const unwell = withTrouble(aView({ nodes: 'a:new! b:new! c:old d:old e:old', tranche: tolerant }))
    const said = onceSaid(aView({ nodes: 'a:old! b:old! c:old d:old e:old', tranche: tolerant }))
    expect(said.release.status?.waiting?.reason).toBe('BudgetUsedUp')
    const better = { ...said, fleet: aView({ nodes: 'a:new b:- c:old d:old e:old' }).fleet, statusWrittenMs: 99_000 }
    expect(planBatchRelease(better)).toMatchObject({ kind: 'wait', recheckAfterMs: 1_000 })
    const later = planBatchRelease({ ...better, statusWrittenMs: 98_000 })
    expect(later).toMatchObject({ kind: 'writeStatus', status: { waiting: { reason: 'Upgrading' } } })
    const worse = { ...onceSaid({ ...better, statusWrittenMs: null }), fleet: unwell.fleet, statusWrittenMs: 99_900 }
    expect(planBatchRelease(worse)).toMatchObject({ kind: 'writeStatus', status: { waiting: { reason: 'NotAvailable' } } })
    const outage = { ...onceSaid({ ...better, statusWrittenMs: null }), queueOutage: 'no connection', statusWrittenMs: 99_900 }
    expect(planBatchRelease(outage)).toMatchObject({
      kind: 'writeStatus',
      status: { waiting: { reason: 'QueueUnavailable' } },
    })
  })

  it('writes every five seconds that new pods start, and at once that one reports trouble', () => {
    const said = onceSaid(aView({ nodes: 'a:- b:- c:old d:old e:old', tranche: tolerant }))
    expect(said.release.status?.waiting?.reason).toBe('Upgrading')
    const started = { ...said, fleet: aView({ nodes: 'a:new! b:new! c:old d:old e:old' }).fleet, statusWrittenMs: 98_000 }
    expect(planBatchRelease(started)).toMatchObject({ kind: 'wait', recheckAfterMs: 3_000 })
    const later = planBatchRelease({ ...started, statusWrittenMs: 95_000 })
    expect(later).toMatchObject({ kind: 'writeStatus', status: { waiting: { reason: 'NotAvailable' } } })
    expect(planBatchRelease(withTrouble({ ...started, statusWrittenMs: 99_900 }))).toMatchObject({
      kind: 'writeStatus',
      status: { waiting: { reason: 'NotAvailable', message: expect.stringContaining('ImagePullBackOff on a, b') } },
    })
  })

  it('writes at once what a batch waits for where the budget is used up, although new pods only start', () => {
    const said = onceSaid(aView({ nodes: 'a:- b:old c:old d:old e:old' }))
    const fleet = aView({ nodes: 'a:old! b:old! c:old d:old e:old' }).fleet
    const plan = planBatchRelease({ ...said, fleet, statusWrittenMs: 99_900 })
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { waiting: { reason: 'BudgetUsedUp' } } })
  })

  it.each([
    ['the last count of a batch', { nodes: 'a:new b:new c:old d:old e:old' }, { canaryStatus: { batchState: 'Ready' } }],
    ['the acknowledgement of a spec', { nodes: 'a:- b:- c:old d:old e:old', metadata: { generation: 5 } }, { observedGeneration: 5 }],
    [
      'the acknowledgement of a pause',
      { ...stopped, metadata: { generation: 5 }, record: { state: 'stopped', holds: [{ reason: 'Paused', id: '5' }] } },
      { observedGeneration: 5, waiting: { reason: 'Paused' } },
    ],
  ] as const)('writes %s at once, whenever counts were written', (_what, fields, status) => {
    const said = onceSaid(aView({ nodes: 'a:- b:- c:old d:old e:old' }))
    const now = aView(fields)
    const release = { ...now.release, status: { ...said.release.status, flight: now.release.status?.flight } } as typeof now.release
    expect(planBatchRelease({ ...now, release, statusWrittenMs: 99_999 })).toMatchObject({ kind: 'writeStatus', status })
  })

  it('is written with the record that makes it true, in the same write (G9)', () => {
    const view = aView({ record: { size: 1, partition: 4 }, nodes: 'a:old b:old c:old d:old e:old', status: begun })
    const plan = planBatchRelease(view)
    if (plan.kind !== 'writeRecord') throw new Error(`planned ${plan.kind}`)
    expect(statusWithRecord(view, plan.record)).toMatchObject({ observedGeneration: 4, phase: 'Progressing' })
    expect(statusChanges(view.release, { phase: 'Progressing', waiting: null })).toEqual([
      { op: 'add', path: '/status/phase', value: 'Progressing' },
    ])
  })

  it('reports at once why a person must act, even when only the message changes', () => {
    const held = (maxUnavailable: number | string): ViewFields => ({
      daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable } } },
      record: { state: 'stopped', holds: [{ reason: 'BudgetZero', id: '2' }] },
      annotations: { [daemonSetAnnotations.paused]: 'true' },
    })
    const said = onceSaid(aView(held('banana')))
    const changed = { ...aView(held(0)), release: said.release, statusWrittenMs: 99_000 }
    expect(planBatchRelease(changed)).toMatchObject({
      kind: 'writeStatus',
      status: { waiting: { reason: 'BudgetZero', message: expect.stringContaining('maxUnavailable is 0') } },
    })
  })

  it('reports the start of the final settling at once', () => {
    const view = { ...aView({ ...leaving(-9_000), nodes: 'a:new b:new c:new d:new e:new', annotations: { [partition]: '0' } }) }
    const said = onceSaid(view)
    const release = { ...said.release, status: { ...said.release.status, settlingUntil: undefined } }
    expect(planBatchRelease({ ...view, release, statusWrittenMs: 99_000 })).toMatchObject({ kind: 'writeStatus' })
  })

  it('never replaces a status written meanwhile: the first one tests the resourceVersion', () => {
    const { release } = aView()
    const { status: _none, ...bare } = release
    expect(releaseStatusPatch(bare, { phase: 'Preparing' })).toContainEqual({ op: 'test', path: '/metadata/resourceVersion', value: '50' })
    expect(releaseStatusPatch(release, { phase: 'Preparing' })).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'release' },
      { op: 'test', path: '/metadata/generation', value: 4 },
      { op: 'add', path: '/status/phase', value: 'Preparing' },
    ])
  })
})

describe('the labels of a release (F13)', () => {
  const unlabelled = aView({ nodes: 'a:new b:new c:old d:new~ e:new' })
  const view = {
    ...unlabelled,
    fleet: toFleetView(
      unlabelled.fleet.nodes.map((node) => ({ ...node, pods: node.pods.map((pod) => ({ ...pod, rolloutId: 'before' })) })),
    ),
  }

  it('are set on standing pods of the revision, with the batch counted from 1', () => {
    const labels = { [ROLLOUT_ID_LABEL]: 'new', [ROLLOUT_BATCH_ID_LABEL]: '1' }
    const pods = ['a', 'b', 'e'].map((node) => ({
      namespace: 'demo',
      name: `pod-${node}`,
      uid: `pod-${node}`,
      node,
      labels,
      resourceVersion: null,
    }))
    expect(planBatchRelease(view)).toEqual({ kind: 'labelPods', pods, confirm: false })
  })

  it('are set on no pod with a permit, nor on one with a pending label', () => {
    const flight = { ...view.release.status!.flight!, permits: [permitFor('a')] }
    const release = { ...view.release, status: { ...view.release.status, flight } }
    const plan = planBatchRelease({ ...view, release, labelled: new Set(['pod-b']) })
    expect(plan.kind === 'labelPods' && plan.pods.map(({ name }) => name)).toEqual(['pod-e'])
  })

  it('are set while the release is stopped, but not while its record is being revoked', () => {
    const paused = aView({ ...stopped, record: { state: 'stopped', holds: [{ reason: 'Paused', id: '4' }] } })
    expect(planBatchRelease({ ...paused, fleet: view.fleet }).kind).toBe('labelPods')
    const revoking = aView({ record: { state: 'voiding' } })
    expect(planBatchRelease({ ...revoking, fleet: view.fleet }).kind).toBe('touchPermits')
  })
})

function leaving(readyMs: number): ViewFields {
  return {
    nodes: 'a:new b:new c:new d:new e:old?',
    spec: { batchPartition: undefined },
    record: { partition: 0 },
    annotations: { [partition]: '0', [inProgressing]: null },
    status: { phase: 'Finalizing', canaryStatus: { batchState: 'Ready', currentBatch: 1, batchReadyTime: stamp(readyMs) } },
  }
}

function stamp(fromNowMs: number): string {
  return new Date(NOW_MS + fromNowMs).toISOString()
}

/** The status once a retry has accepted the nodes. */
function accepted(...nodes: readonly string[]): NonNullable<NonNullable<ViewFields['status']>['failure']> {
  return { reason: 'Accepted', message: '', nodes: [], count: 0, stops: false, release: 'r1', accepted: nodes }
}

/** Every pod of the revision reports a reason why it is not available. */
function withTrouble(view: ReleaseView): ReleaseView {
  const nodes = view.fleet.nodes.map((node) => ({
    ...node,
    pods: node.pods.map((pod) => (pod.hash === 'new' ? { ...pod, trouble: { reason: 'ImagePullBackOff' } } : pod)),
  }))
  return { ...view, fleet: toFleetView(nodes) }
}

/** Permits of nodes that were not available before their update either. */
function wereBad(...nodes: readonly string[]) {
  return nodes.map((node) => ({ node, podUid: `gone-${node}`, podResourceVersion: '4', wasBad: true }))
}
