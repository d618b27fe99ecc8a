import {
  type BatchRelease,
  type BatchReleaseStatus,
  type Failure,
  LISTED_NODES_MAX,
  stalledReasons,
  type Waiting,
} from '@tranche/api-schema'
import { isSameJson, parseTime, timeText } from '@tranche/kube-types'
import { judgedRelease, knownFailure, notableNodes, recoveredSinceOf, stoppedTimeAfter } from '@tranche/verdict'
import { HOLDS_EVERY_MS, holdText } from './blocked-wait.ts'
import { tooManyDeadText } from './counted-wait.ts'
import type { BatchProgress } from './progress/batch-progress.ts'
import type { BatchReleasePlan, BatchReleaseStatusPatch } from './view/batch-release-plan.ts'
import { isFinalized, isStatusOfRelease } from './view/is-finalized.ts'
import { judgementOf, steadyMs, stoppedSoFar } from './progress/judgement.ts'
import { leakedNodes } from './view/leaked-nodes.ts'
import { isBusy } from './plan-group.ts'
import { restsInGroup } from './progress/needs-group.ts'
import { isGroupLeaseName, isHeldBy } from './view/group-view.ts'
import { releasePlanHash } from './view/release-plan-hash.ts'
import type { ReleaseView } from './view/release-view.ts'
import { stableTemplate } from './view/stable-template.ts'
import { strategyDriftOf } from './progress/strategy-drift.ts'
import { unwellText } from './progress/unwell-text.ts'
import { waitingFor } from './waiting-for.ts'
import type { Wanted } from './progress/wanted-allowance.ts'

/** Minimum interval (ms) between writes that change only counts during a batch; every write costs a request. */
const COUNTS_EVERY_MS = 5_000
/** Minimum interval (ms) between writes that change only {@link ordinaryWaits} and counts: in a small batch, they change with every pod. */
const WAITS_EVERY_MS = 2_000
/** Waits that nodes end as they are updated, one after the other, the best one first. Every other wait is written at once. */
const ordinaryWaits: readonly string[] = ['Upgrading', 'NotAvailable', 'BudgetUsedUp']
/** Those between which a batch changes with every pod while its new pods only start: like counts, they say how far it is. */
const startWaits: readonly string[] = ['Upgrading', 'NotAvailable']

/** Plans the write of the status; null when it is up to date. */
export function planReleaseStatus(view: ReleaseView, wanted: Wanted): BatchReleasePlan | null {
  if (view.schemaGap !== undefined) return null
  const after = releaseStatus(view, wanted)
  const before = pick(view.release.status ?? {}, after)
  if (isSameStatus(before, after)) return null
  const leftMs = leftBeforeWrite(view, { before, after, isStarting: isStarting(wanted) })
  return leftMs > 0 ? { kind: 'wait', for: 'counts', recheckAfterMs: leftMs } : { kind: 'writeStatus', status: after }
}

/** A change of the status that is not written yet. */
interface StatusChange {
  readonly before: BatchReleaseStatusPatch
  readonly after: BatchReleaseStatusPatch
  /** @see isStarting */
  readonly isStarting: boolean
}

/** @returns milliseconds until this change may be written; not positive: now, as for a batch that is ready, or waits for worse than before */
function leftBeforeWrite(view: ReleaseView, { before, after, isStarting: starts }: StatusChange): number {
  if (view.statusWrittenMs === null) return 0
  const [was, is] = [withoutCounts(before), withoutCounts(after)]
  const isSameButForStarts = starts && isSameStatus(withoutWaits(was, startWaits), withoutWaits(is, startWaits))
  const isWorse = was.waiting === ordinaryWaits[0] && is.waiting !== was.waiting && !isSameButForStarts
  if (isWorse || !isSameStatus(withoutWaits(was, ordinaryWaits), withoutWaits(is, ordinaryWaits))) return 0
  const isSameHold = holdText(before.waiting) === holdText(after.waiting)
  const isProgress = isSameButForStarts || isSameStatus(was, is)
  const everyMs = !isSameHold ? HOLDS_EVERY_MS : isProgress ? COUNTS_EVERY_MS : WAITS_EVERY_MS
  return everyMs - (view.monotonicMs - view.statusWrittenMs)
}

