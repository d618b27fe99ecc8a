import type { RecordedPod, RecordedWrite } from '../record/recorded-write.ts'

/** Pods that request something and belong to no DaemonSet of a release, or to another one. */
export interface ForeignPods {
  /** Called for each write, before it is applied to the world. */
  onWrite(write: RecordedWrite): void
  /** Whether such a pod was on the node, or waited for any node, at a moment since `sinceMs`. @param ownerUid DaemonSet whose own pods do not count */
  mayHaveHeldRoom(node: string, sinceMs: number, ownerUid: string | undefined): boolean
  /** Whether such a pod is on the node, and each one there was created before `beforeMs`. */
  holdsRoom(node: string, beforeMs: number, ownerUid: string | undefined): boolean
}

interface Story {
  readonly ownerUid: string | undefined
  readonly createdMs: number
  /** Undefined while it waits. */
  readonly node: string | undefined
  readonly endedMs: number
}

/** Starts without pods. */
export function followForeignPods(): ForeignPods {
  const stories = new Map<string, Story>()
  const others = (ownerUid: string | undefined): readonly Story[] => [...stories.values()].filter((story) => story.ownerUid !== ownerUid)
  return {
    onWrite({ kind, type, o, t }) {
      const pod = o as unknown as RecordedPod
      if (kind !== 'Pod' || pod.requests !== true) return
      const { ownerUid, uid, node } = pod
      const createdMs = stories.get(uid)?.createdMs ?? t
      const hasEnded = type === 'DELETED' || pod.phase === 'Succeeded' || pod.phase === 'Failed'
      stories.set(uid, {
        ownerUid,
        createdMs,
        node: pod.bound === true ? node : undefined,
        endedMs: hasEnded ? t : Number.POSITIVE_INFINITY,
      })
    },
    mayHaveHeldRoom: (node, sinceMs, ownerUid) =>
      others(ownerUid).some((story) => story.endedMs >= sinceMs && (story.node === undefined || story.node === node)),
    holdsRoom(node, beforeMs, ownerUid) {
      const there = others(ownerUid).filter((story) => story.node === node && story.endedMs === Number.POSITIVE_INFINITY)
      return there.length > 0 && there.every(({ createdMs }) => createdMs < beforeMs)
    },
  }
}
