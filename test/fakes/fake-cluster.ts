import type { BatchRelease, Failure, FlightRecord, ReleasePolicy, ReleasePolicySpec, Rollout, RolloutStep } from '@tranche/api-schema'
import { type FleetPod, type FleetView, type NodeView, toFleetView } from '@tranche/fleet'
import {
  changePermits,
  createRecord,
  permitId,
  recordPatch,
  recordTouches,
  type TouchedPermit,
  widenRecord,
  type PermittedPod,
  planPass,
} from '@tranche/fence'
import {
  type ControllerRevision,
  type DaemonSet,
  daemonSetAnnotations,
  rolloutAnnotations,
  ROLLOUTS_API_VERSION,
} from '@tranche/kube-types'
import {
  type BatchReleasePlan,
  controlledBy,
  foundPolicy,
  planBatchRelease,
  planRollout,
  releaseStatusPatch,
  type ReleaseView,
  type RolloutView,
  type StrategyScope,
  strategyOf,
  toPublishedTarget,
} from '@tranche/planner'
import { applyPatch } from '@tranche/testing'
import { unlistedOfRelease, unlistedOfRollout } from './unlisted-transitions.ts'

/** Options of a fake cluster. */
export interface FakeClusterOptions {
  readonly nodes?: number
  readonly scope?: StrategyScope
  readonly steps?: readonly RolloutStep[]
  readonly maxUnavailable?: number
}

/** Node of a {@link FakeCluster}. */
interface FakeNode {
  readonly ready: boolean
  /** Whether no version but the first becomes Ready on it. */
  readonly bad: boolean
  /** Whether a taint for its failure keeps the DaemonSet off it. @default false */
  readonly isTainted?: boolean
}

/**
 * A minimal cluster: one DaemonSet with its controller and kubelets, one Rollout, and the three planners. Plans are applied one write at a
 * time to a single state. A process that dies between two writes only omits the second one, because all memory is in the state.
 */
export class FakeCluster {
  readonly scope: StrategyScope
  nowMs = 1_000
  writes = 0
  /** Spec of the Rollout's policy; undefined if the Rollout names none. */
  policy: ReleasePolicySpec | undefined
  /** Fault of the next pass: touches get no clear answer, or the write after them is omitted. */
  mishap: 'none' | 'touchesUnclear' | 'diesAfterTouches' = 'none'
  /** Changes the view that a pass over the Rollout reads. */
  readsAs: (view: RolloutView) => RolloutView = (view) => view
  /** Status changes so far that no state machine lists. */
  readonly unlisted: string[] = []
  rollout: Rollout | undefined
  release: BatchRelease | undefined
  daemonSet: DaemonSet
  revisions: ControllerRevision[] = []
  readonly nodes = new Map<string, FakeNode>()
  pods: FleetPod[] = []
  warnings: string[] = []
  frozen: string[] = []
  /** Ids of the holds for which the template was put back. */
  reverts: string[] = []
  /** Prefix of revision names. */
  salt = 'hash-'
  #version = 100
  #policyMade: ReleasePolicy | undefined
  #uid = 0

