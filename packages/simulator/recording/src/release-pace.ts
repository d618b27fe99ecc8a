import { lowerBoundMs } from './lower-bound.ts'
import type { RecordedPod, RecordedWrite } from './record/recorded-write.ts'

/** Release to measure. */
export interface PaceQuery {
  readonly daemonSet: string
  /** Start in epoch milliseconds by the server's clock; earlier deletions belong to another release. */
  readonly sinceMs: number
  /** Nodes that may be down at once (≥ 1). */
  readonly limit: number
}

/** Pace of a release, and the pace that its pods, budget and batches would have allowed. */
export interface ReleasePace {
  /** Number of nodes whose pod was deleted and that have an available pod again. */
  readonly nodes: number
  /** Milliseconds from the first deletion to the last node's available pod. */
  readonly makespanMs: number
  /** The same for an executor without reaction time: same order, budget, batches and pod durations. */
  readonly idealMs: number
  /** Lower bound of the makespan for these pods, budget and batches, with the nodes of a batch in any order. */
  readonly boundMs: number
  /** The same if batches could overlap. */
  readonly boundWithoutBatchesMs: number
  /** Milliseconds from the last change of the DaemonSet's spec before the first deletion to that deletion; null without such a change. */
  readonly firstDeletionMs: number | null
  /** Milliseconds from free budget to the next deletion, shortest first; only within a batch. */
  readonly reactionsMs: readonly number[]
}

/**
 * Measures a release from a recording. A node's slot is the time from the accepted deletion of its pod to its next Ready pod. Batches are
 * told apart by the published partition of the DaemonSet. Ignores `minReadySeconds`.
 *
 * @throws {Error} when no pod was deleted, or a node never got a Ready pod again
 */
export function releasePace(writes: Iterable<RecordedWrite>, query: PaceQuery): ReleasePace {
  const entries = [...writes]
  const slots = slotsOf(entries, query)
  const [first] = slots
  if (first === undefined) throw new Error(`no pod of DaemonSet ${query.daemonSet} was deleted`)
  const batches = batchesOf(slots)
  const changedMs = changedBefore(entries, query, first.startMs)
  const bound = (some: readonly Slot[]): number =>
    lowerBoundMs(
      some.map(({ startMs, endMs }) => endMs - startMs),
      query.limit,
    )
  return {
    nodes: slots.length,
    makespanMs: Math.max(...slots.map(({ endMs }) => endMs)) - first.startMs,
    idealMs: batches.reduce((sum, batch) => sum + idealMs(batch, query.limit), 0),
    boundMs: batches.reduce((sum, batch) => sum + bound(batch), 0),
    boundWithoutBatchesMs: bound(slots),
    firstDeletionMs: changedMs === null ? null : first.startMs - changedMs,
    reactionsMs: batches.flatMap((batch) => reactionsOf(batch, query.limit)).sort((a, b) => a - b),
  }
}

/** One node's slot, which takes one unit of the budget. */
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

/** Generations rise with changes of the spec; the first one that is seen is the initial state. */
function changedBefore(writes: readonly RecordedWrite[], { daemonSet, sinceMs }: PaceQuery, beforeMs: number): number | null {
  let generation: unknown
  let changedMs: number | null = null
  for (const { kind, t, o } of writes) {
    if (t > beforeMs) break
    if (kind !== 'DaemonSet' || o['name'] !== daemonSet) continue
    if (generation !== undefined && o['generation'] !== generation && t >= sinceMs) changedMs = t
    generation = o['generation']
  }
  return changedMs
}

function batchesOf(slots: readonly Slot[]): readonly (readonly Slot[])[] {
  return [...Map.groupBy(slots, ({ partition }) => partition).values()]
}

/** Each slot starts as soon as budget is free, and the next batch when all nodes of this one are available. */
function idealMs(batch: readonly Slot[], limit: number): number {
  const freeAtMs = Array.from({ length: Math.min(limit, batch.length) }, () => 0)
  for (const { startMs, endMs } of batch) {
    const place = freeAtMs.indexOf(Math.min(...freeAtMs))
    freeAtMs[place] = freeAtMs[place]! + endMs - startMs
  }
  return Math.max(...freeAtMs)
}

/** The n-th deletion after the first `limit` of a batch could start when the n-th node of the batch was available again. */
function reactionsOf(batch: readonly Slot[], limit: number): readonly number[] {
  return batch.slice(limit).map(({ startMs }, at) => {
    const ends = batch
      .slice(0, limit + at)
      .map(({ endMs }) => endMs)
      .sort((a, b) => a - b)
    return startMs - ends[at]!
  })
}
