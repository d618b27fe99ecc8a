import {
  type BatchRelease,
  type BatchReleaseSpec,
  type CanaryStatus,
  type HeldBy,
  type Rollout,
  type RolloutStatus,
  sizeLimits,
} from '@tranche/api-schema'
import {
  FAILURE_ANNOTATION,
  HELD_REVISIONS_ANNOTATION,
  ROLLOUT_FINALIZER,
  ROLLOUT_HASH_ANNOTATION,
  clipText,
  valueIn,
  STEP_NODES_ANNOTATION,
} from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import { isWithinSteps, overReleaseSpec, releaseSpecFor, sameReleaseSpec } from './release/release-spec.ts'
import { isHoldForFailure } from './release/lost-failure.ts'
import { stepOfReplacedPlan } from './release/replaced-plan.ts'
import { planMissingRevision } from './missing-revision.ts'
import { planYieldToKruise } from './yield-to-kruise.ts'
import { rolloutHash } from './view/rollout-hash.ts'
import { lacksStepNodes, mustKeepStepNodesFirst, selectsNodes, stepNodesText } from './view/step-nodes.ts'
import type { NextStatus, Obstacle } from './view/rollout-state.ts'
import { holdsText, mustKeepHoldsFirst, withMemory } from './actions/kept-status.ts'
import { failureCopyText, mustDropFailureFirst, mustKeepFailureFirst } from './release/failure-annotation.ts'
import { isForeign, summarizeBatchRelease } from './release/batch-release-summary.ts'
import { strategyRestored } from './states/rollout-conditions.ts'
import { statusOfEnded } from './states/status-of-ended.ts'
import { isStatusOurs, leftStatus } from './view/left-status.ts'
import { bind, planUnbinding } from './plan-binding.ts'
import { planRevert } from './held/plan-revert.ts'
import { type RolloutPlan, wait } from './view/rollout-plan.ts'
import { outdatedEvent } from './actions/rollout-events.ts'
import { planTerminated } from './plan-terminated.ts'
import { nextRolloutStatus } from './rollout-status.ts'
import { withStall } from './rejected-stall.ts'
import { stopsRelease } from './stops-release.ts'
import { changeOf } from './view/rejected-change.ts'
import type { RolloutView } from './view/rollout-view.ts'
import { statusWithBoundedIdentities } from './actions/bounded-identities.ts'
import { statusWithExactNumbers } from './actions/exact-numbers.ts'
import { mayWriteStatus } from './view/status-writes.ts'

/**
 * Decides the next action for one Rollout. Pure.
 *
 * The status is decided and written first. The BatchRelease's spec is computed from the stored status. A crash between two
 * writes is safe: the next pass resumes.
 */
export function planRollout(read: RolloutView): RolloutPlan {
  const view = withMemory(read, statusOfEnded)
  return planMissingRevision(view, keepStored(view, sayRejected(view, decide(view))))
}

/**
 * Before a change that the API server rejected is tried again, the status says so. Nothing else of it changes: what follows from actions comes
 * after the change, as without a rejection. But a rollback, or a release that does not begin, may be rejected for long: actions are answered meanwhile.
 */
function sayRejected(view: RolloutView, plan: RolloutPlan): RolloutPlan {
  const { rejected } = view
  if (rejected === undefined || changeOf(plan) !== rejected.change) return plan
  const said = nextRolloutStatus(view, rejected)
  if (rejected.change === 'revert' || rejected.change === 'createRelease') {
    const first = planStatus(view, said)
    return first.kind === 'wait' ? plan : first
  }
  const { status: next } = said
  const status = view.rollout.status === undefined ? next : withStall(view.rollout.status, next)
  return status !== null && mayWriteStatus(view, status) ? { kind: 'writeStatus', status, warning: null } : plan
}

/**
 * An API server that drops Tranche fields drops them on every write of the object. A stored status would lose what it
 * records: the stable revision, blocked revisions, answered actions. An event reports it instead.
 */
