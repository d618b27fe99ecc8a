import type { RecordedPod } from '@tranche/recording'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

/** Time for which a node was down: from the accepted deletion until another pod is Ready. Epoch milliseconds. */
export interface Slot {
  readonly node: string
  readonly startMs: number
  readonly endMs: number
}

/** @returns slots of the nodes on which a pod was deleted since `sinceMs`, by start */
export function slotsOf(stage: Stage, sinceMs: number): readonly Slot[] {
  const open = new Map<string, { readonly startMs: number; readonly uid: string }>()
  const slots: Slot[] = []
  for (const { t, kind, o } of stage.recording()) {
    const pod = o as unknown as RecordedPod
    if (kind !== 'Pod' || t < sinceMs || pod.owner !== stageKey.name || pod.node === undefined) continue
    const slot = open.get(pod.node)
    if (pod.deleting && slot === undefined) open.set(pod.node, { startMs: t, uid: pod.uid })
    else if (slot !== undefined && pod.uid !== slot.uid && pod.ready && !pod.deleting) {
      slots.push({ node: pod.node, startMs: slot.startMs, endMs: t })
      open.delete(pod.node)
    }
  }
  return slots.toSorted((a, b) => a.startMs - b.startMs)
}

/**
 * Shortest time for the same slots in the same order, with `limit` slots at once. A batch starts when the previous one has ended, and a
 * slot when one is free.
 *
 * @returns milliseconds from the first start to the last end
 */
export function idealMakespan(
  slots: readonly Slot[],
  { limit, sizes }: { readonly limit: number; readonly sizes: readonly number[] },
): number {
  let nowMs = 0
  let from = 0
  for (const size of sizes) {
    const lanes = Array.from({ length: limit }, () => nowMs)
    for (const { startMs, endMs } of slots.slice(from, size)) {
      const first = lanes.indexOf(Math.min(...lanes))
      lanes[first] = (lanes[first] ?? 0) + endMs - startMs
    }
    nowMs = Math.max(...lanes)
    from = size
  }
  return nowMs
}
