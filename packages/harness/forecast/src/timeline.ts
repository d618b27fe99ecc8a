import type { BatchRelease, Failure, Rollout, TrancheSpec } from '@tranche/api-schema'
import type { Pod } from '@tranche/kube-types'
import { isOwnedBy, type OwnerOfObjects, REVISION_HASH_LABEL } from '@tranche/kube-types'
import type { AcceptedWrite } from '@tranche/sim-api'

/** One deletion by the executor: a node is updated, or goes back. */
export interface Taken {
  readonly node: string
  /** Milliseconds from the beginning. */
  readonly atMs: number
  /** From 1. */
  readonly batch: number
  /** The pod as it was. */
  readonly pod: Pod
  /** `spec.tranche.release` of the BatchRelease at that moment. */
  readonly release: string
}

/** One batch of a release. Milliseconds from the beginning. */
export interface BatchTimes {
  readonly release: string
  /** From 1. */
  readonly index: number
  readonly startMs: number
  /** Null while it is not ready. */
  readonly readyMs: number | null
}

/** What has happened in the copy of the cluster. */
export interface Timeline {
  /** Takes in an accepted write; in order. */
  take(write: AcceptedWrite): void
  readonly taken: readonly Taken[]
  readonly batches: readonly BatchTimes[]
  /** Changes of the number of nodes without an available pod: when, and by how many. */
  readonly downs: readonly { readonly atMs: number; readonly by: number }[]
  /** Nodes on which a pod of the revision was ever seen. */
  nodesWith(revision: string): ReadonlySet<string>
  /** Whether a release has stood in the pause of this step, from 1. */
  hasPausedAt(step: number): boolean
  /** As last written. */
  readonly rollout: Rollout
  readonly release: BatchRelease | undefined
  /** The first revision that was released. */
  readonly canary: string | undefined
  /** What was told of the first release, as last written. */
  readonly firstSpec: TrancheSpec | undefined
  /** The last failure that was found. */
  readonly failure: Failure | undefined
  /** Nodes with a Ready pod in the beginning. */
  readonly upAtStart: number
  /** When a release was under way for the first time. */
  readonly begunMs: number | null
  /** When the last release had ended; null while one runs. */
  readonly endedMs: number | null
  /** When something last moved on: a pod, a batch, a step. */
  readonly movedMs: number
  /** Since when `Stalled` has held; null while it does not. */
  readonly stalledMs: number | null
  /** The most nodes that were permitted to be down at a time. */
  readonly limit: number
}

/** What a chronicle begins with. */
export interface TimelineOptions {
  readonly rollout: Rollout
  readonly release: BatchRelease | undefined
  readonly daemonSet: OwnerOfObjects
  readonly pods: readonly Pod[]
  /** Another template overtakes `release`: what becomes of that one is told no more. */
  readonly isOvertaken: boolean
  /** Pods are available after so long. */
  readonly minReadyMs: number
  /** Milliseconds from the beginning. */
  readonly nowMs: () => number
  /** A node has come to the revision that is released. */
  readonly onUpdated?: () => void
}

/** Writes down what the API server of the copy accepts. */
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

  /** What is deleted for a release that is about to be overtaken is in flight already. */
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

/** Ready, and not terminating. */
export function isReady(pod: Pod): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  )
}

/** Bound, or pinned by the affinity that a DaemonSet's pod carries. */
export function nodeOf({ spec }: Pod): string {
  if (spec?.nodeName) return spec.nodeName
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.[0]?.values?.[0] ?? ''
}
