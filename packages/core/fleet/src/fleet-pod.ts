import {
  type ContainerEnd,
  controllerOf,
  type ContainerStatus,
  type Labels,
  LEAKED_LABEL,
  type Pod,
  REVISION_HASH_LABEL,
  ROLLOUT_BATCH_ID_LABEL,
  ROLLOUT_ID_LABEL,
} from '@tranche/kube-types'

/** What we keep of a pod that a DaemonSet owns. */
export interface FleetPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** UID of the DaemonSet that controls it; in its own namespace, or of none (F15). */
  readonly ownerUid: string
  /** Equal labels of many pods are one object in memory. */
  readonly labels: Labels
  /** Node it is bound or pinned to. */
  readonly node: string
  /** `controller-revision-hash`; undefined where the label is missing. */
  readonly hash: string | undefined
  /** RFC 3339, as the API server wrote it. */
  readonly createdAt: string
  readonly terminating: boolean
  /** By when a terminating pod should be gone: its `deletionTimestamp`, epoch milliseconds. */
  readonly goneByMs?: number
  /** Finalizers, where nothing else keeps a terminating pod: its node is done with it. */
  readonly keptBy?: readonly string[]
  readonly phase: string
  /** Its kubelet has taken it up: `status.startTime` is there. */
  readonly acknowledged: boolean
  /** When that was, RFC 3339 by the clock of the kubelet: `status.startTime`. */
  readonly acknowledgedAt?: string
  readonly ready: boolean
  /**
   * From when the Ready condition counts, on the monotonic clock of this process: the later of its own stamp and our
   * first sight of it (rule F6). Null while not Ready.
   */
  readonly readyFromMs: number | null
  /** `lastTransitionTime` of the Ready condition: another one is another time of being Ready, even if we missed the break. */
  readonly readyStamp: string | undefined
  /** Why a container does not run, of the first one that says so; init containers come first. */
  readonly trouble: PodTrouble | undefined
  /** Restarts of all its containers, init containers too. */
  readonly restarts: number
  /** How a container that runs again had ended; one that was out of memory comes before others. */
  readonly crash?: PodTrouble
  readonly rolloutId: string | undefined
  readonly rolloutBatchId: string | undefined
  /** Id of the release in which it came up without a permit for its node. */
  readonly leakedIn?: string
}

/** What the kubelet or scheduler says is wrong with a pod. */
export interface PodTrouble {
  /** CamelCase reason, as in the container's `waiting.reason`: `ImagePullBackOff`, `CrashLoopBackOff`, `Unschedulable` … */
  readonly reason: string
  readonly container?: string
  readonly exitCode?: number
  readonly restarts?: number
  /** What was said last, cut to 256 characters. */
  readonly message?: string
}

/** Where a moment of sight stands on both clocks. */
export interface ObservationTime {
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
}

/**
 * Reduces a pod to what we read.
 *
 * @param previous what we kept of the same pod before, so that the first sight of its Ready condition is remembered
 * @returns null for a pod that no DaemonSet controls, or that is neither bound nor pinned to a node
 */
export function toFleetPod(pod: Pod, previous: FleetPod | undefined, observedAt: ObservationTime): FleetPod | null {
  const owner = controllerOf(pod)
  const node = nodeOf(pod)
  if (owner === undefined || owner.kind !== 'DaemonSet' || node === undefined) return null
  const readyCondition = pod.status?.conditions?.find((condition) => condition.type === 'Ready')
  const ready = readyCondition?.status === 'True'
  return {
    namespace: pod.metadata.namespace ?? '',
    name: pod.metadata.name,
    uid: pod.metadata.uid,
    resourceVersion: pod.metadata.resourceVersion,
    ownerUid: owner.uid,
    labels: pod.metadata.labels ?? NO_LABELS,
    node,
    hash: pod.metadata.labels?.[REVISION_HASH_LABEL],
    createdAt: pod.metadata.creationTimestamp ?? '',
    terminating: pod.metadata.deletionTimestamp !== undefined,
    ...goneBy(pod),
    ...keptBy(pod),
    phase: pod.status?.phase ?? 'Pending',
    acknowledged: pod.status?.startTime !== undefined,
    ...(pod.status?.startTime !== undefined && { acknowledgedAt: pod.status.startTime }),
    ready,
    readyFromMs: ready ? readyFrom(pod.metadata.uid, readyCondition.lastTransitionTime, previous, observedAt) : null,
    readyStamp: readyCondition?.lastTransitionTime,
    trouble: troubleOf(pod),
    restarts: containersOf(pod).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    ...crashOf(pod),
    rolloutId: pod.metadata.labels?.[ROLLOUT_ID_LABEL],
    rolloutBatchId: pod.metadata.labels?.[ROLLOUT_BATCH_ID_LABEL],
    ...leakedIn(pod),
  }
}

const NO_LABELS: Labels = {}

