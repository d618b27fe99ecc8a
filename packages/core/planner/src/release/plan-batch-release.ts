import type { BatchRelease, FlightRecord, Hold } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import {
  type Allowance,
  allowanceOf,
  directionOf,
  openRecord,
  type PatchOperation,
  revokeRecord,
  widenRecord,
  withHolds,
  isRevoking,
} from '@tranche/fence'
import {
  BATCH_RELEASE_FINALIZER,
  type DaemonSet,
  daemonSetAnnotations,
  newerResourceVersion,
  kruiseAnnotations,
  ROLLOUTS_API_VERSION,
  rolloutOf,
  TOUCHED_ANNOTATION,
} from '@tranche/kube-types'
import { judgedRelease } from '@tranche/verdict'
import type { BatchReleasePlan, BatchReleaseStatusPatch } from './view/batch-release-plan.ts'
import { annotationPath, type DaemonSetChange, daemonSetPatch, strategyOf, takeOverStrategy } from './view/daemon-set-patch.ts'
import { frozenWatch } from './progress/frozen-watch.ts'
import { planNodeList } from './progress/unseen-nodes.ts'
import { FINALIZED, isFinalized, isStatusOfRelease, isStoppedAtEnd } from './view/is-finalized.ts'
import { inheritedRecord, detachPatch, restoring } from './detach.ts'
import { stoppedSoFar } from './progress/judgement.ts'
import { planGroupLeave, planGroupRest, planGroupTake } from './plan-group.ts'
import { mayOpen } from './progress/group-rules.ts'
import { sayRejectedPatch } from './rejected-wait.ts'
import { restsInGroup } from './progress/needs-group.ts'
import { planWait } from './next-recheck.ts'
import { planLeftToOthers } from './left-to-others.ts'
import { planLabels } from './plan-labels.ts'
import { touchInsteadOfWaiting } from './missing-revision.ts'
import { recordOfRelease, startOfRelease } from './release-start.ts'
import { planReleaseStatus } from './release-status.ts'
import { type ControlInfo, isInCharge, type ReleaseView } from './view/release-view.ts'
import { reassertPatch, strategyDrift } from './progress/strategy-drift.ts'
import { isOverButForNodesLeft, leftBehind, settleLeftMs } from './progress/the-end.ts'
import { takesOver, type Wanted, wantedAllowance } from './progress/wanted-allowance.ts'

/**
 * Decides the next action for one BatchRelease. Pure.
 *
 * Order matters: stops come before publishing, publishing before opening (F8, F9). The status comes last, so that it never
 * claims what is not yet true (G9).
 */
export function planBatchRelease(view: ReleaseView): BatchReleasePlan {
  const left = planLeftToOthers(view)
  if (left !== null) return left
  if (view.schemaGap !== undefined && view.release.metadata.deletionTimestamp === undefined) return planOutdated(view, view.schemaGap)
  const wanted = wantedAllowance(view)
  return sayRejectedPatch(view, touchInsteadOfWaiting(view, wanted, planWanted(view, wanted)))
}

/**
 * The status that becomes true as `record` is written, for the same write: no reader sees one without the other (G9).
 *
 * @returns null where it says nothing new, or may be written later
 */
export function statusWithRecord(view: ReleaseView, record: FlightRecord): BatchReleaseStatusPatch | null {
  const status = { ...view.release.status, flight: record }
  const after = { ...view, release: { ...view.release, status } }
  const plan = planReleaseStatus(after, wantedAllowance(after))
  return plan?.kind === 'writeStatus' ? plan.status : null
}

function planWanted(view: ReleaseView, wanted: Wanted): BatchReleasePlan {
  return (
    planGroupLeave(view, wanted) ??
    planFinalizer(view) ??
    planLostRecord(view, wanted) ??
    planGroupTake(view, wanted) ??
    planStopping(view, wanted) ??
    planDrift(view) ??
    planRecord(view, wanted) ??
    planNodeList(view, wanted) ??
    planEnd(view, wanted) ??
    planLabels(view) ??
    soonerOf(planReleaseStatus(view, wanted), planWait(view, wanted))
  )
}

