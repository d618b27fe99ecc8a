import { daemonSetAnnotations } from '@tranche/kube-types'
import type { BatchProgress } from './batch-progress.ts'
import type { ReleaseView } from './release-view.ts'

/** How long (ms) the last batch must still stay ready, in which a crash still counts; Infinity while it is not ready. */
export function settleLeftMs({ release, nowMs }: ReleaseView, progress: BatchProgress): number {
  const canary = release.status?.canaryStatus
  if (progress.desired === 0) return 0
  if (progress.state !== 'Ready' || canary?.batchState !== 'Ready') return Number.POSITIVE_INFINITY
  return Date.parse(canary.batchReadyTime ?? '') + (release.spec.tranche?.finalSettleSeconds ?? 0) * 1000 - nowMs
}

/**
 * The nodes that a release which is otherwise over leaves behind: those that still run an old pod because they are
 * NotReady, and those that were updated, are not well and are tolerated. Empty while the release is not over.
 */
export function nodesLeft(view: ReleaseView, progress: BatchProgress): readonly string[] {
  const { spec, status } = view.release
  if (spec.releasePlan.batchPartition !== undefined || status?.phase !== 'Finalizing' || settleLeftMs(view, progress) > 0) return []
  const unsettled = new Set((status.flight?.permits ?? []).map(({ node }) => node))
  const unwell = [...progress.unwell.map(({ node }) => node), ...progress.between]
  return [...progress.old, ...unwell.filter((node) => unsettled.has(node))]
}

/** The release is over for everybody who reads `in-progressing`, though nodes are left; once it is, it stays so. */
export function isOverButForNodesLeft(view: ReleaseView, progress: BatchProgress): boolean {
  const { spec, status } = view.release
  if (spec.releasePlan.batchPartition !== undefined || status?.phase !== 'Finalizing') return false
  return nodesLeft(view, progress).length > 0 || !(daemonSetAnnotations.inProgressing in (view.daemonSet?.metadata.annotations ?? {}))
}
