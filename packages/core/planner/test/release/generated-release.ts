import type { BatchRelease, FlightRecord, Hold } from '@tranche/api-schema'
import { BY_STAMPS, FleetIndex, toFleetNode, toFleetPod } from '@tranche/fleet'
import { BATCH_RELEASE_FINALIZER, type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { controlInfo, type ReleaseView, wantedAllowance } from '@tranche/planner'
import { aPod, applyPatch, DAEMON_SET_UID, FLEET_OWNER, type GeneratedCluster, generatedClusters } from '@tranche/testing'
import fc from 'fast-check'
import { aRevision, NOW_MS, templateOf } from '../../../../../test/fakes/build-view.ts'

/** Possible input of a pass over a BatchRelease: any cluster, any state of the record and of the DaemonSet, any user's spec. */
export interface GeneratedRelease {
  readonly cluster: GeneratedCluster
  readonly view: ReleaseView
  /** Requests that nothing be deleted: a pause, or the end of the BatchRelease or of the DaemonSet. */
  readonly stopAsked: boolean
}

const MONOTONIC_MS = 10_000_000
const control = fc.constantFrom('ours', 'ours', 'ours', 'ours', 'vanished', 'exists', 'outsider')

const shape = fc.record({
  /** Progress: anywhere; with a larger batch published; with the record up to date as well; or with nothing left to update. */
  stage: fc.constantFrom('anywhere', 'anywhere', 'announced', 'followed', 'done'),
  record: fc.constantFrom<FlightRecord['state'] | 'none' | 'ofAnother'>(
    'open',
    'open',
    'open',
    'stopped',
    'stopped',
    'voiding',
    'none',
    'ofAnother',
  ),
  holds: fc.boolean(),
  request: fc.constantFrom('go', 'go', 'go', 'go', 'pause', 'delete', 'remove'),
  control,
  /** Annotations of the release: as in the record, as for another batch, or none. */
  published: fc.constantFrom('asRecorded', 'asRecorded', 'otherwise', 'nothing'),
  paused: fc.boolean(),
  strategy: fc.constantFrom('OnDelete', 'OnDelete', 'OnDelete', 'RollingUpdate'),
  remembered: fc.constantFrom('RollingUpdate', 'RollingUpdate', 'OnDelete', null),
  frozen: fc.boolean(),
  /** The template is the record's revision, or another. */
  template: fc.constantFrom('new', 'new', 'new', 'old'),
  generation: fc.constantFrom(2, 2, 3),
  observed: fc.constantFrom('now', 'now', 'now', 'before'),
  batch: fc.nat(4),
  finalizer: fc.constantFrom(true, true, true, false),
  phase: fc.constantFrom('Preparing', 'Progressing', 'Progressing', 'Finalizing', 'Completed'),
  scope: fc.constantFrom('release', 'binding'),
  unclear: fc.constantFrom(null, null, null, 'the pod x on y: no answer'),
  statusWritten: fc.constantFrom(null, 1_000, 60_000),
  acknowledged: fc.constantFrom(3, 4),
  maxFailedNodes: fc.constantFrom('100%', '100%', '100%', 0),
})
type Shape = typeof shape extends fc.Arbitrary<infer S> ? S : never

/** Passes over a BatchRelease of the revision `new`; `users` adds the user's own data to the DaemonSet. */
export function generatedReleases(users: fc.Arbitrary<UserFields> = fc.constant({})): fc.Arbitrary<GeneratedRelease> {
  return fc.tuple(generatedClusters(), shape, users).map(([generated, drawn, fields]) => {
    const cluster = drawn.stage === 'done' ? updated(generated) : generated
    const daemonSet = drawn.request === 'remove' ? undefined : daemonSetOf(cluster, drawn, fields)
    const view: ReleaseView = {
      release: releaseOf(cluster, drawn),
      daemonSet,
      revisions: [aRevision('older', 1), aRevision('old', 2), aRevision('new', 3)],
      fleet: fleetOf(cluster),
      podsSeen: '1000000000',
      otherControl: drawn.control === 'vanished' || drawn.control === 'exists' ? drawn.control : 'none',
      strategyScope: drawn.scope as ReleaseView['strategyScope'],
      kruise: null,
      labelled: new Set(),
      watched: [],
      unclear: drawn.unclear,
      pauseRefused: false,
      statusWrittenMs: drawn.statusWritten === null ? null : MONOTONIC_MS - drawn.statusWritten,
      nowMs: NOW_MS,
      monotonicMs: MONOTONIC_MS,
    }
    return {
      cluster,
      view: drawn.stage === 'anywhere' ? view : followed(view, drawn.stage === 'announced' ? 1 : 0),
      stopAsked: drawn.request !== 'go',
    }
  })
}

/** User data of a DaemonSet. */
export interface UserFields {
  readonly annotations?: Readonly<Record<string, string>> | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly spec?: Readonly<Record<string, unknown>> | undefined
}

/** Arbitrary keys, some of them beside ours; often none at all. */
export function generatedUserFields(): fc.Arbitrary<UserFields> {
  const key = fc.constantFrom(
    'app',
    'team/owner',
    'deprecated.daemonset.template.generation',
    'a~b/c~0d',
    'tranche.dev/mine',
    'rollouts.kruise.io/other',
  )
  const keys = fc.option(fc.dictionary(key, fc.string({ maxLength: 5 })), { nil: undefined })
  const spec = fc.record(
    { minReadySeconds: fc.nat(9), revisionHistoryLimit: fc.nat(9), selector: fc.constant({ matchLabels: { app: 'x' } }) },
    { requiredKeys: [] },
  )
  return fc.record({ annotations: keys, labels: keys, spec })
}

/** @returns the DaemonSet after the patch; fails where the API server would reject it */
export function patchedDaemonSet(daemonSet: DaemonSet, patch: Parameters<typeof applyPatch>[1]): DaemonSet {
  const patched = applyPatch(daemonSet, patch)
  if (patched === null) throw new Error(`does not apply to what it was made from: ${JSON.stringify(patch)}`)
  return patched
}

/** The same nodes with an available pod of the new revision on each, and nothing in flight. */
function updated(cluster: GeneratedCluster): GeneratedCluster {
  const pods = cluster.nodes.map(({ metadata }) => ({ pod: aPod({ node: metadata.name, hash: 'new' }), seenForMs: 3_600_000 }))
  return { ...cluster, pods, record: { ...cluster.record, permits: [] } }
}

/** The published target is up to date, and the record is, too, except for the number of nodes it keeps. */
function followed(view: ReleaseView, kept: number): ReleaseView {
  const { release, daemonSet } = view
  const wanted = wantedAllowance(view)
  if (wanted.kind !== 'allow' || daemonSet === undefined || release.status?.flight === undefined) return view
  const said = { [daemonSetAnnotations.partition]: String(wanted.allowance.partition) }
  const metadata = { ...daemonSet.metadata, annotations: { ...daemonSet.metadata.annotations, ...said } }
  const status = {
    ...release.status,
    flight: {
      ...release.status.flight,
      ...wanted.allowance,
      size: Math.max(0, wanted.allowance.size - kept),
      partition: wanted.allowance.partition + kept,
    },
  }
  return { ...view, daemonSet: { ...daemonSet, metadata }, release: { ...release, status } }
}

function fleetOf({ nodes, pods }: GeneratedCluster): ReleaseView['fleet'] {
  const index = new FleetIndex()
  for (const node of nodes) index.nodeChanged(undefined, toFleetNode(node, undefined, BY_STAMPS))
  for (const { pod, seenForMs } of pods) {
    index.podChanged(undefined, toFleetPod(pod, undefined, { nowMs: 0, monotonicMs: MONOTONIC_MS - seenForMs })!)
  }
  return index.view(FLEET_OWNER)
}

function recordOf({ record }: GeneratedCluster, drawn: Shape): FlightRecord | undefined {
  if (drawn.record === 'none') return undefined
  // Most records of a release that is over say so.
  const holds = drawn.holds || (drawn.stage === 'done' && !drawn.paused) ? [holdOf(drawn)] : []
  if (drawn.record === 'ofAnother') return { ...record, state: 'stopped', holds, workloadUid: 'an older DaemonSet' }
  return { ...record, state: drawn.record, holds: drawn.record === 'open' ? [] : holds }
}

/** A release that is being deleted, or is over, has stopped for that, or is about to. */
function holdOf({ request, stage }: Shape): Hold {
  if (request === 'delete') return { reason: 'Deleting', id: 'release' }
  return stage === 'done' && request === 'go' ? { reason: 'Finalized', id: 'release' } : { reason: 'Paused', id: '3' }
}

const readySince1970 = {
  batchState: 'Ready' as const,
  currentBatch: 0,
  updatedReplicas: 0,
  updatedReadyReplicas: 0,
  batchReadyTime: '1970-01-01T00:00:00Z',
}

function releaseOf(cluster: GeneratedCluster, drawn: Shape): BatchRelease {
  const flight = recordOf(cluster, drawn)
  const { batches } = cluster
  return {
    metadata: {
      namespace: 'demo',
      name: 'agent',
      uid: 'release',
      resourceVersion: '50',
      generation: 4,
      finalizers: drawn.finalizer ? [BATCH_RELEASE_FINALIZER] : [],
      ownerReferences: [{ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: 'agent', uid: 'rollout', controller: true }],
      ...(drawn.request === 'delete' && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      releasePlan: {
        batches: batches.map((canaryReplicas) => ({ canaryReplicas })),
        // One beyond the last: the release is finishing.
        ...(drawn.batch < batches.length && drawn.stage !== 'done' && { batchPartition: drawn.batch }),
        rolloutID: 'new',
        enableExtraWorkloadForCanary: false,
      },
      tranche: {
        ...{ canaryRevision: 'new', stableRevision: 'old', release: 'r1', paused: drawn.request === 'pause' },
        failure: { maxFailedNodes: drawn.maxFailedNodes },
      },
    },
    status: {
      observedGeneration: drawn.acknowledged,
      observedRelease: 'r1',
      phase: drawn.phase as NonNullable<NonNullable<BatchRelease['status']>['phase']>,
      ...(drawn.stage === 'done' && { canaryStatus: readySince1970 }),
      ...(flight && { flight }),
    },
  }
}

function daemonSetOf({ record, maxUnavailable, minReadySeconds }: GeneratedCluster, drawn: Shape, user: UserFields): DaemonSet {
  const said = { asRecorded: record.partition, otherwise: record.partition + 1, nothing: null }[drawn.published]
  const controllers = { ours: 'release', vanished: 'one that is gone', exists: 'another', outsider: null }
  const controller = controllers[drawn.control]
  const keys = {
    ...(said !== null && {
      [daemonSetAnnotations.canaryRevision]: 'new',
      [daemonSetAnnotations.stableRevision]: 'old',
      [daemonSetAnnotations.partition]: String(said),
      [daemonSetAnnotations.inProgressing]: '{"rolloutName":"agent"}',
    }),
    ...(controller !== null && { [daemonSetAnnotations.controlInfo]: controlInfo({ name: 'agent', uid: controller }) }),
    ...(drawn.remembered !== null && { [daemonSetAnnotations.originalUpdateStrategy]: drawn.remembered }),
    ...(drawn.paused && { [daemonSetAnnotations.paused]: 'true' }),
    // An open record was published, which removed it.
    ...(drawn.frozen && record.state !== 'open' && { [daemonSetAnnotations.frozen]: '{}' }),
    [daemonSetAnnotations.rollout]: 'agent',
  }
  const { generation } = drawn
  return {
    metadata: {
      namespace: 'demo',
      name: 'agent',
      uid: DAEMON_SET_UID,
      resourceVersion: '40',
      generation,
      annotations: { ...user.annotations, ...keys },
      ...(user.labels !== undefined && { labels: user.labels }),
    },
    spec: {
      ...user.spec,
      minReadySeconds,
      template: templateOf(drawn.template),
      updateStrategy: { type: drawn.strategy, rollingUpdate: { maxUnavailable } },
    },
    status: { observedGeneration: drawn.observed === 'now' ? generation : generation - 1 },
  } as DaemonSet
}
