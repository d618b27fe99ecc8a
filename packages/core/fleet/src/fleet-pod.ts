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
  parseTime,
  clipText,
} from '@tranche/kube-types'

/** The parts of a DaemonSet pod that Tranche keeps in memory. */
export interface FleetPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** UID of the DaemonSet that controls it. A DaemonSet of another namespace does not match (F15). */
  readonly ownerUid: string
  /** Labels; pods with equal labels share one object in memory. */
  readonly labels: Labels
  /** Node that the pod is bound or pinned to. */
  readonly node: string
  /** `controller-revision-hash`; undefined without the label. */
  readonly hash: string | undefined
  /** Creation time in RFC 3339, by the clock of the API server. */
  readonly createdAt: string
  readonly terminating: boolean
  /** `deletionTimestamp` of a terminating pod in epoch milliseconds: the time by which it should be gone. */
  readonly goneByMs?: number
  /** Finalizers of a terminating pod that only they keep: its node has finished with it. */
  readonly keptBy?: readonly string[]
  readonly phase: string
  /** Whether its kubelet has acknowledged it: `status.startTime` is set. */
  readonly acknowledged: boolean
  /** `status.startTime`, in RFC 3339 by the clock of the kubelet. */
  readonly acknowledgedAt?: string
  /** Monotonic milliseconds, by the clock of this process, at which it first saw that its kubelet had acknowledged it; absent before, and where it goes by timestamps. */
  readonly acknowledgedFromMs?: number
  readonly ready: boolean
  /**
   * Monotonic milliseconds, by the clock of this process, from which the Ready condition counts: the later of its own timestamp and
   * its first observation (rule F6). Null while not Ready.
   */
  readonly readyFromMs: number | null
  /** `lastTransitionTime` of the Ready condition. A new value means that the pod was not Ready in between, even if unobserved. */
  readonly readyStamp: string | undefined
  /** Trouble of the first container that does not run; init containers come first. */
  readonly trouble: PodTrouble | undefined
  /** Restarts of all its containers, including init containers. */
  readonly restarts: number
  /** Last termination of a container that runs again; OOMKilled takes precedence. */
  readonly crash?: PodTrouble
  readonly rolloutId: string | undefined
  readonly rolloutBatchId: string | undefined
  /** Id of the release in which the pod was created without a permit for its node. */
  readonly leakedIn?: string
  /** Object that it reads as it is now, although its template names a copy: `ConfigMap/agent`. */
  readonly liveConfig?: string
}

/** Problem of a pod, as the kubelet or scheduler reports it. */
export interface PodTrouble {
  /** CamelCase reason, as in the container's `waiting.reason`: `ImagePullBackOff`, `CrashLoopBackOff` …; cut to 100 characters. */
  readonly reason: string
  readonly container?: string
  readonly exitCode?: number
  readonly restarts?: number
  /** Last message, cut to 256 characters. */
  readonly message?: string
}

/** Time of an observation on both clocks. */
export interface ObservationTime {
  /** Epoch milliseconds. */
  readonly nowMs: number
  readonly monotonicMs: number
}

/**
 * Observation earlier than every timestamp: conditions count from their own timestamps. For readers without a past, whose monotonic
 * clock is the epoch.
 */
export const BY_STAMPS: ObservationTime = { nowMs: 0, monotonicMs: 0 }

/**
 * Reduces a pod to the parts that Tranche uses.
 *
 * @param previous earlier result for the same pod, which keeps the first observation of its Ready condition
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
    ...acknowledgement(pod, previous, observedAt),
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

/** @returns monotonic milliseconds from which the pod is available, if it stays Ready; null while it is not Ready */
export function availableFromMs(pod: FleetPod, minReadyMs: number): number | null {
  return pod.readyFromMs === null ? null : pod.readyFromMs + minReadyMs
}

/**
 * Whether a pod is no older than a release, by the clock of the API server. Where the times cannot be compared, it is.
 *
 * @param begunAt when the release began, in RFC 3339; undefined where it is unknown
 */