/**
 * The API server would drop our fields, including the record, so nothing is started. A release in progress is not written to
 * either: its record may still be stored, and becomes readable again with our definitions. Without it no executor deletes
 * anything. Definitions that drop the record leave the status around it, so a release without a status has no record.
 */
function planOutdated({ release }: ReleaseView, gap: string): BatchReleasePlan {
  if (release.status !== undefined) return { kind: 'wait', for: gap, recheckAfterMs: null }
  return { kind: 'writeStatus', status: { phase: 'Preparing', message: gap } }
}

/**
 * F11: the finalizer is removed only when the record is stopped and control was handed back. {@link planEnd} does that once
 * nothing is unsettled, or what is was carried over. Where another client removed control, or the DaemonSet was recreated,
 * nothing settles any more.
 */
function planFinalizer(view: ReleaseView): BatchReleasePlan | null {
  const { release, daemonSet } = view
  const present = release.metadata.finalizers?.includes(BATCH_RELEASE_FINALIZER) ?? false
  if (release.metadata.deletionTimestamp === undefined) return present ? null : { kind: 'setFinalizer', present: true }
  if (!present) return { kind: 'wait', for: 'its deletion', recheckAfterMs: null }
  const record = release.status?.flight
  const isStopped = record === undefined ? !mayHideRecord(view) : record.state === 'stopped'
  return isStopped && !isInCharge(view, daemonSet) ? { kind: 'setFinalizer', present: false } : null
}

/** Whether definitions may hide a record that permits deletions. They keep `observedGeneration`, which no status has before its first record. */
function mayHideRecord({ release, schemaGap }: ReleaseView): boolean {
  return schemaGap !== undefined && release.status?.observedGeneration !== undefined
}

/**
 * F11: this BatchRelease is in charge, so it had a record; other definitions pruned it, or a backup was restored. Or it takes over from one that
 * vanished with its record. Deletions of the lost record may be in flight: until every old pod was touched, nothing is opened and no stop is
 * acknowledged. Definitions that lack the record only hide it: a write would lose it, also that of a new one.
 */
function planLostRecord(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  const { release, daemonSet } = view
  if (release.status?.flight !== undefined || daemonSet === undefined) return null
  if (isInCharge(view, daemonSet) ? isFinalized(view) : !takesOver(view, daemonSet)) return null
  if (view.schemaGap !== undefined) return { kind: 'wait', for: view.schemaGap, recheckAfterMs: null }
  const allowance = wanted.kind === 'allow' ? wanted.allowance : publishedAllowance(daemonSet)
  return { kind: 'restoreRecord', allowance, minReadyMs: (daemonSet.spec.minReadySeconds ?? 0) * 1000 }
}

/** Allowance of the lost record as the DaemonSet publishes it; the new record is stopped and permits nothing. */
function publishedAllowance({ metadata: { uid, generation = 0, annotations = {} } }: DaemonSet): Allowance {
  const revision = annotations[daemonSetAnnotations.canaryRevision] ?? ''
  const partition = Math.max(0, Number(annotations[daemonSetAnnotations.partition] ?? 0) || 0)
  return { workloadUid: uid, generation, revision, size: 0, partition, limit: 1 }
}

/** F8: a stop waits for nothing, and a started revocation is completed, even if the desired state has changed. */
function planStopping(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  const record = view.release.status?.flight
  if (isFinalized(view)) return null
  if (record !== undefined && isRevoking(record))
    return saidUnclear(view, wanted) ?? { kind: 'touchPermits', permits: record.permits, lowerTo: null }
  return wanted.kind === 'stop' ? planStop(view, record, wanted.holds) : null
}