function keepStored(view: RolloutView, plan: RolloutPlan): RolloutPlan {
  const { rollout, schemaGap } = view
  if (schemaGap === undefined || losesNothing(view, plan)) return plan
  const isSaid = rollout.status?.conditions?.some(({ reason }) => reason === 'CRDOutdated') ?? false
  return { ...wait(schemaGap), ...(!isSaid && { warning: outdatedEvent(schemaGap) }) }
}

/** Whether a write loses nothing that such definitions hide. */
function losesNothing({ rollout, release }: RolloutView, plan: RolloutPlan): boolean {
  // Deleting is a write, too: its finalizer keeps the object. Where the order in its spec can be read, nothing is hidden.
  if (plan.kind === 'deleteRelease') return release?.spec.tranche !== undefined
  if (!writesRollout(plan)) return true
  // A write would drop the nodes of steps, too.
  if (rollout.status === undefined && !selectsNodes(rollout)) return true
  // A Rollout that is being deleted without a release has nothing to record, unless its end waits for other definitions.
  const isWaiting = plan.kind === 'writeStatus' && plan.status.conditions?.some(({ reason }) => reason === 'CRDOutdated')
  return rollout.metadata.deletionTimestamp !== undefined && release === undefined && isWaiting !== true
}

function writesRollout(plan: RolloutPlan): boolean {
  return plan.kind === 'writeStatus' || plan.kind === 'setAnnotations' || (plan.kind === 'setFinalizer' && plan.present)
}

function decide(view: RolloutView): RolloutPlan {
  if (!isDaemonSetRef(view.rollout.spec.workloadRef)) return planDetach(view) ?? wait('another controller: the workload is no DaemonSet')
  const beside = planYieldToKruise(view)
  if (beside !== null) return beside
  const status = statusWithExactNumbers(view) ?? statusWithBoundedIdentities(view)
  if (status !== null) return { kind: 'writeStatus', status, warning: null }
  if (view.rollout.metadata.deletionTimestamp !== undefined) return planDeletion(view)
  if (!hasFinalizer(view.rollout)) return { kind: 'setFinalizer', present: true }
  const left = planLeaving(view)
  if (left !== null) return left
  const next = nextRolloutStatus(view)
  if (next.goesOn) return planGoingOn(view, next)
  const bound = planBinding(view, next)
  const stop = view.rejected?.change === 'bind' ? planStop(view, next) : null
  if (bound !== null && bound.kind !== 'wait') return stop ?? bound
  const own = planOwnRelease(view, next)
  if (own === null) return planStatus(view, next)
  return lacksStepNodes(view.rollout) && !stopsRelease(own, view) ? noteStepNodes(view.rollout) : own
}

/** G9: where the binding is rejected, stops do not wait for it. Null without a new one. */
function planStop(view: RolloutView, next: NextStatus): RolloutPlan | null {
  const plan = planOwnRelease(view, next)
  return plan !== null && stopsRelease(plan, view) ? plan : null
}

/**
 * The workload became another kind: removes all Tranche data, including the finalizer and our status. From then on the
 * Rollout belongs to another controller. Null when nothing is left to remove.
 */
function planDetach(view: RolloutView): RolloutPlan | null {
  const { release, rollout } = view
  if (release !== undefined && !isForeign(view) && isDaemonSetRelease(release)) {
    return release.metadata.deletionTimestamp === undefined ? { kind: 'deleteRelease' } : wait('its BatchRelease to stop')
  }
  const unbound = planUnbindingFormer(view)
  if (unbound !== null) return unbound
  if (!isStatusOurs(rollout.status)) return null
  if (hasFinalizer(rollout)) return { kind: 'setFinalizer', present: false }
  if (rollout.metadata.deletionTimestamp !== undefined) return null
  if (valueIn(rollout.metadata.annotations ?? {}, STEP_NODES_ANNOTATION) !== undefined)
    return { kind: 'setAnnotations', annotations: { [STEP_NODES_ANNOTATION]: null } }
  return { kind: 'writeStatus', status: leftStatus(rollout), warning: null }
}

