import type { RecordedPod, RecordedWrite } from './recorded-write.ts'

/** Which release to measure. */
export interface PaceQuery {
  readonly daemonSet: string
  /** From when, in epoch milliseconds by the server's clock: what was deleted before belongs to another release. */
  readonly sinceMs: number
  /** Nodes that may be down at once (≥ 1). */
  readonly limit: number
}

/** How quick a release was, and how quick its own pods, budget and batches would have let it be. */
export interface ReleasePace {
  /** Nodes whose pod was deleted and that have an available pod again. */
  readonly nodes: number
  /** From the first deletion to the last node's available pod. */
  readonly makespanMs: number
  /** The same for somebody who needs no time to react: same order, budget, batches, and the pods as quick as they were. */
  readonly idealMs: number
  /** From the moment the budget had room again to the next deletion, shortest first; only within a batch. */
  readonly reactionsMs: readonly number[]
}

/**
 * Measures a release by what a recording shows: a node's slot is the time from the accepted deletion of its pod to the first
 * Ready one after it. Batches are told apart by the partition that the DaemonSet announced. `minReadySeconds` is not looked at.
 *
 * @throws {Error} when nothing was deleted, or a node never got a Ready pod again
 */
export function releasePace(writes: Iterable<RecordedWrite>, query: PaceQuery): ReleasePace {
  const slots = slotsOf(writes, query)
  const [first] = slots
  if (first === undefined) throw new Error(`no pod of DaemonSet ${query.daemonSet} was deleted`)
  const batches = batchesOf(slots)
  return {
    nodes: slots.length,
    makespanMs: Math.max(...slots.map(({ endMs }) => endMs)) - first.startMs,
    idealMs: batches.reduce((sum, batch) => sum + idealMs(batch, query.limit), 0),
    reactionsMs: batches.flatMap((batch) => reactionsOf(batch, query.limit)).sort((a, b) => a - b),
  }
}

/** One node's turn: it takes one place of the budget. */
interface Slot {
  readonly startMs: number
  readonly endMs: number
  readonly partition: string | undefined
}

const PARTITION = 'rollouts.kruise.io/daemonset-partition'

function slotsOf(writes: Iterable<RecordedWrite>, { daemonSet, sinceMs }: PaceQuery): readonly Slot[] {
  const slots: Slot[] = []
  const open = new Map<string, Omit<Slot, 'endMs'>>()
  const deleted = new Set<string>()
  let partition: string | undefined
  for (const { kind, t, type, o } of writes) {
    if (kind === 'DaemonSet' && o['name'] === daemonSet)
      partition = (o['annotations'] as Readonly<Record<string, string>> | undefined)?.[PARTITION]
    if (kind !== 'Pod') continue
    const { uid, node, owner, ready, deleting } = o as unknown as RecordedPod
    if (owner !== daemonSet || node === undefined) continue
    const isEnded = deleting || type === 'DELETED'
    if (isEnded && !deleted.has(uid)) {
      deleted.add(uid)
      if (t > sinceMs) open.set(node, open.get(node) ?? { startMs: t, partition })
    }
    const slot = open.get(node)
    if (slot === undefined || isEnded || !ready) continue
    open.delete(node)
    slots.push({ ...slot, endMs: t })
  }
  const [unfinished] = open.keys()
  if (unfinished !== undefined) throw new Error(`node ${unfinished} has no Ready pod again`)
  return slots.sort((a, b) => a.startMs - b.startMs)
}

function batchesOf(slots: readonly Slot[]): readonly (readonly Slot[])[] {
  return [...Map.groupBy(slots, ({ partition }) => partition).values()]
}

/** Each slot begins as soon as a place of the budget is free; the next batch when all of this one are available. */
function idealMs(batch: readonly Slot[], limit: number): number {
  const freeAtMs = Array.from({ length: Math.min(limit, batch.length) }, () => 0)
  for (const { startMs, endMs } of batch) {
    const place = freeAtMs.indexOf(Math.min(...freeAtMs))
    freeAtMs[place] = freeAtMs[place]! + endMs - startMs
  }
  return Math.max(...freeAtMs)
}

/** The n-th deletion after the first `limit` of a batch could go when the n-th node of the batch was available again. */
function reactionsOf(batch: readonly Slot[], limit: number): readonly number[] {
  return batch.slice(limit).map(({ startMs }, at) => {
    const ends = batch
      .slice(0, limit + at)
      .map(({ endMs }) => endMs)
      .sort((a, b) => a - b)
    return startMs - ends[at]!
  })
}
