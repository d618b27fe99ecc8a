import type { WatchedNode } from '@tranche/api-schema'
import type { Suspect } from './suspects.ts'

/**
 * Restarts on a node since its update: those of its pod, and those of its earlier pods of the release.
 *
 * @param watched recorded facts about the node
 */
export function restartsSinceUpdate({ pod, restarts }: Suspect, watched: WatchedNode | undefined): number {
  if (watched === undefined) return restarts
  const { uid, seen = 0, restarts: before = 0, ignoredRestarts = 0 } = watched
  const earlier = before - ignoredRestarts
  if (pod === undefined || uid === undefined) return earlier + seen + restarts
  return earlier + (pod.uid === uid ? Math.max(seen, restarts) : seen + restarts)
}