/** Whether nothing is reported of the updated pods but that they are not available yet. */
function isStarting(wanted: Wanted): boolean {
  return wanted.kind === 'allow' && wanted.progress.unwell.every(({ pod }) => pod.trouble === undefined)
}

function releaseStatus(view: ReleaseView, wanted: Wanted): BatchReleaseStatusPatch {
  const { release } = view
  const record = release.status?.flight
  const base = {
    observedGeneration: acknowledgedGeneration(view, wanted),
    observedRelease: release.spec.tranche?.release ?? '',
    observedReleasePlanHash: releasePlanHash(release.spec.releasePlan),
  }
  if (isFinalized(view))
    return { ...base, ...wellAtTheEnd, phase: 'Completed', message: 'the release is complete', settlingUntil: null, waiting: null }
  if (wanted.kind !== 'allow') {
    const leakedSoFar = record === undefined ? {} : { leaked: leakedNodes(view, record.revision) }
    return {
      ...base,
      ...failures(view, wanted),
      ...notYetBegun(release),
      phase: stoppedPhase(view),
      ...leakedSoFar,
      ...groupLease(view, wanted),
      message: wanted.message,
      settlingUntil: null,
      waiting: waitingFor(view, wanted),
    }
  }
  const { progress } = wanted
  const batch = batchOf(release)
  const isResting = record?.state === 'stopped' && restsInGroup(view, progress)
  const state =
    isResting || (record?.state === 'open' && record.size === progress.size && record.partition === progress.partition)
      ? progress.state
      : 'Upgrading'
  const settlingUntil = endOfSettling(view, progress, state)
  return {
    ...base,
    ...failures(view, wanted),
    phase: release.spec.releasePlan.batchPartition === undefined ? 'Finalizing' : record === undefined ? 'Preparing' : 'Progressing',
    message: `${settlingUntil === null ? batchMessage(progress, state, batch) : settlingMessage(progress, settlingUntil)}${driftNote(view)}`,
    settlingUntil,
    stableRevision: wanted.stable,
    updateRevision: wanted.allowance.revision,
    observedRolloutID: release.spec.releasePlan.rolloutID ?? '',
    observedWorkloadReplicas: progress.desired,
    canaryStatus: {
      batchState: state,
      currentBatch: batch,
      ...(state === 'Ready' && { batchReadyTime: readySince(view, batch) }),
      updatedReplicas: progress.updated,
      updatedReadyReplicas: progress.updatedReady,
    },
    updatedAvailableReplicas: progress.updatedAvailable,
    leaked: leakedNodes(view, wanted.allowance.revision),
    ...groupLease(view, wanted),
    stableTemplate: stableTemplate(view, wanted.stable),
    skippedNodes: [...progress.skipped, ...progress.excluded, ...progress.away].slice(0, LISTED_NODES_MAX),
    waiting: waitingFor(view, wanted),
  }
}

/**
 * The Lease that a release waits for; it stays in the status until the release has given the group up. A text that is no name of such a Lease
 * was written by another client, and is replaced.
 */
function groupLease(view: ReleaseView, wanted: Wanted): Pick<BatchReleaseStatusPatch, 'groupLease'> {
  const { release, group } = view
  if (isBusy(wanted) && group?.wanted === group?.name && group?.refused === null) return { groupLease: group.name }
  const known = release.status?.groupLease
  if (known === undefined || isGroupLeaseName(known)) return {}
  return { groupLease: group !== undefined && isHeldBy(group.lease, release) ? group.name : null }
}

type Failures = Pick<BatchReleaseStatusPatch, 'failure' | 'watchedNodes' | 'stoppedTime'>

const wellAtTheEnd: Failures = { failure: null, watchedNodes: null, stoppedTime: null }