/** The workload became another DaemonSet: the former one is detached, its BatchRelease first. */
function planLeaving(view: RolloutView): RolloutPlan | null {
  const { release, rollout } = view
  if (release === undefined || isForeign(view) || release.spec.workloadRef?.name === rollout.spec.workloadRef.name) {
    const unbound = planUnbindingFormer(view)
    return unbound?.kind === 'wait' ? null : unbound
  }
  return release.metadata.deletionTimestamp === undefined ? { kind: 'deleteRelease' } : null
}

function planUnbindingFormer(view: RolloutView): RolloutPlan | null {
  return view.former === undefined ? null : planUnbinding({ ...view, ...view.former })
}

function isDaemonSetRelease({ spec }: BatchRelease): boolean {
  return spec.workloadRef !== undefined && isDaemonSetRef(spec.workloadRef)
}

function planOwnRelease(view: RolloutView, next: NextStatus): RolloutPlan | null {
  // Where our fields are dropped, even the order to stop would be; the BatchRelease stops by itself.
  if (view.rollout.spec.disabled === true || isForeign(view) || view.schemaGap !== undefined) return null
  return next.obstacle === null || next.obstacle.holds === false
    ? planReleaseOrRevert(view, next)
    : planStalled(view, next.obstacle, next.hold)
}

/** Ends our control: the BatchRelease stops and detaches, then the binding is removed, then the finalizer. */
function planDeletion(view: RolloutView): RolloutPlan {
  const { release, rollout } = view
  if (!hasFinalizer(rollout)) return wait('its deletion')
  const next = nextRolloutStatus(view)
  if (next.goesOn) return planGoingOn(view, next)
  if (release !== undefined && !isForeign(view)) {
    return release.metadata.deletionTimestamp === undefined ? { kind: 'deleteRelease' } : planTerminating(view, next)
  }
  return planUnbinding(view) ?? planUnbindingFormer(view) ?? planTerminated(view) ?? { kind: 'setFinalizer', present: false }
}

function planTerminating(view: RolloutView, { status, recheckAfterMs }: NextStatus): RolloutPlan {
  return mayWriteStatus(view, status) ? { kind: 'writeStatus', status, warning: null } : wait('its BatchRelease to stop', recheckAfterMs)
}

/** First reports the deletion; then its release continues to its end. */
function planGoingOn(view: RolloutView, next: NextStatus): RolloutPlan {
  if (next.obstacle !== null) return planHold(view, obstacleHold(view, next.obstacle)) ?? planStatus(view, next)
  const said = view.rollout.status?.phase === next.status.phase
  return (said ? planReleaseOrRevert(view, next) : null) ?? planStatus(view, next)
}

/** Binds the DaemonSet before anything else is reported about it; unbinds it when the Rollout is disabled and its release is gone. */
function planBinding(view: RolloutView, next: NextStatus): RolloutPlan | null {
  const { rollout, daemonSet, release } = view
  if (rollout.spec.disabled === true) {
    if (release === undefined || isForeign(view)) return planUnbinding(view)
    return release.metadata.deletionTimestamp === undefined ? { kind: 'deleteRelease' } : null
  }
  if (daemonSet === undefined || (next.obstacle !== null && next.obstacle.binds !== true)) return null
  return bind(view, daemonSet)
}

/** Where there is no BatchRelease, nothing is to be stopped before the template is put back. */
function planReleaseOrRevert(view: RolloutView, { hold }: NextStatus): RolloutPlan | null {
  const revert = hold === null ? planRevert(view) : null
  if (view.release === undefined && revert !== null) return revert
  return planRelease(view, hold) ?? revert
}

