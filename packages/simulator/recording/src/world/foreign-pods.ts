import type { RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from './daemon-set-story.ts'

/**
 * Pods that request something and are not those of a DaemonSet. A pod of another namespace that names the DaemonSet as its owner is foreign
 * (F15). A pod that is meant for one node waits only for that node.
 */
export interface ForeignPods {
  /** Called for each write, before it is applied to the world. */
  onWrite(write: RecordedWrite): void
  /** Whether such a pod was on the node, or waited for a node that may have been this one, at a moment since `sinceMs` (epoch). */
  mayHaveHeldRoom(node: string, sinceMs: number, daemonSet: DaemonSetStory): boolean
  /** Whether such a pod is on the node and was created at `sinceMs` (epoch) or later. */
  hasNewcomer(node: string, sinceMs: number, daemonSet: DaemonSetStory): boolean
}

interface Story {
  readonly namespace: string | undefined
  readonly ownerUid: string | undefined
  readonly createdMs: number
  /** Node that it runs on or is meant for; undefined while it may run on any. */
  readonly node: string | undefined
  /** When it was bound to its node; infinite while it waits. */
  readonly boundMs: number
  readonly endedMs: number
  /** Node that it was meant for before it was bound. */
  readonly meantFor: string | undefined
}

/** Starts without pods. */
export function followForeignPods(): ForeignPods {
  const stories = new Map<string, Story>()
  const others = ({ namespace, latest }: DaemonSetStory): readonly Story[] =>
    [...stories.values()].filter((story) => story.namespace !== namespace || story.ownerUid !== latest?.uid)
  return {
    onWrite({ kind, type, o, t, namespace }) {
      const pod = o as unknown as RecordedPod
      if (kind !== 'Pod' || pod.requests !== true || pod.helper !== undefined) return
      const before = stories.get(pod.uid)
      const isBound = pod.bound === true
      const hasEnded = type === 'DELETED' || pod.phase === 'Succeeded' || pod.phase === 'Failed'
      stories.set(pod.uid, {
        namespace,
        ownerUid: pod.ownerUid,
        createdMs: before?.createdMs ?? t,
        node: pod.node,
        boundMs: isBound ? Math.min(before?.boundMs ?? t, t) : Number.POSITIVE_INFINITY,
        endedMs: hasEnded ? t : Number.POSITIVE_INFINITY,
        meantFor: isBound ? before?.meantFor : pod.node,
      })
    },
    mayHaveHeldRoom: (node, sinceMs, daemonSet) =>
      others(daemonSet).some((story) => story.endedMs >= sinceMs && (wasOn(story, node) || mayHaveWaitedFor(story, node, sinceMs))),
    hasNewcomer: (node, sinceMs, daemonSet) =>
      others(daemonSet).some((story) => wasOn(story, node) && story.endedMs === Number.POSITIVE_INFINITY && story.createdMs >= sinceMs),
  }
}

function wasOn(story: Story, node: string): boolean {
  return story.node === node && story.boundMs !== Number.POSITIVE_INFINITY
}

function mayHaveWaitedFor({ meantFor, createdMs, boundMs }: Story, node: string, sinceMs: number): boolean {
  return boundMs > createdMs && boundMs >= sinceMs && (meantFor === undefined || meantFor === node)
}
