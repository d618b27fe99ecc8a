import { groupNameOf } from '../view/group-view.ts'
import { isAtEnd, isFinalized, isStatusOfRelease } from '../view/is-finalized.ts'
import type { ReleaseView } from '../view/release-view.ts'
import type { BatchProgress } from './batch-progress.ts'
import { isQuiet, mayOpen } from './group-rules.ts'
import { isOverButForNodesLeft } from './the-end.ts'

/**
 * G13: whether a release that may continue waits for its group. Without work it does not: it is over, or only nodes that cannot be updated
 * now are left.
 */
export function needsGroup(view: ReleaseView, progress: BatchProgress): boolean {
  if (mayOpen(view) || isFinalized(view) || restsInGroup(view, progress)) return false
  return !isEnding(view, progress)
}

/**
 * Nothing is left to delete, the last batch was ready, and the record is stopped: the DaemonSet is given back without the group. A batch becomes
 * ready only while the record is open.
 */
function isEnding({ release }: ReleaseView, progress: BatchProgress): boolean {
  const { status } = release
  if (!isAtEnd(release) || !isStatusOfRelease(release)) return false
  return progress.old.length === 0 && status?.canaryStatus?.batchState === 'Ready' && isQuiet(release) && status.flight !== undefined
}

/** Whether only nodes are left that cannot be updated now: the release needs no group until they return. */
export function restsInGroup(view: ReleaseView, progress: BatchProgress): boolean {
  if (groupNameOf(view.release) === undefined || progress.state !== 'Ready') return false
  return isOverButForNodesLeft(view, progress) && view.release.status?.waiting?.reason === 'NodesLeft'
}
