import { type FrozenWatch, frozenWatchSchema, type StoppedTime, type WatchedNode } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, parseTime, readJson } from '@tranche/kube-types'

/** Maximum length of the watch data per frozen release, in characters: 100 nodes with names of up to 63. Other annotations need room. */
const MAX_NODES_LENGTH = 32_768

/** Watch data of a release that ends. */
interface EndingWatch extends Pick<FrozenWatch, 'begunAt'> {
  readonly stopped: StoppedTime
  readonly watched: readonly WatchedNode[]
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/**
 * Watch data that a frozen release leaves for the next release of the same revision, so that its pods remain pods of a
 * release. Judged by the new release alone they would be too old to belong to it, and a version that fails late would never
 * count as bad. Nodes that were bad before their update do not count against the version (docs/reference/policy.md, failure): the
 * record, which is carried over, says which those are. Pods that the last release did not judge stay older than `startedAt`. The pods alone do
 * not show it: one that keeps crashing is Ready in between.
 *
 * @param revision the one that was released, whatever template the DaemonSet has now
 * @param known watch data of the release that ends, which is stopped for that
 */
export function watchToFreeze({ metadata }: DaemonSet, revision: string, known: EndingWatch): FrozenWatch {
  const stopped = { ...known.stopped, since: known.stopped.since ?? new Date(known.nowMs).toISOString() }
  const nodes = JSON.stringify(known.watched).length <= MAX_NODES_LENGTH ? known.watched : []
  return { workload: metadata.uid, revision, begunAt: known.begunAt, stopped, nodes }
}

/** @returns the watch data with which a release of this revision was frozen; null where the annotation holds none that is readable */
export function frozenWatch({ metadata }: DaemonSet, revision: string | undefined): FrozenWatch | null {
  const text = metadata.annotations?.[daemonSetAnnotations.frozen]
  const { success, data } = frozenWatchSchema.safeParse(text === undefined ? undefined : watchIn(text))
  if (!success || data.workload !== metadata.uid || data.revision !== revision) return null
  if (!isTime(data.stopped.startedAt) || !isTime(data.stopped.since)) return null
  return { ...data, nodes: data.nodes.filter(({ since, downSince = since }) => isTime(since) && isTime(downSince)) }
}

/**
 * G3: when the release began with which this revision was frozen: the nodes that it updated keep their places in the batches of the next one.
 *
 * @returns undefined where none was frozen with it, or nothing says when it began
 */
export function begunWhenFrozen(daemonSet: DaemonSet, revision: string): string | undefined {
  const begunAt = frozenWatch(daemonSet, revision)?.begunAt
  return isTime(begunAt) ? begunAt : undefined
}

function watchIn(text: string): unknown {
  try {
    const frozen: unknown = readJson(text)
    return typeof frozen === 'object' && frozen !== null && 'watch' in frozen ? frozen.watch : undefined
  } catch {
    return undefined
  }
}

function isTime(text: string | undefined): boolean {
  return parseTime(text) !== null
}
