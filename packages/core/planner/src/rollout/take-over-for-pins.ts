import type { PatchOperation } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { discoverRevisions } from '../release/view/discover-revisions.ts'
import { controlledBy } from '../release/view/release-view.ts'
import { daemonSetPatch, strategyOf, takeOverStrategy } from '../release/view/daemon-set-patch.ts'
import { isMidSurge } from '../release/progress/strategy-drift.ts'
import { obstacleOf } from './states/obstacle-of.ts'
import { isDeletedOrDisabled, onDeletePolicy } from './held/on-delete.ts'
import { isRollingBack } from './held/way-back.ts'
import { isUnderWay } from './release/release-spec.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** When a Rollout may change the template of its DaemonSet to pin config. */
export type PinTiming =
  /** Not at all: another controller is in charge, or something prevents acting on the Rollout. */
  | { readonly kind: 'none' }
  /**
   * Not now. `strategy`: a release in charge decides about it, a node has two pods, or the DaemonSet controller has yet to observe the template.
   * `rollback`: one is in progress, and its template stays as it is. Copies that the template names are created nevertheless.
   */
  | { readonly kind: 'later'; readonly until: 'strategy' | 'rollback' }
  /** In a patch that tests the resourceVersion, and contains these operations too. */
  | { readonly kind: 'now'; readonly operations: readonly PatchOperation[] }

/**
 * Decides whether config may be pinned. The native controller must not act on the new template, so the strategy becomes `OnDelete` in the same
 * write, as admission does it for a user's template.
 */
export function takeOverForPins(view: RolloutView): PinTiming {
  const { rollout, daemonSet, fleet, strategyScope } = view
  // A release that is completed first has copies like any other; one that is frozen or rolled back stays as it is.
  if (isDeletedOrDisabled(rollout) && !isCompletedFirst(view)) return { kind: 'none' }
  if (daemonSet === undefined || obstacleOf(view) !== null) return { kind: 'none' }
  const { annotations = {}, deletionTimestamp } = daemonSet.metadata
  if (deletionTimestamp !== undefined || annotations[daemonSetAnnotations.rollout] !== rollout.metadata.name) return { kind: 'none' }
  if (isRollingBack(view)) return { kind: 'later', until: 'rollback' }
  // A release counts who changes the strategy (G11), and under `OnDelete` a surge would lose the newer pods.
  if (strategyOf(daemonSet) !== 'OnDelete' && (isHeldByRelease(view, daemonSet) || isMidSurge(fleet)))
    return { kind: 'later', until: 'strategy' }
  const change = takeOverStrategy(daemonSet)
  // Without admission, the release itself says that it is in progress.
  const says =
    strategyScope === 'release' ? { [daemonSetAnnotations.inProgressing]: JSON.stringify({ rolloutName: rollout.metadata.name }) } : {}
  const patch = daemonSetPatch(daemonSet, { ...change, annotations: { ...change.annotations, ...says } }) ?? []
  return { kind: 'now', operations: patch.filter(({ path }) => path !== '/metadata/uid' && path !== '/metadata/resourceVersion') }
}

/** Whether a release runs, or is held before its start, and control ends with its completion. Without one, nothing may begin. */
function isCompletedFirst({ rollout, daemonSet, revisions, fleet }: RolloutView): boolean {
  if (daemonSet === undefined || onDeletePolicy(rollout) !== 'Complete') return false
  const { canaryStatus, stableRevision } = rollout.status ?? {}
  const found = discoverRevisions({ daemonSet, revisions, fleet, lastStable: stableRevision })
  return (canaryStatus !== undefined && isUnderWay(canaryStatus)) || (found.kind === 'found' && found.canary !== stableRevision)
}

/** Whether a release in charge decides about the strategy. One of another template does not: the release of the present one takes over. */
function isHeldByRelease({ release, revisions, fleet }: RolloutView, daemonSet: DaemonSet): boolean {
  const control = controlledBy(daemonSet)
  if (control === undefined) return false
  if (release?.metadata.uid !== control.uid || release.metadata.deletionTimestamp !== undefined) return true
  const found = discoverRevisions({ daemonSet, revisions, fleet, lastStable: undefined })
  return found.kind === 'pending' || found.canary === release.spec.tranche?.canaryRevision
}
