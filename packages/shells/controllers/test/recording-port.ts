import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import type { KnownObjects, ReleasePort, ReleaseReading } from '@tranche/controllers'
import { type FleetPod, toFleetView } from '@tranche/fleet'
import type { PatchOperation, TouchAnswer } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations, type Lease, ROLLOUTS_API_VERSION } from '@tranche/kube-types'
import { controlInfo, type GroupMember } from '@tranche/planner'

/** A port that remembers what was asked of it and answers as a test says. */
export interface RecordingPort extends ReleasePort {
  readonly calls: string[]
  readonly records: FlightRecord[]
  readonly patches: object[]
  reading: ReleaseReading | null
  live: ReleaseReading | null
  pods: readonly FleetPod[]
  /** By name of the pod; standing otherwise. */
  touches: Record<string, TouchAnswer>
  wins: boolean
  /** The BatchRelease is as it was read. */
  winsExact: boolean
  /** Objects that each live reading rested on. */
  readonly known: (KnownObjects | undefined)[]
  /** Changes of the status in each write of the record; undefined: the write does not test the version. */
  readonly exact: (readonly PatchOperation[] | undefined)[]
  /** The Rollout, read live, asks for a stop. */
  stopAsked: boolean
  fails: Error | null
  /** The Lease of the group, and the release that it names. */
  lease: Lease | null
  holder: GroupMember | undefined
  /** Result of labelling a pod: it has the labels, it has changed meanwhile, or the API server refuses it. */
  labels: 'on' | 'changed' | Error
}

/** @returns a port with an idle release: two nodes, one batch of both, published, the record open */
export function recordingPort(record: Partial<FlightRecord> = {}): RecordingPort {
  const calls: string[] = []
  const records: FlightRecord[] = []
  const note = async (call: string): Promise<void> => {
    calls.push(call)
    if (port.fails !== null) throw port.fails
  }
  const port: RecordingPort = {
    calls,
    records,
    patches: [],
    reading: aReading(record),
    live: aReading(record),
    pods: [aFleetPod('a'), aFleetPod('b')],
    touches: {},
    wins: true,
    winsExact: true,
    known: [],
    exact: [],
    stopAsked: false,
    fails: null,
    lease: null,
    holder: undefined,
    labels: 'on',
    read: async () => port.reading,
    async readLive(_key, _signal, known) {
      calls.push('readLive')
      port.known.push(known)
      return port.live === null ? null : { ...port.live, stopAsked: port.stopAsked }
    },
    setFinalizer: (_release, present) => note(`setFinalizer ${present}`),
    async patchDaemonSet(daemonSet, patch) {
      await note(`patchDaemonSet ${patch.at(-1)?.path ?? ''}`)
      return daemonSet
    },
    async listPods() {
      calls.push('listPods')
      return port.pods
    },
    async listDesiredNodes() {
      calls.push('listDesiredNodes')
      return port.reading?.fleet.nodes.flatMap(({ name, desired }) => (desired ? [name] : [])) ?? []
    },
    async findPods(_namespace, uids) {
      calls.push('findPods')
      return port.pods.filter(({ uid }) => uids.has(uid))
    },
    async writeRecord(_release, written, _signal, exact) {
      await note(`writeRecord ${written.state}`)
      records.push(written)
      port.exact.push(exact)
      return port.wins && (port.winsExact || exact === undefined)
    },
    patchStatus: (_release, patch) => {
      port.patches.push(patch)
      return note('patchStatus')
    },
    async touchPod({ name }) {
      calls.push(`touch ${name}`)
      return port.touches[name] ?? { kind: 'standing', resourceVersion: '99' }
    },
    async readLease() {
      calls.push('readLease')
      return port.lease
    },
    takeLease: (name) => note(`takeLease ${name}`),
    markLeaving: () => note('markLeaving'),
    deleteLease: () => note('deleteLease'),
    async readHolder() {
      calls.push('readHolder')
      return port.holder
    },
    labelPod: async ({ name }) => {
      await note(`label ${name}`)
      if (port.labels instanceof Error) throw port.labels
      return port.labels === 'on'
    },
  }
  return port
}

