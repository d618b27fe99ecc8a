import type { RecordedNode, RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from '../world/daemon-set-story.ts'
import { followForeignPods } from '../world/foreign-pods.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'

/** Readings of the room are not older than this, and the scheduler needs no longer to find room. */
const USUAL_MS = 30_000

/**
 * G1: where the policy asks for room, a node whose pod we delete has room for the new one. Judged by what becomes of the node: the
 * scheduler must not continue to find no room for the new pod. Tolerated where the template has changed, the node has not been well since, or
 * another pod there was created too late to be known.
 */
export function createRoomJudge(parts: JudgeParts): Judge {
  return new RoomJudge(parts)
}

interface Taken {
  readonly deletion: Deletion
  readonly template: string | undefined
}

class RoomJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #foreign = followForeignPods()
  /** By DaemonSet and node. */
  readonly #taken = new Map<DaemonSetStory, Map<string, Taken>>()
  /** New pods for which the scheduler has found no room, by uid. */
  readonly #waiting = new Map<string, { readonly story: DaemonSetStory; readonly node: string; readonly sinceMs: number }>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onDeletion(deletion: Deletion): void {
    const { daemonSet, decision, pod } = deletion
    const possible = [...daemonSet.terms.possible(decision, this.#parts.observations)]
    if (!possible.every((terms) => terms?.nodes?.room === 'Check')) return
    const byNode = this.#taken.get(daemonSet) ?? new Map<string, Taken>()
    byNode.set(pod.node, { deletion, template: daemonSet.latest?.template })
    this.#taken.set(daemonSet, byNode)
  }

  onWrite(write: RecordedWrite): void {
    this.#judgeUntil(write.t)
    this.#foreign.onWrite(write)
    if (write.kind === 'Pod') this.#followPod(write)
    if (write.kind === 'Node') this.#followNode(write)
  }

  atEnd(lastMs: number): void {
    this.#judgeUntil(lastMs)
  }

  /** A node that was away comes back with other room, and the scheduler may learn late that it is back. */
  #followNode({ o, type }: RecordedWrite): void {
    const { name, ready } = o as unknown as RecordedNode
    if (type !== 'DELETED' && ready === 'True') return
    for (const byNode of this.#taken.values()) byNode.delete(name)
  }

  #followPod({ type, o, namespace, t }: RecordedWrite): void {
    const { uid, owner, node, bound, deleting, unschedulable } = o as unknown as RecordedPod
    const story = owner === undefined ? undefined : this.#parts.world.story(namespace, owner)
    if (story === undefined || node === undefined) return
    const taken = this.#taken.get(story)?.get(node)
    if (taken === undefined || uid === taken.deletion.write.o['uid']) return
    if (bound === true && !deleting) this.#taken.get(story)?.delete(node)
    if (type === 'DELETED' || deleting || bound !== false || unschedulable !== true) this.#waiting.delete(uid)
    else if (!this.#waiting.has(uid)) this.#waiting.set(uid, { story, node, sinceMs: t })
  }

  #judgeUntil(nowMs: number): void {
    for (const [uid, { story, node, sinceMs }] of this.#waiting) {
      if (nowMs - sinceMs < USUAL_MS) continue
      this.#waiting.delete(uid)
      const taken = this.#taken.get(story)?.get(node)
      if (taken !== undefined && !this.#isExcused(taken, node)) this.#report(taken, node, nowMs)
    }
  }

  #isExcused({ deletion: { daemonSet, decision }, template }: Taken, node: string): boolean {
    const { latest } = daemonSet
    const place = daemonSet.node(node)
    const isWell = place?.wanted === true && place.node?.ready === 'True'
    return !isWell || latest?.template !== template || this.#foreign.hasNewcomer(node, decision.atMs - USUAL_MS, daemonSet)
  }

  #report({ deletion }: Taken, node: string, atMs: number): void {
    const text = `its new pod has found no room for ${USUAL_MS / 1_000} s, although the policy asks for room before the old one is deleted`
    this.#parts.breach({ guarantee: 'G1', atMs: Math.max(deletion.atMs, atMs), node, text })
  }
}
