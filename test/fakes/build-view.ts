import type { BatchRelease, FlightRecord, Permit } from '@tranche/api-schema'
import { type FleetPod, type FleetView, type NodeView, toFleetView } from '@tranche/fleet'
import {
  BATCH_RELEASE_FINALIZER,
  type ControllerRevision,
  type DaemonSet,
  daemonSetAnnotations,
  REVISION_HASH_LABEL,
} from '@tranche/kube-types'
import { type BatchReleasePlan, controlInfo, planBatchRelease, releaseStatusPatch, type ReleaseView } from '@tranche/planner'
import { applyPatch } from '@tranche/testing'

/** Time of the default view, in epoch milliseconds. */
export const NOW_MS = 1_700_000_000_000

/** Record of the default release: open for the first batch, two of five nodes. */
export const baseRecord: FlightRecord = {
  workloadUid: 'daemonset',
  epoch: 3,
  seq: 7,
  state: 'open',
  holds: [],
  generation: 2,
  revision: 'new',
  size: 2,
  partition: 3,
  limit: 2,
  watermark: '10',
  permits: [],
}

/** Fields of a view that differ from the default. */
export interface ViewFields {
  readonly nodes?: string
  readonly record?: Partial<FlightRecord> | null
  readonly spec?: Partial<BatchRelease['spec']['releasePlan']>
  readonly tranche?: BatchRelease['spec']['tranche']
  readonly status?: BatchRelease['status']
  readonly metadata?: Partial<BatchRelease['metadata']>
  /** Null if the DaemonSet does not exist. */
  readonly daemonSet?: Partial<DaemonSet['spec']> | null
  readonly daemonSetUid?: string
  /** Null removes a default annotation. */
  readonly annotations?: Readonly<Record<string, string | null>>
  readonly generation?: number
  readonly observed?: number
  readonly revisions?: readonly ControllerRevision[]
  readonly view?: Partial<ReleaseView>
}

/**
 * Builds the default view with these changes: five nodes, and a release of `new` over `old` in two batches. The first batch is published
 * and open, no pod is deleted yet, and the status is up to date.
 */
export function aView(fields: ViewFields = {}): ReleaseView {
  const fleet = nodes(fields.nodes ?? 'a:old b:old c:old d:old e:old')
  const flight = fields.record === null ? undefined : { ...baseRecord, ...sizeFor(fleet, fields.record), ...fields.record }
  const release: BatchRelease = {
    metadata: {
      namespace: 'demo',
      name: 'agent',
      uid: 'release',
      resourceVersion: '50',
      generation: 4,
      finalizers: [BATCH_RELEASE_FINALIZER],
      ownerReferences: [{ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: 'agent', uid: 'rollout', controller: true }],
      ...fields.metadata,
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      releasePlan: {
        batches: [{ canaryReplicas: '40%' }, { canaryReplicas: '100%' }],
        batchPartition: 0,
        rolloutID: 'new',
        enableExtraWorkloadForCanary: false,
        ...fields.spec,
      },
      tranche: { canaryRevision: 'new', stableRevision: 'old', release: 'r1', finalSettleSeconds: 10, ...fields.tranche },
    },
    status: { observedGeneration: 4, observedRelease: 'r1', phase: 'Progressing', ...fields.status, ...(flight && { flight }) },
  }
  const memory = { labelled: new Set<string>(), unclear: null, pauseRefused: false, statusWrittenMs: null }
  return {
    release,
    daemonSet: daemonSetFor(fields),
    revisions: fields.revisions ?? [aRevision('old', 1), aRevision('new', 2)],
    fleet,
    podsSeen: '1000000000',
    otherControl: 'none',
    strategyScope: 'binding',
    kruise: null,
    watched: release.status?.watchedNodes ?? [],
    ...memory,
    nowMs: NOW_MS,
    monotonicMs: 100_000,
    ...fields.view,
  }
}

/** Derives the size from the partition if a test sets only the partition. */
function sizeFor({ desired }: FleetView, record: ViewFields['record']): Pick<FlightRecord, 'size'> {
  return record?.partition === undefined ? {} : { size: Math.max(0, desired - record.partition) }
}

/** Applies a status plan first, and returns the next plan, which is based on the updated status. */
export function planOnceSaid(view: ReleaseView): BatchReleasePlan {
  return planBatchRelease(onceSaid(view))
}