/** @returns what the port reads; members of the record as given */
export function aReading(record: Partial<FlightRecord> = {}, tranche: BatchRelease['spec']['tranche'] = {}): ReleaseReading {
  const nodes = ['a', 'b'].map((name) => ({ name, desired: true, ready: true, answers: true, labels: {}, pods: [aFleetPod(name)] }))
  const template = { spec: { containers: [{ name: 'agent', image: 'new' }] } }
  const revision = { metadata: { name: 'new', uid: 'new', resourceVersion: '1' }, revision: 2, data: { spec: { template } } }
  return {
    release: aRelease(record, tranche),
    daemonSet: aDaemonSet(template),
    revisions: [revision],
    fleet: toFleetView(nodes),
    podsSeen: '1000000000',
    otherControl: 'none',
    strategyScope: 'binding',
    kruise: null,
  }
}

function aRelease(record: Partial<FlightRecord>, tranche: BatchRelease['spec']['tranche']): BatchRelease {
  const owner = { apiVersion: ROLLOUTS_API_VERSION, kind: 'Rollout', name: 'agent', uid: 'rollout', controller: true }
  const finalizers = ['rollouts.kruise.io/batch-release-finalizer']
  const flight: FlightRecord = {
    ...{
      workloadUid: 'daemonset',
      epoch: 1,
      seq: 1,
      state: 'open',
      holds: [],
      generation: 1,
      revision: 'new',
      size: 2,
      partition: 0,
      limit: 1,
    },
    ...{ watermark: '1', permits: [] },
    ...record,
  }
  return {
    metadata: {
      namespace: 'demo',
      name: 'agent',
      uid: 'release',
      resourceVersion: '5',
      generation: 1,
      finalizers,
      ownerReferences: [owner],
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      releasePlan: { batches: [{ canaryReplicas: '100%' }], batchPartition: 0, rolloutID: 'new', enableExtraWorkloadForCanary: false },
      tranche: { canaryRevision: 'new', stableRevision: 'old', release: 'r1', ...tranche },
    },
    status: { flight },
  }
}

function aDaemonSet(template: DaemonSet['spec']['template']): DaemonSet {
  const annotations = {
    [daemonSetAnnotations.canaryRevision]: 'new',
    [daemonSetAnnotations.stableRevision]: 'old',
    [daemonSetAnnotations.partition]: '0',
    [daemonSetAnnotations.controlInfo]: controlInfo({ name: 'agent', uid: 'release' }),
    [daemonSetAnnotations.inProgressing]: '{"rolloutName":"agent"}',
    [daemonSetAnnotations.originalUpdateStrategy]: 'RollingUpdate',
    [daemonSetAnnotations.rollout]: 'agent',
  }
  return {
    metadata: { namespace: 'demo', name: 'agent', uid: 'daemonset', resourceVersion: '4', generation: 1, annotations },
    spec: { template, updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } },
    status: { observedGeneration: 1 },
  }
}

/** @returns an available pod of revision `old` on the node */
export function aFleetPod(node: string, fields: Partial<FleetPod> = {}): FleetPod {
  return {
    ...{
      namespace: 'demo',
      name: `pod-${node}`,
      uid: `pod-${node}`,
      resourceVersion: '9',
      ownerUid: 'daemonset',
      labels: {},
      node,
      hash: 'old',
    },
    ...{
      createdAt: '2023-01-01T00:00:00Z',
      terminating: false,
      phase: 'Running',
      acknowledged: true,
      ready: true,
      readyFromMs: 0,
      readyStamp: undefined,
    },
    ...{ trouble: undefined, restarts: 0, rolloutId: undefined, rolloutBatchId: undefined },
    ...fields,
  }
}