/** G11: in a pause, too, and before the DaemonSet controller has observed it: each moment may cost a pod. */
function planDrift(view: ReleaseView): BatchReleasePlan | null {
  const drift = strategyDrift(view)
  if (drift.kind === 'report') return { kind: 'reportDrift', status: { strategyDrift: drift.recorded }, message: drift.message }
  if (drift.kind !== 'reassert' || view.daemonSet === undefined) return null
  return { kind: 'patchDaemonSet', why: 'reassert', patch: reassertPatch(view.daemonSet) }
}

function planRecord(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  const record = view.release.status?.flight
  if (wanted.kind !== 'allow' || view.daemonSet === undefined || isFinalized(view) || isOver(view, wanted)) return null
  // G11: the strategy stays as the user set it. The record may stay stopped: nothing is left to update.
  if (strategyDrift(view).kind === 'givenIn') return null
  if (restsInGroup(view, wanted.progress)) return planGroupRest(view, record)
  if (!mayOpen(view)) return null
  if (record === undefined) return { kind: 'createRecord', allowance: wanted.allowance }
  return record.state === 'open' ? planOpen(view, view.daemonSet, record, wanted) : planStopped(view, view.daemonSet, record, wanted)
}

/** F8, F10: reports once what keeps a record from being stopped, or its limit from being lowered; then touches the pods again. */
function saidUnclear(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  if (view.unclear === null) return null
  const status = planReleaseStatus(view, wanted)
  return status?.kind === 'writeStatus' ? status : null
}

/** F8: publishes the stop, then revokes the record; a stopped record only gets new reasons. */
function planStop(view: ReleaseView, record: FlightRecord | undefined, holds: readonly Hold[]): BatchReleasePlan | null {
  if (record === undefined) return null
  const unpublished = unpublishedStop(view, record)
  if (unpublished !== null) return { kind: 'patchDaemonSet', why: 'pause', patch: unpublished }
  if (record.state === 'open') return { kind: 'writeRecord', why: 'stop', record: revokeRecord(record, holds), confirm: false }
  return sameHolds(record.holds, holds) ? null : { kind: 'writeRecord', why: 'holds', record: withHolds(record, holds), confirm: false }
}

/** Every stop is published, even without an open record; but a release that detaches removes the key next. */
function unpublishedStop(view: ReleaseView, record: FlightRecord): readonly PatchOperation[] | null {
  const { daemonSet, release } = view
  if (daemonSet === undefined || !isInCharge(view, daemonSet) || view.pauseRefused) return null
  return record.state === 'stopped' && release.metadata.deletionTimestamp !== undefined ? null : pausePatch(daemonSet)
}

/**
 * F9, F11: from stopped to open: inherit, take over, publish, open. The last release's nodes in flight are in our record
 * before publishing removes them from the DaemonSet. The live reads before the opening confirm the removal. The paused
 * annotation is removed last.
 */
function planStopped(view: ReleaseView, daemonSet: DaemonSet, record: FlightRecord, wanted: Wanted & { kind: 'allow' }): BatchReleasePlan {
  const inherited = inheritedRecord(view, daemonSet, record, wanted.allowance.revision)
  if (inherited !== null) return { kind: 'writeRecord', why: 'inherit', record: inherited, confirm: false }
  const watch = inheritedWatch(view, daemonSet, record)
  if (watch !== null) return { kind: 'writeStatus', status: watch }
  const unpublished = planPublish(view, daemonSet, wanted)
  if (unpublished !== null) return unpublished
  const begun = recordOfRelease(view, daemonSet, { record, revision: wanted.allowance.revision })
  const opened = openRecord(begun, wanted.allowance, newestPodIn(view.fleet, record.watermark))
  const open = { kind: 'writeRecord', why: 'open', record: opened, confirm: true } as const
  return record.workloadUid === wanted.allowance.workloadUid ? open : { kind: 'touchOldPods', next: open }
}

/** F2: the watermark of an opening. */
function newestPodIn({ nodes }: FleetView, seen: string): string {
  return nodes.flatMap(({ pods }) => pods.map(({ resourceVersion }) => resourceVersion)).reduce(newerResourceVersion, seen)
}

