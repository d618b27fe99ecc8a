import { type CanaryStatus, type HeldRevision, waitText } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { oldNodes } from '@tranche/fence'
import { type Discovery, discoverRevisions, type FoundRevisions } from '../../release/view/discover-revisions.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { failedState } from './failed-state.ts'
import { finalisingState } from './finalising-state.ts'
import { nodesToRunFirst } from './first-run.ts'
import { frozenText, nodesLeft } from './frozen-text.ts'
import { heldState } from './held-state.ts'
import { heldTemplate, withRolledBack } from '../held/held-revisions.ts'
import { toHeldRevision } from '../held/to-held-revision.ts'
import { activeKruise, outdatedDefinitions, stalledState, unpinnedConfig, unusablePolicy } from './obstacle-of.ts'
import { endsRelease, onDeletePolicy } from '../held/on-delete.ts'
import { templateToPutBack } from '../held/plan-revert.ts'
import { failureToSay, standingFailure } from '../release/release-failure.ts'
import { isForeign } from '../release/batch-release-summary.ts'
import { isFinalising, isReturn, isUnderWay, nextIndex, stepsOf } from '../release/release-spec.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { startState, toTheEnd, withCounts } from './start-state.ts'

/**
 * The Rollout is deleted or disabled. The annotation `tranche.dev/on-delete` ends its release first, without pauses and under
 * the same budget: forwards (`Complete`) or back (`Rollback`). Otherwise the release stops where it is.
 */
export function teardownState(view: RolloutView, before: RolloutState): RolloutState {
  const isDeleted = view.rollout.metadata.deletionTimestamp !== undefined
  const ending = endingState(view, before)
  if (ending !== null) return { ...ending, phase: isDeleted ? 'Terminating' : 'Disabling', goesOn: true }
  if (isDeleted) return { ...before, phase: 'Terminating', message: detachingText(view) }
  if (view.release !== undefined && !isForeign(view)) return { ...before, phase: 'Disabling', reason: null, message: detachingText(view) }
  return { ...before, canary: disabledCanary(view, before), phase: 'Disabled', reason: null, message: disabledText(view) }
}

/**
 * Argo CD and Flux read a disabled Rollout whose step is not `Completed` as a release left in the middle. That is so while
 * nodes lack the template, and no longer once they have it, however they got it. The stable revision and the DaemonSet's
 * `tranche.dev/frozen` stay: the Rollout, enabled again, resumes from those, and this approves nothing (G3).
 */
function disabledCanary(view: RolloutView, { canary, stableRevision }: RolloutState): CanaryStatus {
  const { daemonSet, rollout } = view
  const left = daemonSet === undefined ? null : nodesLeft(view)
  if (left === null) return canary
  if (left === 0) return isUnderWay(canary) ? { ...canary, currentStepState: 'Completed', nextStepIndex: -1, finalisingStep: '' } : canary
  const isMidRelease = canary.canaryRevision !== stableRevision && isFrozen(daemonSet)
  if (!isMidRelease || canary.currentStepState !== 'Completed') return canary
  const nextStepIndex = nextIndex(canary.currentStepIndex, stepsOf(rollout).length)
  return { ...canary, currentStepState: 'StepPaused', nextStepIndex, finalisingStep: '' }
}

/** Whether a release was frozen here, so that nothing updates the other nodes. */
function isFrozen(daemonSet: DaemonSet | undefined): boolean {
  return daemonSet?.spec.updateStrategy?.type === 'OnDelete' && daemonSetAnnotations.frozen in (daemonSet.metadata.annotations ?? {})
}

/** A DaemonSet frozen during a release is not at rest. */
function disabledText(view: RolloutView): string {
  const { daemonSet } = view
  const frozen = daemonSet !== undefined && isFrozen(daemonSet) ? frozenText(view, daemonSet, {}) : null
  return frozen === null ? 'disabled: Tranche does not control the DaemonSet' : `disabled in mid-release: ${frozen}`
}

/** Says what the BatchRelease waits for before it detaches, whichever release it is of. */
function detachingText({ release }: RolloutView): string {
  const waiting = release?.status?.waiting
  const base = 'stopping the release and leaving the DaemonSet as it is'
  return waiting === undefined ? base : `${base}: ${waitText(waiting)}`
}

/** Null where there is nothing to end, or where that is no longer possible: then the release is frozen. */
function endingState(view: RolloutView, before: RolloutState): RolloutState | null {
  const { rollout, daemonSet, release } = view
  if (!endsRelease(rollout) || daemonSet === undefined || isForeign(view) || !isHeldBy(view, daemonSet)) return null
  if (release?.metadata.deletionTimestamp !== undefined) {
    // Deleting the BatchRelease of a running release has frozen it.
    return release.status?.phase === 'Completed' ? { ...before, message: 'waiting for the previous BatchRelease to be deleted' } : null
  }
  const { revisions, fleet } = view
  const rolloutCreatedAt = rollout.metadata.creationTimestamp
  const discovery = discoverRevisions({ daemonSet, revisions, fleet, lastStable: before.stableRevision, rolloutCreatedAt })
  const outdated = outdatedDefinitions(view)
  if (outdated !== null) return mayHideRelease(view, before, discovery) ? beforeTeardown(stalledState(before, outdated)) : null
  if (discovery.kind === 'pending') return { ...before, message: 'waiting for the DaemonSet controller to observe the latest generation' }
  const ending = endingOf(view, before, discovery)
  if (ending === null) return null
  const state = ending.isWanted ? forwards(view, daemonSet, ending) : backwards(view, daemonSet, ending)
  if (state === null) return null
  // While OpenKruise's controller is active, without its policy, or with config that is not pinned, it is held like any release. The cause may be
  // brief, so it is not frozen for good.
  const obstacle = activeKruise(view) ?? unusablePolicy(view) ?? (ending.isWanted ? unpinnedConfig(view) : null)
  return beforeTeardown(obstacle === null ? state : stalledState(before, obstacle))
}

