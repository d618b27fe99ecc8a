import { type FrozenWatch, frozenWatchSchema, type StoppedTime, type WatchedNode } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'

/** Longest text of what is remembered of single nodes, in characters: 100 of them, with names of up to 63. Other annotations need room. */
const MAX_NODES_LENGTH = 32_768

/**
 * What a release that is frozen leaves to the next of the same revision, so that its pods stay pods of a release. Judged by
 * the new one alone they would be too old to be of it, and a version that fails late would never be found bad. It counts
 * no node against the version that was bad before its update (product §5): what was so was in the record, which is carried
 * over too, and what the last release did not judge stays older than `startedAt`. The pods alone could not tell: one that
 * crashes again and again is Ready in between, now as then.
 *
 * @param revision that was released, whatever template the DaemonSet has by now
 * @param known of the release that ends, which was stopped for that
 */
export function watchToFreeze(
  { metadata }: DaemonSet,
  revision: string,
  known: { readonly stopped: StoppedTime; readonly watched: readonly WatchedNode[]; readonly nowMs: number },
): FrozenWatch {
  const stopped = { ...known.stopped, since: known.stopped.since ?? new Date(known.nowMs).toISOString() }
  const nodes = JSON.stringify(known.watched).length <= MAX_NODES_LENGTH ? known.watched : []
  return { workload: metadata.uid, revision, stopped, nodes }
}

/** @returns what a release of this revision was frozen with; null where the annotation says nothing of it that can be read */
export function frozenWatch({ metadata }: DaemonSet, revision: string | undefined): FrozenWatch | null {
  const text = metadata.annotations?.[daemonSetAnnotations.frozen]
  const { success, data } = frozenWatchSchema.safeParse(text === undefined ? undefined : watchIn(text))
  if (!success || data.workload !== metadata.uid || data.revision !== revision) return null
  if (!isTime(data.stopped.startedAt) || !isTime(data.stopped.since)) return null
  return { ...data, nodes: data.nodes.filter(({ since, downSince = since }) => isTime(since) && isTime(downSince)) }
}

function watchIn(text: string): unknown {
  try {
    const frozen: unknown = JSON.parse(text)
    return typeof frozen === 'object' && frozen !== null && 'watch' in frozen ? frozen.watch : undefined
  } catch {
    return undefined
  }
}

function isTime(text: string | undefined): boolean {
  return !Number.isNaN(Date.parse(text ?? ''))
}
