import type { FleetView } from '@tranche/fleet'
import { type ControllerRevision, type DaemonSet, rolloutOf, TOUCHED_ANNOTATION } from '@tranche/kube-types'
import type { PatchOperation } from '@tranche/fence'
import type { BatchReleasePlan } from './view/batch-release-plan.ts'
import { daemonSetPatch } from './view/daemon-set-patch.ts'
import { discoverRevisions } from './view/discover-revisions.ts'
import { isInCharge, type ReleaseView } from './view/release-view.ts'
import type { Wanted } from './progress/wanted-allowance.ts'

/** How long (ms) the ControllerRevision of the template may be missing before the DaemonSet is touched, and between two touches. */
const PATIENCE_MS = 30_000

/** Input of the check for the template's ControllerRevision. */
export interface TemplateReading {
  readonly daemonSet: DaemonSet
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
}

/**
 * Whether the DaemonSet controller observed the template while no ControllerRevision of this DaemonSet holds it. Usually our
 * watch lags. A recreated DaemonSet can stay so: its controller uses the former object's revision until the garbage collector
 * deletes it, and creates another only when it syncs the DaemonSet again.
 */
export function isTemplateUnkept(reading: TemplateReading): boolean {
  const discovery = discoverRevisions({ ...reading, lastStable: undefined })
  return discovery.kind === 'pending' && discovery.why === 'revision'
}

/** Milliseconds until the DaemonSet is touched for a revision missing since `sinceMs`; 0: now. */
export function untilTouchMs(sinceMs: number, monotonicMs: number): number {
  return Math.max(0, sinceMs + PATIENCE_MS - monotonicMs)
}

/** A change of the DaemonSet makes its controller sync it again. */
export function touchPatch(daemonSet: DaemonSet, nowMs: number): readonly PatchOperation[] | null {
  return daemonSetPatch(daemonSet, { annotations: { [TOUCHED_ANNOTATION]: new Date(nowMs).toISOString() } })
}

/**
 * Whether a BatchRelease without a Rollout lacks the ControllerRevision of the template. With a Rollout, the Rollout's pass
 * touches the DaemonSet.
 */
export function isReleaseRevisionMissing({ release, daemonSet, revisions, fleet }: Omit<ReleaseView, 'watched'>): boolean {
  if (daemonSet === undefined || rolloutOf(release) !== undefined) return false
  return isTemplateUnkept({ daemonSet, revisions, fleet })
}

/**
 * Replaces a longer wait for the revision, before a batch and before detaching. Tranche writes nothing while OpenKruise's
 * controller is active.
 */
export function touchInsteadOfWaiting(view: ReleaseView, wanted: Wanted, plan: BatchReleasePlan): BatchReleasePlan {
  const { release, daemonSet, kruise, revisionMissingSinceMs: sinceMs, monotonicMs } = view
  if (plan.kind !== 'wait' || kruise !== null || daemonSet === undefined || sinceMs === null || sinceMs === undefined) return plan
  const isDeletedOrDisabled = release.metadata.deletionTimestamp !== undefined && isInCharge(view, daemonSet)
  if (wanted.kind !== 'pending' && !isDeletedOrDisabled) return plan
  const leftMs = untilTouchMs(sinceMs, monotonicMs)
  if (leftMs > 0) return { ...plan, recheckAfterMs: Math.min(plan.recheckAfterMs ?? leftMs, leftMs) }
  const patch = touchPatch(daemonSet, view.nowMs)
  return patch === null ? plan : { kind: 'patchDaemonSet', why: 'touch', patch }
}
