import type { Rollout } from '@tranche/api-schema'
import { type FleetPod, type FleetView, type NodeView, toFleetView } from '@tranche/fleet'
import { nodeScopeText, batchScope } from '@tranche/fence'
import type { ReleaseFacts } from '@tranche/reports'
import { aView, NOW_MS, type ViewFields } from '../../../../test/fakes/build-view.ts'
import type { FakeCluster } from '../../../../test/fakes/fake-cluster.ts'

/** Facts about a Rollout that a test sets besides its BatchRelease. */
export interface FactsFields extends ViewFields {
  readonly rollout?: Partial<Rollout['spec']>
  readonly rolloutStatus?: Partial<NonNullable<Rollout['status']>>
  /** Changes of single nodes, by name. */
  readonly change?: Readonly<Record<string, Partial<NodeView> & { readonly pod?: Partial<FleetPod> }>>
}

/** Epoch milliseconds at which the default facts are read. */
export const READ_MS = NOW_MS

/** The default facts: `new` is released over `old` on five nodes, in a step of 40 % and one of 100 %; the first is in progress. */
export function aReading(fields: FactsFields = {}): ReleaseFacts {
  const { nodes } = fields.tranche ?? {}
  const scope =
    nodes === undefined
      ? {}
      : { scope: nodeScopeText({ digest: batchScope(nodes, 0).rules.digest, steps: nodes.steps === undefined ? null : 1 }) }
  const { release, daemonSet, revisions, fleet, nowMs, monotonicMs } = aView({
    ...fields,
    ...(fields.record !== null && { record: { ...scope, ...fields.record } }),
    annotations: { 'tranche.dev/rollout': 'agent', ...fields.annotations },
  })
  const steps = [{ replicas: '40%', pause: {} }, { replicas: '100%' }]
  const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }
  const since = '2023-11-14T22:00:00Z'
  const condition = { lastUpdateTime: since, lastTransitionTime: since, message: '' }
  const waiting = fields.status?.waiting
  const rollout: Rollout = {
    metadata: { namespace: 'demo', name: 'agent', uid: 'rollout', resourceVersion: '77', generation: 1 },
    spec: { workloadRef, strategy: { canary: { steps } }, ...fields.rollout },
    status: {
      observedGeneration: 1,
      phase: 'Progressing',
      message: `step 1 of 2 (40%): ${waiting === undefined ? '2 more nodes are to be updated' : `${waiting.message} (since ${waiting.since})`}`,
      ...(waiting !== undefined && { waitingFor: waiting }),
      currentStepIndex: 1,
      currentStepState: 'StepUpgrade',
      conditions: [
        { ...condition, type: 'Progressing', status: 'True', reason: 'InRolling' },
        { ...condition, type: 'Stalled', status: 'False', reason: 'NotStalled' },
      ],
      canaryStatus: {
        observedWorkloadGeneration: 2,
        stableRevision: 'old',
        canaryRevision: 'new',
        podTemplateHash: 'new',
        currentStepIndex: 1,
        nextStepIndex: 2,
        finalisingStep: '',
        currentStepState: 'StepUpgrade',
        canaryReplicas: 0,
        canaryReadyReplicas: 0,
        lastUpdateTime: since,
      },
      ...fields.rolloutStatus,
    },
  }
  return { rollout, release, daemonSet, revisions, fleet: changed(fleet, fields.change ?? {}), nowMs, monotonicMs }
}

/** @returns the present facts of a fake cluster */
export function readFakeCluster(fake: FakeCluster): ReleaseFacts {
  const view = fake.rolloutView()
  if (view === null) throw new Error('the Rollout is gone')
  const { rollout, release, daemonSet, revisions, fleet, nowMs, monotonicMs } = view
  return { rollout, release, daemonSet, revisions, fleet: daemonSet === undefined ? undefined : fleet, nowMs, monotonicMs }
}

function changed(fleet: FleetView, change: NonNullable<FactsFields['change']>): FleetView {
  const all = fleet.nodes.map((node): NodeView => {
    const { pod, ...rest } = change[node.name] ?? {}
    const pods = pod === undefined ? node.pods : node.pods.map((one) => ({ ...one, ...pod }))
    return { ...node, pods, ...rest }
  })
  return toFleetView(all)
}
