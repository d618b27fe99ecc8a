import { availableFromMs, type FleetPod, type FleetView, isAvailable, keptPerBlock, type NodeBlock, type NodeView } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'
import { isLostAfterUpdate } from './counted-nodes.ts'
import { CLOCK_SET_MS } from './moved-times.ts'

/** Input for finding suspects, besides the nodes. */
export interface SuspectQuestion {
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /** Milliseconds that a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods, in milliseconds. */
  readonly monotonicMs: number
  /** uids of pods older than the release; undefined while unknown: then no pod is known to belong to the release. */
  readonly older: readonly string[] | undefined
}

/** A node that was updated, or is being updated, and is not fully healthy. It is desired, or was lost after its update. */
export interface Suspect {
  readonly node: string
  /** Its non-terminating pod; undefined without one. */
  readonly pod: FleetPod | undefined
  /** Whether it has no pod at all, not even a terminating one. */
  readonly isMissing: boolean
  /** uid of its terminating pod, if it has no other pod. */
  readonly endingUid?: string
  /** Whether it has no available pod. */
  readonly isDown: boolean
  /** Whether the node became NotReady after its kubelet had acknowledged the pod. */
  readonly hasLostNode: boolean
  /**
   * Monotonic milliseconds from which `hasLostNode` is true if nothing changes. Until then it is in doubt. Only for a node that is silent. The
   * timestamps contradict the order in which this process saw both: the control plane's clock was set back in between, or the watch of nodes is
   * behind. Absent without a contradiction.
   */
  readonly lostFromMs?: number
  /**
   * Creation of its pod (epoch milliseconds), if its kubelet had stopped reporting before that and has never seen the pod. No deadline runs then,
   * because the new version cannot be the cause. Absent otherwise.
   */
  readonly unseenSinceMs?: number | undefined
  /** Restarts of its pod's containers. */
  readonly restarts: number
}

/** @returns the suspects, sorted by name. Incremental: costs only the changes since the last call. */
export function findSuspects(fleet: FleetView, question: SuspectQuestion): readonly Suspect[] {
  const suspects: Suspect[] = []
  const { older, ...rest } = question
  const asked = { ...rest, olderText: older === undefined ? null : older.join(' ') }
  for (const block of suspectsPerBlock(fleet, asked)) if (block.suspects.length > 0) suspects.push(...block.suspects)
  return suspects
}

interface BlockQuestion extends Omit<SuspectQuestion, 'older'> {
  /** Concatenated uids; null when no pod is known to belong to the release. */
  readonly olderText: string | null
}

interface BlockSuspects {
  readonly suspects: readonly Suspect[]
  /** Monotonic milliseconds at which a suspect becomes available, or is lost, by the clock alone; Infinity without one. */
  readonly changesAtMs: number
}

const suspectsPerBlock = keptPerBlock<BlockQuestion, BlockSuspects>({
  count: suspectsOfBlock,
  holds: (known, asked, { changesAtMs }) =>
    known.revision === asked.revision &&
    known.minReadyMs === asked.minReadyMs &&
    known.olderText === asked.olderText &&
    known.monotonicMs <= asked.monotonicMs &&
    asked.monotonicMs < changesAtMs,
})

const NO_SUSPECTS: BlockSuspects = { suspects: [], changesAtMs: Number.POSITIVE_INFINITY }

function suspectsOfBlock(block: NodeBlock, question: BlockQuestion): BlockSuspects {
  const suspects = block.flatMap((node) => suspectOn(node, question) ?? [])
  if (suspects.length === 0) return NO_SUSPECTS
  const changes = suspects.flatMap(({ isDown, pod, hasLostNode, lostFromMs }) => [
    ...(isDown && pod !== undefined ? [availableFromMs(pod, question.minReadyMs)] : []),
    ...(hasLostNode ? [] : [lostFromMs]),
  ])
  return { suspects, changesAtMs: Math.min(...changes.map((ms) => ms ?? Number.POSITIVE_INFINITY)) }
}