/** Makes the BatchRelease match the status, and stops it with `hold` where that comes first. */
function planRelease(view: RolloutView, hold: HeldBy | null): RolloutPlan | null {
  const { release, rollout } = view
  if (release !== undefined && release.metadata.deletionTimestamp !== undefined) return null
  if (isBehindRelease(view)) return wait('its watch to show the Rollout that its BatchRelease was written for', BEHIND_RECHECK_MS)
  if (rollout.status?.phase === 'Healthy' && release !== undefined) return planOverRelease(view, release, hold)
  const spec = withPlanThatRuns(view, withHold(view, releaseSpecFor(view), hold), hold)
  // A Rollout that was being disabled, and is enabled again, has no spec for its release: a hold stops it as it runs.
  if (spec === null && hold !== null) return planHold(view, hold)
  // A step that is gone from the plan is corrected first, because no size follows from it; a hold comes before that.
  if (spec === null || (hold === null && isBeyondSteps(rollout, spec))) return null
  if (release === undefined) return hold === null && !isOfReplacedPlan(view) ? { kind: 'createRelease', spec } : null
  return sameReleaseSpec(release.spec, spec) ? null : { kind: 'updateRelease', spec }
}

/** The status names a step of the replaced plan, or a hold comes while its step is gone from the plan: sizes and nodes stay, and only stops go through. */
function withPlanThatRuns(view: RolloutView, spec: BatchReleaseSpec | null, hold: HeldBy | null): BatchReleaseSpec | null {
  const { rollout, release } = view
  if (spec === null || release === undefined) return spec
  const { releasePlan, tranche } = release.spec
  const isKept = isOfReplacedPlan(view) || (hold !== null && isBeyondSteps(rollout, spec))
  return isKept ? { ...spec, releasePlan, tranche: { ...spec.tranche, nodes: tranche?.nodes } } : spec
}

/** Whether the status names a step that does not fit changed steps: it is written first. */
function isOfReplacedPlan(view: RolloutView): boolean {
  return stepOfReplacedPlan(view, { canary: canaryOf(view.rollout) }) !== null
}

function isBeyondSteps(rollout: Rollout, { releasePlan }: BatchReleaseSpec): boolean {
  return releasePlan.batchPartition !== undefined && !isWithinSteps(rollout, canaryOf(rollout))
}

/** A hold for a verdict stays in its place: only that hold says that there was a verdict. */
function withHold<Spec extends BatchReleaseSpec | null>(view: RolloutView, spec: Spec, hold: HeldBy | null): Spec {
  if (spec === null || hold === null || isHoldForFailure(view, spec.tranche?.hold)) return spec
  return { ...spec, tranche: { ...spec.tranche, hold: toWrittenHold(hold) } }
}

/**
 * The release is over: its BatchRelease is deleted, or stays for the nodes left behind. The status first says that no node is
 * left: later a lagging watch may still show the keys of this release.
 */
function planOverRelease(view: RolloutView, release: BatchRelease, hold: HeldBy | null): RolloutPlan | null {
  const isUnreported = strategyRestored(view.rollout)?.status === 'False' && summarizeBatchRelease(view).completed
  if (release.status?.phase === 'Completed') return isUnreported ? null : { kind: 'deleteRelease' }
  const spec = withHold(view, overReleaseSpec(release, view), hold)
  return sameReleaseSpec(release.spec, spec) ? null : { kind: 'updateRelease', spec }
}

function canaryOf({ status }: Rollout): CanaryStatus {
  if (status?.canaryStatus === undefined) throw new Error('a release was planned without a canaryStatus')
  return status.canaryStatus
}

/** A rolled-back template is restored even while an obstacle stops all deletions, where the obstacle takes aborts (G9). */
function planStalled(view: RolloutView, obstacle: Obstacle, hold: HeldBy | null): RolloutPlan | null {
  const held = planHold(view, hold ?? obstacleHold(view, obstacle))
  return held ?? (obstacle.takesAborts === true && hold === null ? planRevert(view) : null)
}

/** The API server rejects a longer message. */
function toWrittenHold(hold: HeldBy): HeldBy {
  return { ...hold, message: clipText(hold.message, sizeLimits.message) }
}