/**
 * Failures of the new version, and the watch data needed to continue judging it. G12: a release that is not judged, because its DaemonSet is
 * missing or not bound, or because it ends, keeps its verdict. So does one that is being deleted, until it is gone: the status of the Rollout may
 * not have it yet (G7).
 */
function failures(view: ReleaseView, wanted: Wanted): Failures {
  const stopped = stoppedTimeAfter(stoppedSoFar(view), judgedRelease(view.release), wanted.kind === 'stop', steadyMs(view))
  const watched = notableNodes(view.watched, { nowMs: steadyMs(view), stopped })
  const judgement = judgementOf(view)
  const failure = judgement === null ? (knownFailure(view.release) ?? null) : judgement.failure
  return { failure, watchedNodes: watched.length === 0 ? null : watched, stoppedTime: stopped }
}

/** G9: a stop is acknowledged when the record is stopped and says why; everything else as soon as it is seen. */
function acknowledgedGeneration(view: ReleaseView, wanted: Wanted): number {
  const { release } = view
  const generation = release.metadata.generation ?? 0
  const record = release.status?.flight
  if (wanted.kind === 'pending') return release.status?.observedGeneration ?? 0
  const stopped = wanted.kind !== 'stop' || record === undefined || (record.state === 'stopped' && record.holds.length > 0)
  const opened = wanted.kind !== 'allow' || record?.state === 'open' || isFinalized(view) || restsInGroup(view, wanted.progress)
  return stopped && opened ? generation : (release.status?.observedGeneration ?? 0)
}

/** A release that stops before it starts must not report the last one's ready batch as its own. */
function notYetBegun(release: BatchRelease): Pick<BatchReleaseStatusPatch, 'canaryStatus'> {
  if (release.status?.canaryStatus === undefined || isStatusOfRelease(release)) return {}
  return { canaryStatus: { batchState: 'Upgrading', currentBatch: batchOf(release), updatedReplicas: 0, updatedReadyReplicas: 0 } }
}

/** Present batch, from 0; the last one where the release is finishing. */
function batchOf({ spec }: BatchRelease): number {
  return spec.releasePlan.batchPartition ?? Math.max(0, (spec.releasePlan.batches?.length ?? 1) - 1)
}

function stoppedPhase({ release }: ReleaseView): NonNullable<BatchReleaseStatus['phase']> {
  if (release.metadata.deletionTimestamp !== undefined) return 'Finalizing'
  const phase = isStatusOfRelease(release) ? release.status?.phase : undefined
  return phase === undefined || phase === '' ? 'Preparing' : phase
}

function readySince({ release, nowMs }: ReleaseView, batch: number): string {
  const before = release.status?.canaryStatus
  const since = before?.currentBatch === batch && before.batchState === 'Ready' ? before.batchReadyTime : undefined
  const isTime = since !== undefined && parseTime(since) !== null
  return isTime && isStatusOfRelease(release) ? since : new Date(nowMs).toISOString()
}

/** @returns when the final settling time ends (RFC 3339), in which a crash still counts; null while it does not run */
function endOfSettling(view: ReleaseView, progress: BatchProgress, state: string): string | null {
  const { releasePlan, tranche } = view.release.spec
  const settleMs = (tranche?.finalSettleSeconds ?? 0) * 1000
  if (releasePlan.batchPartition !== undefined || state !== 'Ready' || settleMs === 0 || progress.desired === 0) return null
  const endMs = (parseTime(readySince(view, batchOf(view.release))) ?? view.nowMs) + settleMs
  return endMs <= view.nowMs ? null : timeText(endMs)
}

function settlingMessage(progress: BatchProgress, until: string): string {
  return `settling: becomes Healthy at ${until} if nothing crashes; ${countsText(progress)}`
}

function batchMessage(progress: BatchProgress, state: string, batch: number): string {
  const counts = countsText(progress)
  const passedOver = passedOverText(progress)
  const excluded = progress.excluded.length > 0 ? `; ${progress.excluded.length} nodes are excluded by the policy` : ''
  const skipped = `${passedOver}${tooManyDeadText(progress)}${excluded}`
  if (state === 'Ready') return `batch ${batch + 1} is ready: ${counts}${skipped}`
  const unwell = unwellText(progress)
  return `batch ${batch + 1}: ${counts}${unwell === '' ? '' : `; not available: ${unwell}`}${skipped}`
}