  constructor({ nodes = 5, scope = 'binding', steps, maxUnavailable = 2 }: FakeClusterOptions = {}) {
    this.scope = scope
    for (let at = 0; at < nodes; at++) this.nodes.set(`node-${at}`, { ready: true, bad: false })
    this.daemonSet = {
      metadata: { namespace: 'demo', name: 'agent', uid: 'daemonset', resourceVersion: '1', generation: 1 },
      spec: { template: templateOf('v1'), updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } } },
    }
    this.actNatively()
    this.actNatively()
    const canary = { steps: steps ?? [{ replicas: '40%', pause: {} }, { replicas: '100%' }] }
    this.rollout = {
      metadata: { namespace: 'demo', name: 'agent', uid: 'rollout', resourceVersion: '1', generation: 1 },
      spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }, strategy: { canary } },
    }
  }

  // Operations of users.

  setImage(image: string): void {
    const annotations = this.daemonSet.metadata.annotations ?? {}
    const admitted = this.scope === 'release' && annotations[daemonSetAnnotations.rollout] !== undefined
    const original = annotations[daemonSetAnnotations.originalUpdateStrategy] ?? strategyOf(this.daemonSet)
    const flipped = {
      ...annotations,
      [daemonSetAnnotations.originalUpdateStrategy]: original,
      [daemonSetAnnotations.inProgressing]: '{"rolloutName":"agent"}',
    }
    this.editDaemonSet({
      metadata: { ...this.daemonSet.metadata, ...(admitted && { annotations: flipped }) },
      spec: {
        ...this.daemonSet.spec,
        template: templateOf(image),
        ...(admitted && { updateStrategy: { ...this.daemonSet.spec.updateStrategy, type: 'OnDelete' } }),
      },
    })
  }

  editDaemonSet(change: Partial<DaemonSet>): void {
    const after = { ...this.daemonSet, ...change }
    const moved = JSON.stringify(after.spec) !== JSON.stringify(this.daemonSet.spec)
    const generation = (this.daemonSet.metadata.generation ?? 0) + (moved ? 1 : 0)
    this.daemonSet = { ...after, metadata: { ...after.metadata, generation, resourceVersion: this.#next() } }
  }

  editRollout(edit: (spec: Rollout['spec']) => Rollout['spec']): void {
    const rollout = this.rollout
    if (rollout === undefined) return
    const metadata = { ...rollout.metadata, generation: (rollout.metadata.generation ?? 0) + 1, resourceVersion: this.#next() }
    this.rollout = { ...rollout, metadata, spec: edit(rollout.spec) }
  }

  pause(paused: boolean): void {
    this.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, paused } }))
  }

  /** Writes into `status.canaryStatus`, as `kubectl kruise` does. */
  setCanaryStatus(words: Partial<NonNullable<Rollout['status']>['canaryStatus'] & object>): void {
    const canary = this.rollout?.status?.canaryStatus
    if (this.rollout?.status === undefined || canary === undefined) return
    const metadata = { ...this.rollout.metadata, resourceVersion: this.#next() }
    this.rollout = { ...this.rollout, metadata, status: { ...this.rollout.status, canaryStatus: { ...canary, ...words } } }
  }

  /** Writes the annotation `tranche.dev/action`, or removes it. */
  act(action: object | string | undefined): void {
    if (this.rollout === undefined) return
    const { [rolloutAnnotations.action]: _before, ...others } = this.rollout.metadata.annotations ?? {}
    const text = typeof action === 'string' ? action : JSON.stringify(action)
    const annotations = action === undefined ? others : { ...others, [rolloutAnnotations.action]: text }
    this.rollout = { ...this.rollout, metadata: { ...this.rollout.metadata, annotations, resourceVersion: this.#next() } }
  }

  /** Writes the annotation `tranche.dev/on-delete`. */
  onDelete(policy: string): void {
    if (this.rollout === undefined) return
    const annotations = { ...this.rollout.metadata.annotations, [rolloutAnnotations.onDelete]: policy }
    this.rollout = { ...this.rollout, metadata: { ...this.rollout.metadata, annotations, resourceVersion: this.#next() } }
  }

  /** Makes the BatchRelease report a failed release and stop. */
  latch(change: Partial<Failure> = {}): void {
    const release = this.release!
    const action = change.action as NonNullable<ReleasePolicySpec['failure']>['action']
    if (action !== undefined) this.policy = { ...this.policy, failure: { ...this.policy?.failure, action } }
    const { release: id, retry } = release.spec.tranche ?? {}
    const seen = { reason: 'NodesFailed', message: '1 of 5 nodes failed: node-0: CrashLoopBackOff', nodes: ['node-0'], count: 1, limit: 0 }
    const latched = { ...seen, at: this.#stamp(), action: 'Pause', stops: true, release: id, ...(retry !== undefined && { retry }) }
    const flight = release.status!.flight!
    const record = { ...flight, state: 'stopped' as const, holds: [{ reason: 'ReleaseFailed', id: 'bad' }], permits: [] }
    this.release = { ...release, status: { ...release.status, failure: { ...latched, ...change }, flight: record } }
  }

  deleteRollout(): void {
    if (this.rollout === undefined) return
    const metadata = { ...this.rollout.metadata, deletionTimestamp: this.#stamp(), resourceVersion: this.#next() }
    this.rollout = metadata.finalizers === undefined || metadata.finalizers.length === 0 ? undefined : { ...this.rollout, metadata }
  }

  /** Replaces the DaemonSet from its manifest, which has `OnDelete` and no annotations, like `kubectl replace`. */
  replaceDaemonSet(): void {
    const { annotations: _lost, ...metadata } = this.daemonSet.metadata
    this.editDaemonSet({ metadata })
  }

  /** Deletes the DaemonSet with its pods, and creates it again from the user's manifest. */
  remakeDaemonSet(): void {
    const { spec } = this.daemonSet
    const uid = `daemonset-${++this.#uid}`
    this.pods = []
    this.revisions = []
    this.daemonSet = {
      metadata: { namespace: 'demo', name: 'agent', uid, resourceVersion: this.#next(), generation: 1 },
      spec: { ...spec, updateStrategy: { ...spec.updateStrategy, type: 'RollingUpdate' } },
    }
  }

  /** Image of the template. */
  image(): string {
    return this.daemonSet.spec.template.spec?.containers?.[0]?.image ?? ''
  }

  // Operations of Kubernetes.

  /** One round of the DaemonSet controller and the kubelets. */
  actNatively(): void {
    const hash = this.#observe()
    this.pods = this.pods.filter((pod) => !pod.terminating && this.nodes.has(pod.node))
    for (const [name, { ready, isTainted = false }] of this.nodes) {
      if (!ready || isTainted || this.pods.some(({ node }) => node === name)) continue
      this.pods.push(this.#newPod(name, hash))
    }
    this.pods = this.pods.map((pod) => {
      const ready = this.nodes.get(pod.node)?.bad !== true || pod.hash === 'hash-v1'
      return pod.ready === ready ? pod : { ...pod, ready, readyFromMs: ready ? this.nowMs : null, resourceVersion: this.#next() }
    })
    const revoked = this.nodes.size
    if (strategyOf(this.daemonSet) === 'RollingUpdate' && revoked > 0) this.#updateOneNatively(hash)
  }

  /** Old pods that the native controller could still delete. */
  oldPods(): readonly FleetPod[] {
    return this.pods.filter((pod) => !pod.terminating && pod.hash !== this.#hash() && this.nodes.has(pod.node))
  }

  // Operations of Tranche. Each returns whether it has written.

  /** @param between operations of other clients between the read and the write; a status that they changed is not overwritten (409) */
  passRollout(between: () => void = () => {}): boolean {
    const view = this.rolloutView()
    if (view === null) return false
    const plan = planRollout(view)
    between()
    const isOvertaken = this.rollout?.metadata.resourceVersion !== view.rollout.metadata.resourceVersion
    if (plan.kind === 'writeStatus' && isOvertaken) return false
    const { rollout } = view
    switch (plan.kind) {
      case 'setFinalizer':
        this.rollout = setFinalizer(rollout, plan.present, this.#next())
        break
      case 'setAnnotations': {
        const all = Object.entries({ ...rollout.metadata.annotations, ...plan.annotations })
        const annotations = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null))
        this.rollout = { ...rollout, metadata: { ...rollout.metadata, resourceVersion: this.#next(), annotations } }
        break
      }
      case 'patchDaemonSet':
        if (plan.why === 'revert') this.reverts.push(this.#markOf(plan.patch))
        if (plan.event?.reason === 'Frozen') this.frozen.push(plan.event.message)
        this.#patchDaemonSet(plan.patch)
        break
      case 'createRelease': {
        const owner = { apiVersion: ROLLOUTS_API_VERSION, kind: 'Rollout', name: 'agent', uid: 'rollout', controller: true }
        const metadata = { namespace: 'demo', name: 'agent', uid: `release-${++this.#uid}`, generation: 1, ownerReferences: [owner] }
        this.release = { metadata: { ...metadata, resourceVersion: this.#next() }, spec: plan.spec }
        break
      }
      case 'updateRelease': {
        const release = this.release!
        const metadata = { ...release.metadata, generation: (release.metadata.generation ?? 0) + 1, resourceVersion: this.#next() }
        this.release = { ...release, metadata, spec: plan.spec }
        break
      }
      case 'deleteRelease': {
        const metadata = { ...this.release!.metadata, deletionTimestamp: this.#stamp(), resourceVersion: this.#next() }
        this.release = (metadata.finalizers ?? []).length === 0 ? undefined : { ...this.release!, metadata }
        break
      }
      case 'writeStatus':
        if (plan.warning !== null) this.warnings.push(plan.warning)
        this.unlisted.push(...unlistedOfRollout(rollout.status, plan.status))
        this.rollout = { ...rollout, metadata: { ...rollout.metadata, resourceVersion: this.#next() }, status: plan.status }
        break
      case 'wait':
        if (plan.for === '') throw new Error('a Rollout waits and does not say for what')
        return false
    }
    return this.#wrote()
  }

  passRelease(): boolean {
    const view = this.releaseView()
    return view === null ? false : this.#applyRelease(planBatchRelease(view), view)
  }

  /** Makes several deletes, or one write of the record. */
  passExecutor(): boolean {
    const release = this.release
    const control = controlledBy(this.daemonSet)
    if (release === undefined || control?.uid !== release.metadata.uid || release.status?.flight === undefined) return false
    const record = release.status.flight
    const podsSeen = String(this.#version)
    const published = toPublishedTarget(this.daemonSet)
    const releaseUid = release.metadata.uid
    const plan = planPass({
      published,
      releaseUid,
      record,
      nodes: release.spec.tranche?.nodes,
      formerRevisions: release.spec.tranche?.formerRevisions,
      fleet: this.fleet(),
      podsSeen,
      sent: new Set(),
      // The fake has no watch delay, so the view confirms every permit.
      checks: new Map(),
      confirmations: new Map(record.permits.map((permit) => [permitId(permit), { kind: 'confirmed' }])),
      isBad: false,
      monotonicMs: this.nowMs,
    })
    if (plan.kind === 'wait') return false
    if (plan.kind === 'execute') for (const pod of plan.pods) this.#deletePod(pod)
    if (plan.kind === 'changePermits') this.#writeRecord(changePermits(record, plan.change))
    if (plan.kind === 'withdraw') this.#writeRecord(recordTouches(record, this.#touch(plan.pods.map(({ permit }) => permit))))
    return this.#wrote()
  }

  rolloutView(): RolloutView | null {
    if (this.rollout === undefined) return null
    const { rollout, daemonSet, revisions, release, scope: strategyScope, nowMs } = this
    const clocks = { nowMs, monotonicMs: nowMs, statusWrittenMs: null }
    const reading = { daemonSet, revisions, fleet: this.fleet() }
    const { kind, name } = rollout.spec.workloadRef
    const named = kind === 'DaemonSet' && name === 'agent'
    const bound = daemonSet.metadata.annotations?.[daemonSetAnnotations.rollout] === rollout.metadata.name
    const none = { daemonSet: undefined, revisions: [], fleet: toFleetView([]) }
    const workloads = named ? { ...reading, former: undefined } : { ...none, former: bound ? reading : undefined }
    const policy = this.#policyReading()
    return this.readsAs({ rollout, ...workloads, release, others: [rollout], policy, strategyScope, kruise: null, ...clocks })
  }

  releaseView(): ReleaseView | null {
    if (this.release === undefined) return null
    const { release, daemonSet, revisions, scope: strategyScope, nowMs } = this
    const control = controlledBy(daemonSet)
    const otherControl = control === undefined || control.uid === release.metadata.uid ? 'none' : 'vanished'
    const clocks = { nowMs, monotonicMs: nowMs, statusWrittenMs: null, podsSeen: '1000000000' }
    const memory = { labelled: new Set<string>(), unclear: null, pauseRefused: false, watched: release.status?.watchedNodes ?? [] }
    return { release, daemonSet, revisions, fleet: this.fleet(), otherControl, strategyScope, kruise: null, ...memory, ...clocks }
  }

  fleet(): FleetView {
    const names = [...this.nodes.keys()].toSorted()
    const nodes = names.map((name): NodeView => {
      const pods = this.pods.filter(({ node }) => node === name)
      const { ready = false, isTainted = false } = this.nodes.get(name) ?? {}
      const placed = isTainted ? ({ desired: false, desiredOnReturn: true } as const) : { desired: true }
      return { name, ...placed, ready, answers: ready, labels: { 'kubernetes.io/hostname': name }, pods }
    })
    return toFleetView(nodes)
  }

  #applyRelease(plan: BatchReleasePlan, view: ReleaseView): boolean {
    const { release } = view
    switch (plan.kind) {
      case 'setFinalizer':
        this.release = setFinalizer(release, plan.present, this.#next())
        break
      case 'patchDaemonSet':
        this.#patchDaemonSet(plan.patch)
        break
      case 'createRecord':
        this.#writeRecord(createRecord(plan.allowance, String(this.#version)))
        break
      case 'restoreRecord':
        this.pods = this.pods.map((pod) => ({ ...pod, resourceVersion: this.#next() }))
        this.#writeRecord(createRecord(plan.allowance, String(this.#version)))
        break
      case 'writeRecord':
        this.#writeRecord(plan.record)
        break
      case 'touchPermits':
        return this.#touchPermits(plan, release.status!.flight!)
      case 'touchOldPods':
        this.pods = this.pods.map((pod) => ({ ...pod, resourceVersion: this.#next() }))
        return this.#applyRelease(plan.next, view)
      case 'labelPods':
        for (const { uid, labels } of plan.pods) this.#relabel(uid, labels['rollouts.kruise.io/rollout-id'])
        break
      case 'listNodes':
        throw new Error('the fleet shows all nodes')
      case 'writeStatus':
      case 'reportDrift': {
        const patched = applyPatch(release, releaseStatusPatch(release, plan.status))
        if (patched === null) throw new Error('a status patch failed on what it was made from')
        this.unlisted.push(...unlistedOfRelease(release.status, patched.status!))
        this.release = { ...patched, metadata: { ...patched.metadata, resourceVersion: this.#next() } }
        break
      }
      case 'wait':
        if (plan.for === '') throw new Error('a BatchRelease waits and does not say for what')
        return false
    }
    return this.#wrote()
  }

  #policyReading(): RolloutView['policy'] {
    if (this.policy === undefined) return { kind: 'none' }
    if (this.#policyMade?.spec !== this.policy) {
      const metadata = { namespace: 'demo', name: 'strict', uid: 'policy', resourceVersion: this.#next(), generation: this.#version }
      this.#policyMade = { metadata, spec: this.policy }
    }
    return foundPolicy(this.#policyMade)
  }

  #touchPermits({ permits, lowerTo }: BatchReleasePlan & { kind: 'touchPermits' }, record: FlightRecord): boolean {
    const mishap = this.mishap
    this.mishap = 'none'
    const touched = this.#touch(permits)
    if (mishap === 'diesAfterTouches') return this.#wrote()
    const answers =
      mishap === 'none' ? touched : touched.map(({ permit }) => ({ permit, answer: { kind: 'unclear', why: 'no answer' } as const }))
    const erased = recordTouches(record, answers)
    this.#writeRecord(lowerTo !== null && mishap === 'none' ? widenRecord(erased, lowerTo) : erased)
    return this.#wrote()
  }

  #touch(permits: FlightRecord['permits']): TouchedPermit[] {
    return permits.map((permit): TouchedPermit => {
      const at = this.pods.findIndex(({ uid }) => uid === permit.podUid)
      const pod = this.pods[at]
      if (pod === undefined) return { permit, answer: { kind: 'executed' } }
      this.pods[at] = { ...pod, resourceVersion: this.#next() }
      return {
        permit,
        answer: pod.terminating ? { kind: 'executed' } : { kind: 'standing', resourceVersion: this.pods[at].resourceVersion },
      }
    })
  }

  #deletePod({ permit }: PermittedPod): void {
    const at = this.pods.findIndex(({ uid, resourceVersion }) => uid === permit.podUid && resourceVersion === permit.podResourceVersion)
    const pod = this.pods[at]
    if (pod !== undefined) this.pods[at] = { ...pod, terminating: true, ready: false, readyFromMs: null, resourceVersion: this.#next() }
  }

  #markOf(patch: Parameters<typeof applyPatch>[1]): string {
    return String(patch.find(({ path }) => path.endsWith('tranche.dev~1reverted'))?.value)
  }

  #relabel(uid: string, rolloutId: string | undefined): void {
    this.pods = this.pods.map((pod) => (pod.uid === uid ? { ...pod, rolloutId, resourceVersion: this.#next() } : pod))
  }

  #writeRecord(record: FlightRecord): void {
    const patched = applyPatch(this.release!, recordPatch(this.release!, record))
    if (patched === null) throw new Error('a record patch failed on what it was made from')
    this.release = { ...patched, metadata: { ...patched.metadata, resourceVersion: this.#next() } }
  }

  #patchDaemonSet(patch: Parameters<typeof applyPatch>[1]): void {
    const patched = applyPatch(this.daemonSet, patch)
    if (patched === null) throw new Error('a DaemonSet patch failed on what it was made from')
    this.editDaemonSet(patched)
  }

  /** Observes the generation, and gives the revision of the template the highest number. @returns its hash */
  #observe(): string {
    const { metadata, spec, status } = this.daemonSet
    const name = this.#hash()
    const newest = Math.max(0, ...this.revisions.map(({ revision }) => revision))
    const known = this.revisions.find((revision) => revision.metadata.name === name)
    if (known === undefined || known.revision < newest) {
      const data = { spec: { template: spec.template } }
      const kept = this.revisions.filter((revision) => revision !== known)
      const creationTimestamp = known?.metadata.creationTimestamp ?? new Date(this.nowMs + newest * 1000).toISOString()
      const meta = { name, uid: name, resourceVersion: this.#next(), creationTimestamp }
      this.revisions = [...kept, { metadata: meta, revision: newest + 1, data }]
    }
    if (status?.observedGeneration !== metadata.generation) this.editDaemonSet({ status: { observedGeneration: metadata.generation ?? 0 } })
    return name
  }

  #updateOneNatively(hash: string): void {
    const at = this.pods.findIndex((pod) => pod.hash !== hash && !pod.terminating)
    const pod = this.pods[at]
    if (pod !== undefined) this.pods[at] = { ...pod, terminating: true, ready: false, readyFromMs: null, resourceVersion: this.#next() }
  }

  #newPod(node: string, hash: string): FleetPod {
    const uid = `pod-${++this.#uid}`
    const names = { namespace: 'demo', name: uid, uid, ownerUid: 'daemonset', node, hash, createdAt: this.#stamp() }
    const state = { terminating: false, phase: 'Running', acknowledged: true, ready: false, readyFromMs: null, trouble: undefined }
    return { ...names, ...state, resourceVersion: this.#next(), rolloutId: undefined, rolloutBatchId: undefined } as FleetPod
  }

  #hash(): string {
    return `${this.salt}${this.image()}`
  }

  #wrote(): boolean {
    this.writes += 1
    return true
  }

  #next(): string {
    return String(++this.#version)
  }

  #stamp(): string {
    return new Date(this.nowMs).toISOString()
  }
}

function templateOf(image: string): DaemonSet['spec']['template'] {
  return { spec: { containers: [{ name: 'agent', image }] } }
}

/** Sets or removes the finalizer. Undefined if the last finalizer of a deleted object is removed. */
function setFinalizer<T extends Rollout | BatchRelease>(object: T, present: boolean, resourceVersion: string): T | undefined {
  if (!present && object.metadata.deletionTimestamp !== undefined) return undefined
  const kind = 'releasePlan' in object.spec ? 'rollouts.kruise.io/batch-release-finalizer' : 'rollouts.kruise.io/rollout'
  return { ...object, metadata: { ...object.metadata, resourceVersion, finalizers: present ? [kind] : [] } }
}