/** A hold for a verdict stays in its place: only that hold says that there was a verdict. */
function obstacleHold(view: RolloutView, { reason, message }: Obstacle): HeldBy {
  const known = view.release?.spec.tranche?.hold
  return known !== undefined && isHoldForFailure(view, known) ? known : { reason, id: reason, message }
}

/** An obstacle stops the release as it runs, whatever the spec would change. Definitions that drop our fields would drop the order, too. */
function planHold(view: RolloutView, hold: HeldBy): RolloutPlan | null {
  const { release, rollout, schemaGap } = view
  if (schemaGap !== undefined || release === undefined || release.metadata.deletionTimestamp !== undefined || isBehindRelease(view))
    return null
  const tranche = { ...release.spec.tranche, paused: true, hold: toWrittenHold(hold), rolloutGeneration: generationOf(rollout) }
  const spec = { ...release.spec, tranche }
  return sameReleaseSpec(release.spec, spec) ? null : { kind: 'updateRelease', spec }
}

/** Delay (ms) of the next look while the watch is behind. */
const BEHIND_RECHECK_MS = 1_000

/**
 * G9: the BatchRelease was written for a newer Rollout than our watch shows, so our write would be outdated. Users who may write the BatchRelease
 * can claim that: a live read of the Rollout decides.
 */
export function isBehindRelease({ release, rollout, isNewest }: Pick<RolloutView, 'release' | 'rollout' | 'isNewest'>): boolean {
  return isNewest !== true && (release?.spec.tranche?.rolloutGeneration ?? 0) > generationOf(rollout)
}

function planStatus(view: RolloutView, next: NextStatus): RolloutPlan {
  const { status, warning } = next
  const first = planCopies(view.rollout, status)
  if (first !== null) return first
  if (mayWriteStatus(view, status)) return { kind: 'writeStatus', status, warning }
  return planAnnotations(view.rollout) ?? wait(status.message ?? '', next.recheckAfterMs)
}

/** Copies of what must not be lost with a status, written before it. A copy of what it loses is removed before it. */
function planCopies(rollout: Rollout, next: RolloutStatus): RolloutPlan | null {
  const annotations = {
    ...(mustKeepHoldsFirst(rollout, next) && { [HELD_REVISIONS_ANNOTATION]: holdsText(next) }),
    ...((mustKeepFailureFirst(rollout, next) || mustDropFailureFirst(rollout, next)) && { [FAILURE_ANNOTATION]: failureCopyText(next) }),
    ...(mustKeepStepNodesFirst(rollout) && { [STEP_NODES_ANNOTATION]: stepNodesText(rollout) }),
  }
  return Object.keys(annotations).length === 0 ? null : { kind: 'setAnnotations', annotations }
}

function noteStepNodes(rollout: Rollout): RolloutPlan {
  return { kind: 'setAnnotations', annotations: { [STEP_NODES_ANNOTATION]: stepNodesText(rollout) } }
}

/** Annotations for readers, and data no longer needed; everything else comes first. */
function planAnnotations(rollout: Rollout): RolloutPlan | null {
  const { annotations = {} } = rollout.metadata
  const hash = rolloutHash(rollout)
  const wanted = {
    ...(hash !== null && { [ROLLOUT_HASH_ANNOTATION]: hash }),
    [HELD_REVISIONS_ANNOTATION]: holdsText(rollout.status ?? {}),
    [FAILURE_ANNOTATION]: failureCopyText(rollout.status ?? {}),
  }
  const changed = Object.entries(wanted).filter(([key, value]) => (valueIn(annotations, key) ?? null) !== value)
  return changed.length === 0 ? null : { kind: 'setAnnotations', annotations: Object.fromEntries(changed) }
}

function hasFinalizer(rollout: Rollout): boolean {
  return rollout.metadata.finalizers?.includes(ROLLOUT_FINALIZER) ?? false
}

function generationOf({ metadata }: Rollout): number {
  return metadata.generation ?? 0
}
