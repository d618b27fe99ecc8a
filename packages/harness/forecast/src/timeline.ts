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

/** Events in the copy of the cluster. */
export interface Timeline {
  /** Records an accepted write; to be called in order. */
  take(write: AcceptedWrite): void
  readonly taken: readonly Taken[]
  readonly batches: readonly BatchTimes[]
  /** Changes of the number of nodes without an available pod: time and difference. */
  readonly downs: readonly { readonly atMs: number; readonly by: number }[]
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
  const { daemonSet, minReadyMs, nowMs } = options
  const taken: Taken[] = []
  const batches: BatchTimes[] = []
  const downs: { atMs: number; by: number }[] = []
  const nodesByRevision = new Map<string, Set<string>>()
  const up = new Set<string>()
  const pausedAt = new Set<number>()
  let { rollout, release } = options
  const overtaken = options.isOvertaken ? release?.spec.tranche?.release : undefined
  let canary: string | undefined
  let firstSpec: TrancheSpec | undefined
  let failure: Failure | undefined
  let begunMs: number | null = null
  let endedMs: number | null = null
  let movedMs = 0
  let stalledMs: number | null = null
  let limit = 0

  for (const pod of options.pods) {
    noteRevision(pod)
    if (isReady(pod)) up.add(nodeOf(pod))
  }
  const upAtStart = up.size
  if (release !== undefined) takeRelease(release)
  takeRollout(rollout)

  function takePod({ type, object, previous, actor, verb }: AcceptedWrite): void {
    const pod = object as unknown as Pod
    if (!isOwnedBy(pod, daemonSet)) return
    const before = previous as unknown as Pod | undefined
    const isGoing = type === 'DELETED' || pod.metadata.deletionTimestamp !== undefined
    const began = before !== undefined && before.metadata.deletionTimestamp === undefined && isGoing
    if (began && verb === 'delete' && actor.name === EXECUTOR && !isOvertaken(release)) {
      const batch = (release?.status?.canaryStatus?.currentBatch ?? 0) + 1
      taken.push({ node: nodeOf(pod), atMs: nowMs(), batch, pod: before, release: releaseId() })
      movedMs = nowMs()
    }
    noteRevision(pod)
    noteHealth(pod, type !== 'DELETED' && isReady(pod))
  }

  function noteRevision(pod: Pod): void {
    const hash = revisionOf(pod) ?? ''
    const nodes = nodesByRevision.get(hash) ?? new Set<string>()
    nodesByRevision.set(hash, nodes.add(nodeOf(pod)))
  }

  function noteHealth(pod: Pod, isUp: boolean): void {
    const node = nodeOf(pod)
    if (up.has(node) === isUp) return
    if (isUp) {
      up.add(node)
      downs.push({ atMs: nowMs() + minReadyMs, by: -1 })
      if (revisionOf(pod) === canary) options.onUpdated?.()
    } else {
      up.delete(node)
      downs.push({ atMs: nowMs(), by: 1 })
    }
    movedMs = nowMs()
  }

  /** Nodes deleted on for a release that is about to be superseded are already in flight. */
  function isOvertaken(one: BatchRelease | undefined): boolean {
    return overtaken !== undefined && one?.spec.tranche?.release === overtaken
  }

  function releaseId(): string {
    return release?.spec.tranche?.release ?? ''
  }

  function takeRelease(next: BatchRelease): void {
    release = next
    if (isOvertaken(next)) return
    canary ??= next.spec.tranche?.canaryRevision
    if (firstSpec === undefined || next.spec.tranche?.release === firstSpec.release) firstSpec = next.spec.tranche
    failure = next.status?.failure ?? failure
    limit = Math.max(limit, next.status?.flight?.limit ?? 0)
    const { canaryStatus, observedRelease } = next.status ?? {}
    if (canaryStatus === undefined || observedRelease !== next.spec.tranche?.release) return
    const index = canaryStatus.currentBatch + 1
    const last = batches.findLastIndex((batch) => batch.release === releaseId() && batch.index === index)
    if (last === -1) {
      batches.push({ release: releaseId(), index, startMs: nowMs(), readyMs: null })
      movedMs = nowMs()
    } else if (canaryStatus.batchState === 'Ready' && batches[last]!.readyMs === null) {
      batches[last] = { ...batches[last]!, readyMs: nowMs() }
      movedMs = nowMs()
    }
  }

  function takeRollout(next: Rollout): void {
    const before = rollout.status
    rollout = next
    const { status } = next
    if (status === undefined) return
    if (status.currentStepState === 'StepPaused') pausedAt.add(status.currentStepIndex)
    if (status.currentStepIndex !== before?.currentStepIndex || status.currentStepState !== before.currentStepState) movedMs = nowMs()
    const stalled = status.conditions?.some(({ type, status: value }) => type === 'Stalled' && value === 'True') === true
    stalledMs = stalled ? (stalledMs ?? nowMs()) : null
    if (status.phase === 'Progressing') {
      begunMs ??= nowMs()
      endedMs = null
    } else if (status.phase === 'Healthy' && begunMs !== null) endedMs ??= nowMs()
  }

  return {
    take(write) {
      if (write.kind === 'Pod') takePod(write)
      else if (write.kind === 'BatchRelease') {
        if (write.type === 'DELETED') release = undefined
        else takeRelease(write.object as unknown as BatchRelease)
      } else if (write.kind === 'Rollout') takeRollout(write.object as unknown as Rollout)
    },
    taken,
    batches,
    downs,
    hasPausedAt: (step) => pausedAt.has(step),
    nodesWith: (revision) => nodesByRevision.get(revision) ?? new Set(),
    get rollout() {
      return rollout
    },
    get release() {
      return release
    },
    get canary() {
      return canary
    },
    get firstSpec() {
      return firstSpec
    },
    get failure() {
      return failure
    },
    upAtStart,
    get begunMs() {
      return begunMs
    },
    get endedMs() {
      return endedMs
    },
    get movedMs() {
      return movedMs
    },
    get stalledMs() {
      return stalledMs
    },
    get limit() {
      return limit
    },
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
