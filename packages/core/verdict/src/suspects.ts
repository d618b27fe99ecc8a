import { availableFromMs, type FleetPod, type FleetView, isAvailable, keptPerBlock, type NodeBlock, type NodeView } from '@tranche/fleet'

/** What looking for suspects rests on besides the nodes. */
export interface SuspectQuestion {
  /** `controller-revision-hash` being released. */
  readonly revision: string
  /** How long a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
  /** uids of pods that say nothing of the release; undefined while nobody has said which: then none is known to be of it. */
  readonly older: readonly string[] | undefined
}

/** A desired node that was updated, or is about to be, and is not wholly well. */
export interface Suspect {
  readonly node: string
  /** Its standing pod; undefined where there is none. */
  readonly pod: FleetPod | undefined
  /** It has no pod at all, not even one on its way out. */
  readonly isMissing: boolean
  /** uid of a pod on its way out, where none stands. */
  readonly endingUid?: string
  /** It has no available pod. */
  readonly isDown: boolean
  /** Its node is NotReady, and became so after its kubelet had taken the pod up. */
  readonly hasLostNode: boolean
  /** Restarts of its pod's containers. */
  readonly restarts: number
}

/** @returns the suspects by name; asking again costs what has changed */
export function findSuspects(fleet: FleetView, question: SuspectQuestion): readonly Suspect[] {
  const suspects: Suspect[] = []
  const { older, ...rest } = question
  const asked = { ...rest, olderText: older === undefined ? null : older.join(' ') }
  for (const block of suspectsPerBlock(fleet, asked)) if (block.suspects.length > 0) suspects.push(...block.suspects)
  return suspects
}

interface BlockQuestion extends Omit<SuspectQuestion, 'older'> {
  /** uids, side by side; null where no pod is known to be of the release. */
  readonly olderText: string | null
}

interface BlockSuspects {
  readonly suspects: readonly Suspect[]
  /** When one of them becomes available by the clock alone (monotonic); Infinity where none will. */
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

const NOBODY: BlockSuspects = { suspects: [], changesAtMs: Number.POSITIVE_INFINITY }

function suspectsOfBlock(block: NodeBlock, question: BlockQuestion): BlockSuspects {
  const suspects = block.flatMap((node) => suspectOn(node, question) ?? [])
  if (suspects.length === 0) return NOBODY
  const comingUp = suspects.flatMap(({ isDown, pod }) => (isDown && pod !== undefined ? [availableFromMs(pod, question.minReadyMs)] : []))
  return { suspects, changesAtMs: Math.min(...comingUp.map((ms) => ms ?? Number.POSITIVE_INFINITY)) }
}

function suspectOn(node: NodeView, { revision, minReadyMs, monotonicMs, olderText }: BlockQuestion): Suspect | undefined {
  if (!node.desired) return undefined
  const standing = node.pods.filter(({ terminating }) => !terminating)
  if (standing.some(({ hash }) => hash !== revision)) return undefined
  const [pod] = standing
  // While an old pod ends, its node has not been updated yet.
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
    hasLostNode: pod !== undefined && hasLostNode(node, pod),
    restarts: pod?.restarts ?? 0,
  }
}

/**
 * G6. Both stamps are of the kubelet's own clock, so that one which is wrong misleads nobody. It posts up to ten seconds late
 * that its node is Ready: a node that was NotReady before may look so beside an available pod that has mended it. One whose
 * kubelet is silent (Unknown) has fallen silent since, for before it could not have taken the pod up.
 */
function hasLostNode({ ready, notReadySince }: NodeView, { acknowledged, acknowledgedAt }: FleetPod): boolean {
  if (ready || !acknowledged) return false
  const lostMs = Date.parse(notReadySince ?? '')
  const takenMs = Date.parse(acknowledgedAt ?? '')
  return !(lostMs < takenMs)
}