export function isCreatedSince({ createdAt }: Pick<FleetPod, 'createdAt'>, begunAt: string | undefined): boolean {
  const [begunMs, createdMs] = [parseTime(begunAt), parseTime(createdAt)]
  return begunMs === null || createdMs === null || createdMs >= begunMs
}

/** Whether a pod is available: Ready for at least `minReadyMs` and not terminating. */
export function isAvailable(pod: FleetPod, minReadyMs: number, monotonicMs: number): boolean {
  if (pod.terminating || !pod.ready) return false
  if (minReadyMs === 0) return true
  const from = availableFromMs(pod, minReadyMs)
  return from !== null && from <= monotonicMs
}

function acknowledgement(
  { metadata, status }: Pod,
  previous: FleetPod | undefined,
  observedAt: ObservationTime,
): Pick<FleetPod, 'acknowledgedAt' | 'acknowledgedFromMs'> {
  if (status?.startTime === undefined) return {}
  if (observedAt === BY_STAMPS) return { acknowledgedAt: status.startTime }
  const knownMs = previous?.uid === metadata.uid ? previous.acknowledgedFromMs : undefined
  return { acknowledgedAt: status.startTime, acknowledgedFromMs: knownMs ?? observedAt.monotonicMs }
}

function goneBy({ metadata }: Pod): Pick<FleetPod, 'goneByMs'> {
  const goneByMs = parseTime(metadata.deletionTimestamp)
  return goneByMs === null ? {} : { goneByMs }
}

function keptBy({ metadata }: Pod): Pick<FleetPod, 'keptBy'> {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length > 0 ? { keptBy: finalizers } : {}
}

function leakedIn({ metadata }: Pod): Pick<FleetPod, 'leakedIn'> {
  const id = metadata.labels?.[LEAKED_LABEL]
  return id === undefined ? {} : { leakedIn: id }
}

/** The node that a pod is bound to; before scheduling, the node that its required affinity pins it to. */
function nodeOf(pod: Pod): string | undefined {
  if (pod.spec?.nodeName !== undefined && pod.spec.nodeName !== '') return pod.spec.nodeName
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const pinned = terms.flatMap((term) => term.matchFields ?? []).find((field) => field.key === 'metadata.name' && field.operator === 'In')
  return pinned?.values?.[0]
}

function readyFrom(uid: string, stamp: string | undefined, previous: FleetPod | undefined, observedAt: ObservationTime): number {
  if (previous?.uid === uid && previous.readyStamp === stamp && previous.readyFromMs !== null) return previous.readyFromMs
  return observedFromMs(stamp, observedAt)
}

/**
 * Moment from which a condition counts: its first observation, or its own timestamp where that is in the future because clocks differ.
 *
 * @param stamp `lastTransitionTime` in RFC 3339
 * @returns monotonic milliseconds
 */
export function observedFromMs(stamp: string | undefined, { nowMs, monotonicMs }: ObservationTime): number {
  const aheadMs = (parseTime(stamp) ?? nowMs) - nowMs
  return aheadMs > 0 ? monotonicMs + aheadMs : monotonicMs
}

/** Maximum characters kept of a container message. */
const MESSAGE_MAX = 256
/** Maximum length of a stored reason, in characters: a policy names no longer one. */
const REASON_MAX = 100

function containersOf({ status }: Pod): readonly ContainerStatus[] {
  const { initContainerStatuses, containerStatuses = [] } = status ?? {}
  return initContainerStatuses === undefined ? containerStatuses : [...initContainerStatuses, ...containerStatuses]
}

function troubleOf(pod: Pod): PodTrouble | undefined {
  if (pod.status?.phase === 'Failed')
    return { reason: clipText(pod.status.reason ?? 'Failed', REASON_MAX), ...messageOf(pod.status.message) }
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
    reason: clipText(reason, REASON_MAX),
    container: name,
    ...(exitCode !== undefined && { exitCode }),
    ...(restartCount !== undefined && { restarts: restartCount }),
    ...messageOf(message),
  }
}

function messageOf(text: string | undefined): Pick<PodTrouble, 'message'> {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? {} : { message: clipText(trimmed, MESSAGE_MAX) }
}
