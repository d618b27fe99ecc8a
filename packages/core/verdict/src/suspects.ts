import { availableFromMs, type FleetPod, type FleetView, isAvailable, keptPerBlock, type NodeBlock, type NodeView } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'
import { isLostAfterUpdate } from './counted-nodes.ts'

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
   * True where the node has no available pod, and only the timestamps of the control plane say that `hasLostNode` is false. Its kubelet is
   * back, or that clock was set back after the pod was created. Absent otherwise.
   */
  readonly mayHaveLostNode?: true
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
  /** Monotonic milliseconds at which a suspect becomes available by the clock alone; Infinity without one. */
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
  const comingUp = suspects.flatMap(({ isDown, pod }) => (isDown && pod !== undefined ? [availableFromMs(pod, question.minReadyMs)] : []))
  return { suspects, changesAtMs: Math.min(...comingUp.map((ms) => ms ?? Number.POSITIVE_INFINITY)) }
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
    ...lossOf(node, pod, isDown),
    ...unseenSince(node, pod ?? ending),
    restarts: pod?.restarts ?? 0,
  }
}

type Loss = Pick<Suspect, 'hasLostNode' | 'mayHaveLostNode'>

/**
 * G6. Both timestamps come from the kubelet's own clock, so a wrong clock does not matter. The kubelet reports Ready up to ten
 * seconds late: a node that was NotReady before may still appear so beside an available pod that fixed it. A node whose status is
 * Unknown lost its kubelet later, because the kubelet had to acknowledge the pod first. Where it was so before the pod was created, the kubelet
 * is back. The control plane sets both times. They are at least 40 seconds apart where the node was lost later, so small differences do not matter.
 * But its clock may have been set back in between.
 */
function lossOf({ ready, notReadySince, silentSince }: NodeView, pod: FleetPod | undefined, isDown: boolean): Loss {
  if (ready || pod?.acknowledged !== true) return { hasLostNode: false }
  if (wasSilentBefore(silentSince, pod.createdAt)) return { hasLostNode: false, ...(isDown && { mayHaveLostNode: true as const }) }
  const lostMs = parseTime(notReadySince)
  const takenMs = parseTime(pod.acknowledgedAt)
  return { hasLostNode: lostMs === null || takenMs === null || lostMs >= takenMs }
}

function unseenSince({ ready, silentSince }: NodeView, pod: FleetPod | undefined): Pick<Suspect, 'unseenSinceMs'> {
  if (ready || pod === undefined || pod.acknowledged || !wasSilentBefore(silentSince, pod.createdAt)) return {}
  return { unseenSinceMs: parseTime(pod.createdAt) ?? 0 }
}

function wasSilentBefore(silentSince: string | undefined, createdAt: string | undefined): boolean {
  const silentMs = parseTime(silentSince)
  return silentMs !== null && silentMs < (parseTime(createdAt) ?? 0)
}