/** Null where the status already says since when this release is judged, or nothing was frozen. Executors read it from the status. */
function inheritedWatch(view: ReleaseView, daemonSet: DaemonSet, { revision }: FlightRecord): BatchReleaseStatusPatch | null {
  const { spec, status } = view.release
  const watch = frozenWatch(daemonSet, spec.tranche?.canaryRevision ?? revision)
  if (watch === null || status?.stoppedTime?.release === judgedRelease(view.release)) return null
  return { stoppedTime: stoppedSoFar(view), watchedNodes: watch.nodes.length === 0 ? null : watch.nodes }
}

function planOpen(
  view: ReleaseView,
  daemonSet: DaemonSet,
  record: FlightRecord,
  wanted: Wanted & { kind: 'allow' },
): BatchReleasePlan | null {
  const direction = directionOf(record, wanted.allowance)
  if (direction === 'narrows') return { kind: 'writeRecord', why: 'narrow', record: revokeRecord(record, []), confirm: false }
  const unpublished = planPublish(view, daemonSet, wanted)
  if (unpublished !== null) return unpublished
  if (direction === 'widens') return { kind: 'writeRecord', why: 'widen', record: widenRecord(record, wanted.allowance), confirm: true }
  if (direction === 'lowersLimit') return saidUnclear(view, wanted) ?? lowerLimit(record, wanted.allowance.limit)
  const resumed = daemonSetPatch(daemonSet, { annotations: { [daemonSetAnnotations.paused]: null } }, 'values')
  return resumed === null ? null : { kind: 'patchDaemonSet', why: 'resume', patch: resumed }
}

/**
 * F10: lowers only the limit; anything wider is read live first and follows in its own write (F9). Every unexecuted permit is
 * removed: the rule for the last node in flight (F4) relies on one limit for all of them.
 */
function lowerLimit(record: FlightRecord, limit: number): BatchReleasePlan {
  const lowerTo = { ...allowanceOf(record), limit }
  return { kind: 'touchPermits', permits: record.permits, lowerTo }
}

/** Everything one batch needs, in one patch, so that an executor never sees half of it; null when it is published already. */
function planPublish(view: ReleaseView, daemonSet: DaemonSet, wanted: Wanted & { kind: 'allow' }): BatchReleasePlan | null {
  if (strategyOf(daemonSet) !== 'OnDelete' || !(daemonSetAnnotations.originalUpdateStrategy in (daemonSet.metadata.annotations ?? {}))) {
    const patch = daemonSetPatch(daemonSet, takeOverStrategy(daemonSet))
    if (patch !== null) return { kind: 'patchDaemonSet', why: 'takeOver', patch }
  }
  const patch = daemonSetPatch(daemonSet, targetChange(view, daemonSet, wanted), 'values')
  if (patch === null) return null
  const plan: BatchReleasePlan = { kind: 'patchDaemonSet', why: 'publish', patch }
  return view.otherControl === 'vanished' ? { kind: 'touchOldPods', next: plan } : plan
}

function targetChange(
  view: ReleaseView,
  daemonSet: DaemonSet,
  { allowance, stable, progress }: Wanted & { kind: 'allow' },
): DaemonSetChange {
  const { metadata } = view.release
  const owner = rolloutOf(view.release)
  const ended = isOverButForNodesLeft(view, progress)
  return {
    annotations: {
      [daemonSetAnnotations.canaryRevision]: allowance.revision,
      [daemonSetAnnotations.stableRevision]: stable,
      [daemonSetAnnotations.partition]: String(allowance.partition),
      [daemonSetAnnotations.controlInfo]: controlInfo({ ...metadata, begunAt: startOfRelease(view, daemonSet, allowance.revision) }),
      [kruiseAnnotations.revision]: null,
      [kruiseAnnotations.advancedControl]: null,
      [daemonSetAnnotations.unsettled]: null,
      [daemonSetAnnotations.frozen]: null,
      [TOUCHED_ANNOTATION]: null,
      ...(owner !== undefined && { [daemonSetAnnotations.inProgressing]: ended ? null : JSON.stringify({ rolloutName: owner.name }) }),
    },
  }
}