function suspectOn(node: NodeView, { revision, minReadyMs, monotonicMs, olderText }: BlockQuestion): Suspect | undefined {
  if (!node.desired && !isLostAfterUpdate(node, revision)) return undefined
  const standing = node.pods.filter(({ terminating }) => !terminating)
  if (standing.some(({ hash }) => hash !== revision)) return undefined
  const [pod] = standing
  // While an old pod terminates, its node has not been updated yet.
  if (pod === undefined && node.pods.length > 0 && !node.pods.some(({ hash }) => hash === revision)) return undefined
  const isDown = !standing.some((other) => isAvailable(other, minReadyMs, monotonicMs))
  if (!isDown && node.ready && pod?.restarts === 0 && pod.trouble === undefined) return undefined
  if (pod !== undefined && (olderText === null || olderText.includes(pod.uid))) return undefined
  const ending = pod === undefined ? node.pods[0] : undefined
  return {
    node: node.name,
    pod,
    isMissing: node.pods.length === 0,
    ...(ending !== undefined && { endingUid: ending.uid }),
    isDown,
    ...lossOf(node, pod, monotonicMs),
    ...unseenSince(node, pod ?? ending),
    restarts: pod?.restarts ?? 0,
  }
}

type Loss = Pick<Suspect, 'hasLostNode' | 'lostFromMs'>

/** How long a loss is in doubt, in milliseconds: a watch that is behind shows by then that the node is back. */
const DOUBT_MS = 60_000

/**
 * G6. Where the node answers, both timestamps come from the kubelet's own clock, so a wrong clock does not matter. The kubelet reports
 * Ready up to ten seconds late: a node that was NotReady before may still appear so beside an available pod that fixed it. Where the node is
 * silent, the control plane sets both times. If it was silent before the pod was created, its kubelet is back, because that had to
 * acknowledge the pod, and reports soon. Both times are at least 40 seconds apart where the node was lost later, so small differences do not
 * matter. But that clock may have been set back in between.
 */
function lossOf(node: NodeView, pod: FleetPod | undefined, monotonicMs: number): Loss {
  if (node.ready || pod?.acknowledged !== true) return { hasLostNode: false }
  const lostMs = parseTime(node.answers ? node.notReadySince : node.silentSince)
  const takenMs = parseTime(node.answers ? pod.acknowledgedAt : pod.createdAt)
  if (lostMs === null || takenMs === null || lostMs >= takenMs) return { hasLostNode: true }
  const fromMs = node.answers ? null : lostFromMs(node, pod, takenMs - lostMs)
  return fromMs === null ? { hasLostNode: false } : { hasLostNode: fromMs <= monotonicMs, lostFromMs: fromMs }
}

/** @param earlierMs by how much the loss is earlier than the pod, by the timestamps */
function lostFromMs({ unreadyFromMs }: NodeView, { acknowledgedFromMs }: FleetPod, earlierMs: number): number | null {
  if (unreadyFromMs === undefined || acknowledgedFromMs === undefined || unreadyFromMs < acknowledgedFromMs) return null
  return unreadyFromMs - acknowledgedFromMs + earlierMs < CLOCK_SET_MS ? null : unreadyFromMs + DOUBT_MS
}

function unseenSince({ ready, silentSince }: NodeView, pod: FleetPod | undefined): Pick<Suspect, 'unseenSinceMs'> {
  if (ready || pod === undefined || pod.acknowledged || !wasSilentBefore(silentSince, pod.createdAt)) return {}
  return { unseenSinceMs: parseTime(pod.createdAt) ?? 0 }
}

function wasSilentBefore(silentSince: string | undefined, createdAt: string | undefined): boolean {
  const silentMs = parseTime(silentSince)
  return silentMs !== null && silentMs < (parseTime(createdAt) ?? 0)
}
