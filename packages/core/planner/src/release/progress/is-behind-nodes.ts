import type { ReleaseView } from '../view/release-view.ts'

/**
 * How long (ms) a view with fewer desired nodes than the DaemonSet controller counts is taken for one that is behind. After that, both count
 * in other ways, and the view decides: no release waits for ever (G6).
 */
const BEHIND_MS = 300_000

/** Whether the DaemonSet controller counts more desired nodes, for the generation that we see, than our view of nodes shows. */
export function showsFewerNodes({ daemonSet, fleet }: Pick<ReleaseView, 'daemonSet' | 'fleet'>): boolean {
  const { observedGeneration, desiredNumberScheduled = 0 } = daemonSet?.status ?? {}
  return observedGeneration === daemonSet?.metadata.generation && desiredNumberScheduled > fleet.desired
}

/**
 * G3: whether our view of nodes is behind, so that a batch may seem complete while nodes of it are missing from the view.
 *
 * @returns how long (ms) that may last; null where it is not so
 */
export function untilNodesShownMs(view: Pick<ReleaseView, 'daemonSet' | 'fleet' | 'fewerNodesSinceMs' | 'monotonicMs'>): number | null {
  if (!showsFewerNodes(view)) return null
  const leftMs = (view.fewerNodesSinceMs ?? view.monotonicMs) + BEHIND_MS - view.monotonicMs
  return leftMs > 0 ? leftMs : null
}