/** Counts dead nodes apart from others that are skipped. */
function passedOverText({ skipped, exemption }: BatchProgress): string {
  const isDead = new Set(exemption.dead)
  const dead = skipped.filter((node) => isDead.has(node)).length
  const others = skipped.length - dead
  const deadNodes = dead === 0 ? '' : `; ${dead} dead ${dead === 1 ? 'node is' : 'nodes are'} updated on return`
  if (others === 0) return deadNodes
  const away = others === 1 ? '1 node that is NotReady or in maintenance is skipped until it is back' : undefined
  return `${deadNodes}; ${away ?? `${others} nodes that are NotReady or in maintenance are skipped until they are back`}`
}

/** G11: the message mentions strategy drift until the release ends. */
function driftNote({ release }: ReleaseView): string {
  const drift = strategyDriftOf(release)
  if (drift === undefined || drift.release !== (release.spec.tranche?.release ?? '')) return ''
  return `; updateStrategy.type was changed ${drift.rounds === 1 ? 'once' : `${drift.rounds} times`} and set to OnDelete again`
}

function countsText({ updatedAvailable, effectiveSize }: BatchProgress): string {
  // Nodes that others have updated, or all of them before there is anything to release.
  if (updatedAvailable > effectiveSize)
    return `${updatedAvailable} nodes are updated and available, more than the ${effectiveSize} of the batch`
  return `${updatedAvailable} of ${effectiveSize} nodes are updated and available`
}

/** A status without counts. */
interface Words {
  readonly canary: { readonly batchState?: string | undefined }
  readonly waiting: string | null
  readonly [member: string]: unknown
}

/** The status without counts, which change with every pod. */
function withoutCounts(status: BatchReleaseStatusPatch): Words {
  const { message: _message, updatedAvailableReplicas: _available, leaked: _leaked, watchedNodes: _watched, ...words } = status
  const { canaryStatus, waiting: wait, failure, ...rest } = words
  const { updatedReplicas: _updated, updatedReadyReplicas: _ready, ...canary } = canaryStatus ?? {}
  return {
    ...rest,
    canary,
    failure: failureWords(failure),
    waiting: wait === null || wait === undefined ? null : waitWords(wait),
  }
}

/** While a batch is not ready, it is `Upgrading` or `Verifying`, and waits for one or the other, as pods come and go. */
function withoutWaits({ canary, waiting, ...rest }: Words, waits: readonly string[]): unknown {
  const { batchState, ...others } = canary
  return {
    ...rest,
    ...others,
    isReady: batchState === 'Ready',
    waiting: waiting !== null && waits.includes(waiting) ? '' : waiting,
  }
}

/** Restarts, messages and tolerated failures keep changing; whether the failure holds the release, and its reason, is written at once. */
function failureWords(failure: Failure | null | undefined): unknown {
  if (failure === null || failure === undefined) return null
  const { reason, stops, action, release, retry, accepted } = failure
  if (stops !== true) return accepted ?? null
  return { reason, stops, action, release, retry, hasRecovered: recoveredSinceOf(failure) !== undefined, accepted }
}

/** A wait that needs a person is written in full; the text of an ordinary wait changes with every pod. */
function waitWords({ reason, message }: Waiting): string {
  return reason !== 'NodesLeft' && stalledReasons.some((stalled) => stalled === reason) ? `${reason}: ${message}` : reason
}

/** The members of `before` that `after` has; absent ones as null. */
function pick(before: BatchReleaseStatus, after: BatchReleaseStatusPatch): BatchReleaseStatusPatch {
  return Object.fromEntries(Object.keys(after).map((key) => [key, before[key as keyof BatchReleaseStatus] ?? null]))
}

/** Null means removed, so it equals an absent member. */
function isSameStatus(a: unknown, b: unknown): boolean {
  return isSameJson(a, b, (_key, member) => member !== null)
}
