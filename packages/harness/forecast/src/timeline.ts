import type { BatchRelease, Failure, Rollout, TrancheSpec } from '@tranche/api-schema'
import type { Pod } from '@tranche/kube-types'
import { isOwnedBy, type OwnerOfObjects, REVISION_HASH_LABEL } from '@tranche/kube-types'
import type { AcceptedWrite } from '@tranche/sim-api'

/** One deletion by the executor: a node is updated or rolled back. */
export interface Taken {
  readonly node: string
  /** Milliseconds since the start. */
  readonly atMs: number
  /** Batch number from 1. */
  readonly batch: number
  /** Pod before the deletion. */
  readonly pod: Pod
  /** `spec.tranche.release` of the BatchRelease at that time. */
  readonly release: string
}

/** Times of one batch, in milliseconds since the start. */
export interface BatchTimes {
  readonly release: string
  /** Batch number from 1. */
  readonly index: number
  readonly startMs: number
  /** Null until the batch is ready. */
  readonly readyMs: number | null
}

/** A node that becomes unavailable (`by` is 1) or available again (-1). */
export interface AvailabilityChange {
  /** Milliseconds since the start. */
  readonly atMs: number
  readonly by: number
}

/** Events in the copy of the cluster. */
export interface Timeline {
  /** Records an accepted write; to be called in order. */
  take(write: AcceptedWrite): void
  readonly taken: readonly Taken[]
  readonly batches: readonly BatchTimes[]
  /** Changes of the number of nodes without an available pod, in any order. */
  readonly downs: readonly AvailabilityChange[]
  /** Nodes on which a pod of the revision was ever seen. */
  nodesWith(revision: string): ReadonlySet<string>
  /** Whether a release has been in the pause of this step, from 1. */
  hasPausedAt(step: number): boolean
  /** As last written. */
  readonly rollout: Rollout
  readonly release: BatchRelease | undefined
  /** First released revision. */
  readonly canary: string | undefined
  /** Spec of the first release, as last written. */
  readonly firstSpec: TrancheSpec | undefined
  /** Last failure found. */
  readonly failure: Failure | undefined
  /** Nodes with a Ready pod at the start. */
  readonly upAtStart: number
  /** When a release was first in progress. */
  readonly begunMs: number | null
  /** When the last release ended; null while one runs. */
  readonly endedMs: number | null
  /** When a pod, a batch or a step last made progress. */
  readonly movedMs: number
  /** Since when `Stalled` is True; null while it is not. */
  readonly stalledMs: number | null
  /** Largest number of nodes that were permitted to be down at a time. */
  readonly limit: number
}

/** Initial state of a timeline. */
export interface TimelineOptions {
  readonly rollout: Rollout
  readonly release: BatchRelease | undefined
  readonly daemonSet: OwnerOfObjects
  readonly pods: readonly Pod[]
  /** Another template is about to supersede `release`, so nothing more is recorded for that release. */
  readonly isOvertaken: boolean
  /** Milliseconds for which a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Milliseconds since the start. */
  readonly nowMs: () => number
  /** Called when a node reaches the released revision. */
  readonly onUpdated?: () => void
}

/** Records what the API server of the copy accepts. */
export function createTimeline(options: TimelineOptions): Timeline {
  return new RecordedTimeline(options)
}

class RecordedTimeline implements Timeline {
  readonly taken: Taken[] = []
  readonly batches: BatchTimes[] = []
  readonly downs: AvailabilityChange[] = []
  readonly upAtStart: number
  rollout: Rollout
  release: BatchRelease | undefined
  canary: string | undefined
  firstSpec: TrancheSpec | undefined
  failure: Failure | undefined
  begunMs: number | null = null
  endedMs: number | null = null
  movedMs = 0
  stalledMs: number | null = null
  limit = 0
  readonly #options: TimelineOptions
  /** Release that is about to be superseded. */
  readonly #overtaken: string | undefined
  readonly #nodesByRevision = new Map<string, Set<string>>()
  /** Nodes with a Ready pod, and the change by which each becomes available; null for nodes that were up at the start. */
  readonly #up = new Map<string, AvailabilityChange | null>()
  readonly #pausedAt = new Set<number>()

  constructor(options: TimelineOptions) {
    this.#options = options
    this.rollout = options.rollout
    this.release = options.release
    this.#overtaken = options.isOvertaken ? options.release?.spec.tranche?.release : undefined
    for (const pod of options.pods) {
      this.#noteRevision(pod)
      if (isReady(pod)) this.#up.set(nodeOf(pod), null)
    }
    this.upAtStart = this.#up.size
    if (options.release !== undefined) this.#takeRelease(options.release)
    this.#takeRollout(options.rollout)
  }

  take(write: AcceptedWrite): void {
    if (write.kind === 'Pod') this.#takePod(write)
    else if (write.kind === 'BatchRelease') {
      if (write.type === 'DELETED') this.release = undefined
      else this.#takeRelease(write.object as unknown as BatchRelease)
    } else if (write.kind === 'Rollout') this.#takeRollout(write.object as unknown as Rollout)
  }

  hasPausedAt(step: number): boolean {
    return this.#pausedAt.has(step)
  }