/** Owner reference of the BatchRelease in charge, and when its release began, as in the annotation. */
export function controlInfo({ name, uid, begunAt: at }: ControlInfo): string {
  const owner = { apiVersion: ROLLOUTS_API_VERSION, kind: 'BatchRelease', name, uid, controller: true, blockOwnerDeletion: true }
  return JSON.stringify({ ...owner, begunAt: at })
}

/** The end: without old pods left, the keys and the strategy are given back in one patch. */
function planEnd(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  const { daemonSet, release } = view
  if (daemonSet === undefined || !isInCharge(view, daemonSet)) return null
  const record = release.status?.flight
  if (release.metadata.deletionTimestamp !== undefined) {
    const patch = detachPatch(view, daemonSet)
    return patch === null ? null : { kind: 'patchDaemonSet', why: 'release', patch }
  }
  if (record === undefined || !isOver(view, wanted)) return null
  if (!isStoppedAtEnd(record)) return planStopAtEnd(release, record)
  const patch = daemonSetPatch(daemonSet, restoring(view, daemonSet))
  return patch === null ? null : { kind: 'patchDaemonSet', why: 'restore', patch }
}

/** F11: control changes hands only when the record is stopped, and says that the release is over. */
function planStopAtEnd({ metadata }: BatchRelease, record: FlightRecord): BatchReleasePlan {
  const holds = [{ reason: FINALIZED, id: metadata.uid }]
  if (record.state === 'open') return { kind: 'writeRecord', why: 'stop', record: revokeRecord(record, holds), confirm: false }
  return { kind: 'writeRecord', why: 'holds', record: withHolds(record, holds), confirm: false }
}

/** Whether nothing old is left and nothing is in flight, so that only the DaemonSet must be given back. */
function isOver(view: ReleaseView, wanted: Wanted): boolean {
  const { release, daemonSet } = view
  if (daemonSet === undefined || !isInCharge(view, daemonSet)) return false
  if (release.spec.releasePlan.batchPartition !== undefined || wanted.kind !== 'allow') return false
  // The phase says first that the end has begun; otherwise keys given back would look like keys not yet set.
  if (release.status?.phase !== 'Finalizing' || !isStatusOfRelease(release)) return false
  if (release.metadata.deletionTimestamp !== undefined) return false
  const permits = release.status.flight?.permits.length ?? 0
  if (wanted.progress.old.length > 0 || permits > 0 || settleLeftMs(view, wanted.progress) > 0) return false
  return leftBehind(view, wanted.progress) === null
}

/**
 * Publishes the pause; null when it is published. It only restricts, so it tests only the object's uid and who is in charge:
 * a status that changes with every pod must not delay a stop.
 */
function pausePatch({ metadata }: DaemonSet): readonly PatchOperation[] | null {
  const { annotations = {}, uid } = metadata
  if (annotations[daemonSetAnnotations.paused] === 'true') return null
  const controlPath = annotationPath(daemonSetAnnotations.controlInfo)
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: controlPath, value: annotations[daemonSetAnnotations.controlInfo] },
    { op: 'add', path: annotationPath(daemonSetAnnotations.paused), value: 'true' },
  ]
}

function sameHolds(a: readonly Hold[], b: readonly Hold[]): boolean {
  return a.length === b.length && a.every((hold, at) => hold.reason === b[at]?.reason && hold.id === b[at]?.id)
}

/** A status write that waits must not delay the next timer. */
function soonerOf(status: BatchReleasePlan | null, waiting: BatchReleasePlan & { kind: 'wait' }): BatchReleasePlan {
  if (status === null) return waiting
  if (status.kind !== 'wait' || waiting.recheckAfterMs === null) return status
  return { ...status, recheckAfterMs: Math.min(status.recheckAfterMs ?? waiting.recheckAfterMs, waiting.recheckAfterMs) }
}