/** @returns the monotonic time from which the pod is available, if it stays Ready; null while it is not Ready */
export function availableFromMs(pod: FleetPod, minReadyMs: number): number | null {
  return pod.readyFromMs === null ? null : pod.readyFromMs + minReadyMs
}

/** Ready for at least `minReadyMs`, and not terminating: what keeps a node out of the unavailable ones. */
export function isAvailable(pod: FleetPod, minReadyMs: number, monotonicMs: number): boolean {
  if (pod.terminating || !pod.ready) return false
  if (minReadyMs === 0) return true
  const from = availableFromMs(pod, minReadyMs)
  return from !== null && from <= monotonicMs
}

function goneBy({ metadata }: Pod): Pick<FleetPod, 'goneByMs'> {
  return metadata.deletionTimestamp === undefined ? {} : { goneByMs: Date.parse(metadata.deletionTimestamp) }
}

function keptBy({ metadata }: Pod): Pick<FleetPod, 'keptBy'> {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length > 0 ? { keptBy: finalizers } : {}
}

function leakedIn({ metadata }: Pod): Pick<FleetPod, 'leakedIn'> {
  const id = metadata.labels?.[LEAKED_LABEL]
  return id === undefined ? {} : { leakedIn: id }
}

/** Bound nodes come first; a pod that waits for the scheduler is pinned by its required affinity. */
function nodeOf(pod: Pod): string | undefined {
  if (pod.spec?.nodeName !== undefined && pod.spec.nodeName !== '') return pod.spec.nodeName
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const pinned = terms.flatMap((term) => term.matchFields ?? []).find((field) => field.key === 'metadata.name' && field.operator === 'In')
  return pinned?.values?.[0]
}

function readyFrom(uid: string, stamp: string | undefined, previous: FleetPod | undefined, observedAt: ObservationTime): number {
  if (previous?.uid === uid && previous.readyStamp === stamp && previous.readyFromMs !== null) return previous.readyFromMs
  // A stamp of the future (clocks differ) is honoured: the pod has not been Ready for long enough before it.
  const aheadMs = stamp === undefined ? 0 : Date.parse(stamp) - observedAt.nowMs
  return aheadMs > 0 ? observedAt.monotonicMs + aheadMs : observedAt.monotonicMs
}

/** Longest message of a container that is kept, in characters. */
const MESSAGE_MAX = 256

function containersOf({ status }: Pod): readonly ContainerStatus[] {
  const { initContainerStatuses, containerStatuses = [] } = status ?? {}
  return initContainerStatuses === undefined ? containerStatuses : [...initContainerStatuses, ...containerStatuses]
}

function troubleOf(pod: Pod): PodTrouble | undefined {
  if (pod.status?.phase === 'Failed') return { reason: pod.status.reason ?? 'Failed', ...messageOf(pod.status.message) }
  for (const container of containersOf(pod)) {
    const trouble = containerTrouble(container)
    if (trouble !== undefined) return trouble
  }
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled')
  const isUnschedulable = scheduled?.status === 'False' && scheduled.reason === 'Unschedulable'
  return isUnschedulable ? { reason: 'Unschedulable', ...messageOf(scheduled.message) } : undefined
}

function containerTrouble(container: ContainerStatus): PodTrouble | undefined {
  const ended = container.state?.terminated ?? container.lastState?.terminated
  const { waiting } = container.state ?? {}
  const reason = waiting?.reason ?? container.state?.terminated?.reason
  if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing' || reason === 'Completed') return undefined
  const name = reason === 'CrashLoopBackOff' && ended?.reason === 'OOMKilled' ? 'OOMKilled' : reason
  return endOf(container, name, { ...ended, message: ended?.message ?? waiting?.message })
}

function crashOf(pod: Pod): Pick<FleetPod, 'crash'> {
  const crashed = containersOf(pod).filter(
    ({ state, lastState }) => state?.waiting === undefined && state?.terminated === undefined && isCrash(lastState?.terminated),
  )
  const worst = crashed.find(({ lastState }) => lastState?.terminated?.reason === 'OOMKilled') ?? crashed[0]
  const end = worst?.lastState?.terminated
  return worst === undefined || end === undefined ? {} : { crash: endOf(worst, end.reason ?? 'Error', end) }
}

function isCrash(end: ContainerEnd | undefined): boolean {
  return end !== undefined && end.reason !== 'Completed'
}

function endOf({ name, restartCount }: ContainerStatus, reason: string, { exitCode, message }: ContainerEnd): PodTrouble {
  return {
    reason,
    container: name,
    ...(exitCode !== undefined && { exitCode }),
    ...(restartCount !== undefined && { restarts: restartCount }),
    ...messageOf(message),
  }
}

/** A slice would keep the whole of a long text in memory; what is joined anew does not. */
function messageOf(text: string | undefined): Pick<PodTrouble, 'message'> {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return {}
  return { message: trimmed.length > MESSAGE_MAX ? trimmed.slice(0, MESSAGE_MAX).split('').join('') : trimmed }
}