/** @returns the view after the status write that it causes */
export function onceSaid(view: ReleaseView): ReleaseView {
  const plan = planBatchRelease(view)
  if (plan.kind !== 'writeStatus') return view
  const release = applyPatch(view.release, releaseStatusPatch(view.release, plan.status))
  if (release === null) throw new Error('the status patch does not apply')
  return { ...view, release }
}

function daemonSetFor(fields: ViewFields): DaemonSet | undefined {
  if (fields.daemonSet === null) return undefined
  const base = {
    [daemonSetAnnotations.canaryRevision]: 'new',
    [daemonSetAnnotations.stableRevision]: 'old',
    [daemonSetAnnotations.partition]: '3',
    [daemonSetAnnotations.controlInfo]: controlInfo({ name: 'agent', uid: 'release', begunAt: fields.metadata?.creationTimestamp }),
    [daemonSetAnnotations.inProgressing]: '{"rolloutName":"agent"}',
    [daemonSetAnnotations.originalUpdateStrategy]: 'RollingUpdate',
    [daemonSetAnnotations.rollout]: 'agent',
  }
  const said = Object.entries({ ...base, ...fields.annotations })
  const annotations = Object.fromEntries(said.filter((entry): entry is [string, string] => entry[1] !== null))
  const generation = fields.generation ?? 2
  return {
    metadata: { namespace: 'demo', name: 'agent', uid: fields.daemonSetUid ?? 'daemonset', resourceVersion: '40', generation, annotations },
    spec: { template: templateOf('new'), updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 2 } }, ...fields.daemonSet },
    status: { observedGeneration: fields.observed ?? generation },
  }
}

/** Builds the ControllerRevision of a template; its name has the hash. */
export function aRevision(hash: string, revision: number, template: object = templateOf(hash)): ControllerRevision {
  const metadata = { name: `agent-${hash}`, uid: hash, resourceVersion: '1', labels: { [REVISION_HASH_LABEL]: hash } }
  return { metadata, revision, data: { spec: { template: { $patch: 'replace', ...template } } } }
}

/** @returns the pod template of this name */
export function templateOf(name: string): DaemonSet['spec']['template'] {
  return { spec: { containers: [{ name: 'agent', image: name }] } }
}

/**
 * Builds a fleet from words such as `a:old b:new! c:old? d:- e:old~`. Node a runs an available pod of revision old. The pod of b, of
 * revision new, is not Ready. The kubelet of c does not answer. Node d has no pod. The pod of e is terminating. With `f:old¿`, f is
 * NotReady, and its kubelet answers; with `g:-?`, g has no pod, and its kubelet does not answer.
 */
export function nodes(text: string): FleetView {
  const list = text.split(' ').filter((word) => word !== '')
  const views = list.map((word): NodeView => {
    const [name = '', state = ''] = word.split(':')
    const pod = state.replace(/[?¿]/, '')
    const pods = pod === '-' ? [] : [aFleetPod(name, pod)]
    return { name, desired: true, ready: !/[?¿]/.test(state), answers: !state.includes('?'), labels: { name }, pods }
  })
  return toFleetView(views)
}

/** Builds the pod of a node from its word in {@link nodes}. */
export function aFleetPod(node: string, state: string, fields: Partial<FleetPod> = {}): FleetPod {
  const ready = !/[!~]$/.test(state)
  return {
    namespace: 'demo',
    name: `pod-${node}`,
    uid: `pod-${node}`,
    resourceVersion: '10',
    ownerUid: 'daemonset',
    labels: {},
    node,
    hash: state.replace(/[!~?]$/, ''),
    createdAt: '2023-11-14T22:13:00Z',
    terminating: state.endsWith('~'),
    phase: 'Running',
    acknowledged: true,
    ready,
    readyFromMs: ready ? 0 : null,
    readyStamp: undefined,
    trouble: undefined,
    restarts: 0,
    rolloutId: state.startsWith('new') ? 'new' : undefined,
    rolloutBatchId: undefined,
    ...fields,
  }
}

/** @returns the permit for the pod of a node, as {@link nodes} builds it */
export function permitFor(node: string): Permit {
  return { node, podUid: `pod-${node}`, podResourceVersion: '10' }
}