  nodesWith(revision: string): ReadonlySet<string> {
    return this.#nodesByRevision.get(revision) ?? new Set()
  }

  #takePod({ type, object, previous, actor, verb }: AcceptedWrite): void {
    const pod = object as unknown as Pod
    if (!isOwnedBy(pod, this.#options.daemonSet)) return
    const before = previous as unknown as Pod | undefined
    const isGoing = type === 'DELETED' || pod.metadata.deletionTimestamp !== undefined
    const began = before !== undefined && before.metadata.deletionTimestamp === undefined && isGoing
    if (began && verb === 'delete' && actor.name === EXECUTOR && !this.#isOvertaken(this.release)) {
      const batch = (this.release?.status?.canaryStatus?.currentBatch ?? 0) + 1
      this.taken.push({ node: nodeOf(pod), atMs: this.#options.nowMs(), batch, pod: before, release: this.#releaseId() })
      this.#noteMove()
    }
    this.#noteRevision(pod)
    this.#noteHealth(pod, type !== 'DELETED' && isReady(pod))
  }

  #noteRevision(pod: Pod): void {
    const hash = revisionOf(pod) ?? ''
    const nodes = this.#nodesByRevision.get(hash) ?? new Set<string>()
    this.#nodesByRevision.set(hash, nodes.add(nodeOf(pod)))
  }

  #noteHealth(pod: Pod, isUp: boolean): void {
    const { nowMs, minReadyMs, onUpdated } = this.#options
    const node = nodeOf(pod)
    if (this.#up.has(node) === isUp) return
    if (isUp) {
      const change = { atMs: nowMs() + minReadyMs, by: -1 }
      this.#up.set(node, change)
      this.downs.push(change)
      if (revisionOf(pod) === this.canary) onUpdated?.()
    } else {
      const change = this.#up.get(node) ?? null
      this.#up.delete(node)
      // A pod that was not Ready for long enough has never been available.
      if (change !== null && change.atMs > nowMs()) this.downs.splice(this.downs.lastIndexOf(change), 1)
      else this.downs.push({ atMs: nowMs(), by: 1 })
    }
    this.#noteMove()
  }

  #takeRelease(next: BatchRelease): void {
    this.release = next
    if (this.#isOvertaken(next)) return
    const { tranche } = next.spec
    this.canary ??= tranche?.canaryRevision
    if (this.firstSpec === undefined || tranche?.release === this.firstSpec.release) this.firstSpec = tranche
    this.failure = next.status?.failure ?? this.failure
    this.limit = Math.max(this.limit, next.status?.flight?.limit ?? 0)
    const { canaryStatus, observedRelease } = next.status ?? {}
    if (canaryStatus === undefined || observedRelease !== tranche?.release) return
    this.#takeBatch(canaryStatus.currentBatch + 1, canaryStatus.batchState === 'Ready')
  }

  /** @param index batch number from 1 */
  #takeBatch(index: number, ready: boolean): void {
    const release = this.#releaseId()
    const last = this.batches.findLastIndex((batch) => batch.release === release && batch.index === index)
    if (last === -1) {
      this.batches.push({ release, index, startMs: this.#options.nowMs(), readyMs: null })
      this.#noteMove()
    } else if (ready && this.batches[last]!.readyMs === null) {
      this.batches[last] = { ...this.batches[last]!, readyMs: this.#options.nowMs() }
      this.#noteMove()
    }
  }

  #takeRollout(next: Rollout): void {
    const before = this.rollout.status
    this.rollout = next
    const { status } = next
    if (status === undefined) return
    const { currentStepIndex, currentStepState, conditions, phase } = status
    if (currentStepState === 'StepPaused') this.#pausedAt.add(currentStepIndex)
    if (currentStepIndex !== before?.currentStepIndex || currentStepState !== before.currentStepState) this.#noteMove()
    const nowMs = this.#options.nowMs()
    const stalled = conditions?.some(({ type, status: value }) => type === 'Stalled' && value === 'True') === true
    this.stalledMs = stalled ? (this.stalledMs ?? nowMs) : null
    if (phase === 'Progressing') {
      this.begunMs ??= nowMs
      this.endedMs = null
    } else if (phase === 'Healthy' && this.begunMs !== null) this.endedMs ??= nowMs
  }

  #noteMove(): void {
    this.movedMs = this.#options.nowMs()
  }

  /** Nodes deleted on for a release that is about to be superseded are already in flight. */
  #isOvertaken(one: BatchRelease | undefined): boolean {
    return this.#overtaken !== undefined && one?.spec.tranche?.release === this.#overtaken
  }

  #releaseId(): string {
    return this.release?.spec.tranche?.release ?? ''
  }
}

/** Names under which the programs act in the copy. */
export const CONTROLLER = 'tranche-controller'
/** @see CONTROLLER */
export const EXECUTOR = 'tranche-executor'

/** @returns `controller-revision-hash` */
export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[REVISION_HASH_LABEL]
}

/** Whether the pod is Ready and not terminating. */
export function isReady(pod: Pod): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  )
}

/** Node that the pod is bound to, or that its affinity names. */
export function nodeOf({ spec }: Pod): string {
  if (spec?.nodeName) return spec.nodeName
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.[0]?.values?.[0] ?? ''
}