/**
 * Whether outdated definitions may hide a release that is to be ended. Not where its order can be read: nothing could change it under them,
 * so only deleting the BatchRelease stops it.
 */
function mayHideRelease({ fleet, release }: RolloutView, { canary }: RolloutState, discovery: Discovery): boolean {
  if (release !== undefined) return release.spec.tranche === undefined
  if (discovery.kind === 'pending') return true
  return isUnderWay(canary) || canary.canaryRevision !== discovery.canary || oldNodes(fleet, discovery.canary).length > 0
}

function beforeTeardown(state: RolloutState): RolloutState {
  return { ...state, message: `before detaching: ${state.message}` }
}

/** Whether the DaemonSet is bound to this Rollout and not frozen yet, and the BatchRelease, if any, is of this DaemonSet. */
function isHeldBy({ rollout, release }: RolloutView, { metadata }: DaemonSet): boolean {
  const annotations = metadata.annotations ?? {}
  const isGoingOn = release !== undefined && release.metadata.deletionTimestamp === undefined
  const isFrozen = daemonSetAnnotations.frozen in annotations && !isGoingOn
  if (annotations[daemonSetAnnotations.rollout] !== rollout.metadata.name || isFrozen) return false
  return release === undefined || release.spec.workloadRef?.name === metadata.name
}

interface Ending {
  readonly before: RolloutState
  readonly discovery: FoundRevisions
  /** Whether the release in the status runs, and releases the present template. */
  readonly isSame: boolean
  /** Whether the release should end with the present template. */
  readonly isWanted: boolean
  /** Whether the present release is the rollback started because of the deletion or disabling. */
  readonly isBack: boolean
}

/** Null where the template's last release is over: the nodes it left behind cannot be updated now. */
function endingOf({ rollout, fleet }: RolloutView, before: RolloutState, discovery: FoundRevisions): Ending | null {
  const { canary, phase } = before
  const isRunning = isUnderWay(canary) && (phase === 'Progressing' || phase === 'Terminating' || phase === 'Disabling')
  const isSame = isRunning && canary.canaryRevision === discovery.canary
  if (!isRunning && canary.canaryRevision === discovery.canary) return null
  const stable = (isRunning ? canary.stableRevision : before.stableRevision) ?? discovery.stable
  const isWanted = onDeletePolicy(rollout) === 'Complete' || stable === discovery.canary
  if (!isRunning && isWanted && oldNodes(fleet, discovery.canary).length === 0) return null
  const isBack = isRunning && phase !== 'Progressing' && isReturn(canary)
  // During a release the stable revision stays the same.
  return { before: isRunning ? { ...before, phase: 'Progressing' } : before, discovery: { ...discovery, stable }, isSame, isWanted, isBack }
}

/**
 * Brings every node to the present template; a held one is not released this way either (G12). If it proves bad, the policy
 * decides whether it is rolled back or a user must decide.
 */
function forwards(view: RolloutView, daemonSet: DaemonSet, { before, discovery, isSame }: Ending): RolloutState | null {
  const held = heldTemplate(before.heldRevisions, daemonSet)
  if (held !== undefined) return isBeingRolledBack(held) ? heldState(view, daemonSet, before, held) : null
  const counted = { ...before, canary: withCounts(view, before.canary), failure: failureToSay(view, before) }
  const failure = isSame ? standingFailure(view, before) : null
  if (failure !== null) return failedState(view, daemonSet, counted, failure)
  const begun = isSame ? counted : startState(view, daemonSet, before, discovery)
  const reason = begun.rollbackFrom === undefined ? 'Finalising' : 'Cancelling'
  const state: RolloutState = { ...(isFinalising(begun.canary) ? begun : toTheEnd(begun)), reason }
  return isSame && isFinalising(before.canary) ? endedState(view, daemonSet, state) : { ...state, message: 'finishing the release' }
}

/** A release that ends for a teardown waits for no pod. A version that no node has run does not become the stable one, and is released again. */
function endedState(view: RolloutView, daemonSet: DaemonSet, before: RolloutState): RolloutState {
  const state = finalisingState(view, daemonSet, before)
  return nodesToRunFirst(view, before).length > 0 ? { ...state, stableRevision: before.stableRevision } : state
}

/** Whether a verdict rolls it back. The revert is reported before detaching removes the key that records it. */
function isBeingRolledBack({ reason, reverted }: HeldRevision): boolean {
  return reason === 'Failed' && reverted === false
}

/**
 * Restores the stable template first, once. Null where that is not possible, or where another template followed it: the user
 * has reacted, perhaps with a fix for a bad stable revision.
 */
function backwards(view: RolloutView, daemonSet: DaemonSet, { before, discovery, isSame, isBack }: Ending): RolloutState | null {
  if (isBack || templateToPutBack(view, discovery.stable) === null) return null
  const held = heldTemplate(before.heldRevisions, daemonSet)
  // The revert is reported before detaching removes the key that records it.
  if (held !== undefined) return held.reverted === false ? heldState(view, daemonSet, before, held) : null
  const begun = isSame ? before : startState(view, daemonSet, before, discovery)
  const one = toHeldRevision(view, daemonSet, { revision: discovery.canary, stable: discovery.stable })
  return heldState(
    view,
    daemonSet,
    { ...begun, heldRevisions: withRolledBack(view, begun.heldRevisions, { one, stable: discovery.stable }) },
    one,
  )
}
