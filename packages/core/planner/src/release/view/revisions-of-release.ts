import type { DaemonSet } from '@tranche/kube-types'
import { type Discovery, discoverRevisions } from './discover-revisions.ts'
import type { ReleaseView } from './release-view.ts'

/**
 * Revisions of a release. The BatchRelease of a Rollout names the stable one. One written by hand keeps the stable one that it found first for as
 * long as it releases the same revision. Most nodes run that revision before the release is over, whether it works or not.
 */
export function revisionsOfRelease(view: Pick<ReleaseView, 'release' | 'revisions' | 'fleet'>, daemonSet: DaemonSet): Discovery {
  const { release, revisions, fleet } = view
  const named = release.spec.tranche?.stableRevision
  const found = discoverRevisions({ daemonSet, revisions, fleet, lastStable: named })
  const { updateRevision, stableRevision } = release.status ?? {}
  if (found.kind === 'pending' || named !== undefined || updateRevision !== found.canary) return found
  return stableRevision === undefined ? found : { ...found, stable: stableRevision }
}
