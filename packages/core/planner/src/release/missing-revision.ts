import type { FleetView } from '@tranche/fleet'
import { type ControllerRevision, type DaemonSet, rolloutOf, TOUCHED_ANNOTATION } from '@tranche/kube-types'
import type { PatchOperation } from '@tranche/flight'
import type { BatchReleasePlan } from './batch-release-plan.ts'
import { daemonSetPatch } from './daemon-set-patch.ts'
import { discoverRevisions } from './discover-revisions.ts'
import { isInCharge, type ReleaseView } from './release-view.ts'
import type { Wanted } from './wanted-allowance.ts'

/** For how long the ControllerRevision of the template may be missing before the DaemonSet is touched, and between two touches. Milliseconds. */
const PATIENCE_MS = 30_000

/** What tells whether the template has a ControllerRevision. */
export interface TemplateReading {
  readonly daemonSet: DaemonSet
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
}

/**
 * Whether the DaemonSet controller has observed the template, and no ControllerRevision of this DaemonSet holds it. Usually our watch lags.
 * A DaemonSet that was deleted and created again can stay so: its controller uses the revision of the one before until the garbage
 * collector has taken that, and makes another only when it looks at the DaemonSet again.
 */
export function isTemplateUnkept(reading: TemplateReading): boolean {
  const discovery = discoverRevisions({ ...reading, lastStable: undefined })
  return discovery.kind === 'pending' && discovery.why === 'revision'
}

/** Milliseconds until the DaemonSet is touched, since when the revision has been missing; 0: now. */
export function untilTouchMs(sinceMs: number, monotonicMs: number): number {
  return Math.max(0, sinceMs + PATIENCE_MS - monotonicMs)
}

/** A change of the DaemonSet makes its controller look at it again. */
export function touchPatch(daemonSet: DaemonSet, nowMs: number): readonly PatchOperation[] | null {
  return daemonSetPatch(daemonSet, { annotations: { [TOUCHED_ANNOTATION]: new Date(nowMs).toISOString() } })
}

/** Whether a BatchRelease without a Rollout lacks the ControllerRevision of the template. Where there is a Rollout, its pass touches. */
export function isReleaseRevisionMissing({ release, daemonSet, revisions, fleet }: Omit<ReleaseView, 'watched'>): boolean {
  if (daemonSet === undefined || rolloutOf(release) !== undefined) return false
  return isTemplateUnkept({ daemonSet, revisions, fleet })
}

/** In place of waiting longer for the revision, before a batch and before the DaemonSet is let go. Beside an active OpenKruise controller nothing of ours acts. */
export function touchInsteadOfWaiting(view: ReleaseView, wanted: Wanted, plan: BatchReleasePlan): BatchReleasePlan {
  const { release, daemonSet, kruise, revisionMissingSinceMs: sinceMs, monotonicMs } = view
  if (plan.kind !== 'wait' || kruise !== null || daemonSet === undefined || sinceMs === null || sinceMs === undefined) return plan
  const isGoing = release.metadata.deletionTimestamp !== undefined && isInCharge(view, daemonSet)
  if (wanted.kind !== 'pending' && !isGoing) return plan
  const leftMs = untilTouchMs(sinceMs, monotonicMs)
  if (leftMs > 0) return { ...plan, recheckAfterMs: Math.min(plan.recheckAfterMs ?? leftMs, leftMs) }
  const patch = touchPatch(daemonSet, view.nowMs)
  return patch === null ? plan : { kind: 'patchDaemonSet', why: 'touch', patch }
}
