import type { ProgressingReason, RolloutStatus } from '@tranche/api-schema'
import { type DaemonSet, parseTime, timeText } from '@tranche/kube-types'
import { type Discovery, discoverRevisions } from '../../release/view/discover-revisions.ts'
import { acceptedActionsOf } from '../view/accepted-actions.ts'
import type { Obstacle, RolloutState } from '../view/rollout-state.ts'
import { failedState } from './failed-state.ts'
import { heldWhenOvertaken } from './held-when-overtaken.ts'
import { frozenStable } from '../release/frozen-release.ts'
import { teardownState } from './teardown-state.ts'
import { readStatusActions } from '../actions/read-status-actions.ts'
import { obstacleOf, stalledState } from './obstacle-of.ts'
import { heldTemplate, heldHashes } from '../held/held-revisions.ts'
import { isDeletedOrDisabled } from '../held/on-delete.ts'
import { progressingState } from './progressing-state.ts'
import { isOff, standingFailure } from '../release/release-failure.ts'
import { isReturn, isUnderWay } from '../release/release-spec.ts'
import { restingState } from './resting-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { completedCanary } from './start-state.ts'
import { takenOver } from '../view/taken-over.ts'

/** Next state of the Rollout. */
export function nextState(view: RolloutView, before: RolloutState): RolloutState {
  if (isDeletedOrDisabled(view.rollout)) return teardownState(view, before)
  const obstacle = obstacleOf(view)
  if (obstacle === null) return unblockedState(view, before)
  const enabled = enabledState(view, before, obstacle)
  return stalledState(obstacle.reason === 'ConfigUnpinned' ? rolledBackByPolicy(view, enabled) : enabled, obstacle)
}

/**
 * A Rollout that is enabled again is not disabled any more, whatever holds its release. An obstacle in its spec may leave no release to
 * begin.
 */
function enabledState(view: RolloutView, before: RolloutState, { binds = false }: Obstacle): RolloutState {
  return isOff(before.phase) && binds && view.daemonSet !== undefined ? unblockedState(view, before) : before
}

/** Config that cannot be pinned does not keep a version that fails: it is rolled back where the policy says so, as without the obstacle. */
function rolledBackByPolicy(view: RolloutView, before: RolloutState): RolloutState {
  const { daemonSet } = view
  const failure = before.phase === 'Progressing' ? standingFailure(view, before) : null
  if (daemonSet === undefined || failure === null || !isReleased(discover(view, daemonSet, before), before)) return before
  const { failure: seen, heldRevisions } = failedState(view, daemonSet, before, failure)
  return { ...before, failure: seen, heldRevisions }
}

/** Without an obstacle: looks up the revisions, then continues, starts or skips a release. */
function unblockedState(view: RolloutView, before: RolloutState): RolloutState {
  const { daemonSet } = view
  if (daemonSet === undefined) throw new Error('a Rollout without a DaemonSet is stalled')
  const discovery = discover(view, daemonSet, before)
  if (discovery.kind === 'pending') return { ...before, message: pendingText(daemonSet, discovery.why), stalled: stillFailed(view, before) }
  if (before.phase === 'Progressing') return progressingState(view, daemonSet, before, discovery)
  if (isRollbackOfGoing(before)) return progressingState(view, daemonSet, { ...before, phase: 'Progressing' }, discovery)
  return restingState(view, daemonSet, before, discovery)
}

/**
 * G12: a failure stops the version until the next one is known. By then the BatchRelease that reported it may be gone, and only this condition
 * says that the version was stopped.
 */
function stillFailed({ rollout }: RolloutView, { failure }: RolloutState): RolloutState['stalled'] {
  const stalled = rollout.status?.conditions?.find(({ type }) => type === 'Stalled')
  if (failure?.stops !== true || stalled?.status !== 'True' || stalled.reason !== 'ReleaseFailed') return null
  return { reason: 'ReleaseFailed', message: stalled.message }
}

function discover(view: RolloutView, daemonSet: DaemonSet, before: RolloutState): Discovery {
  const { rollout, revisions, fleet } = view
  const known = { lastStable: before.stableRevision, rolloutCreatedAt: rollout.metadata.creationTimestamp }
  return discoverRevisions({ daemonSet, revisions, fleet, ...known, blocked: blockedRevisions(view, daemonSet, before) })
}

/** G12: the blocked revisions, and one that failed and that another template has replaced, which is blocked with the next release. */
function blockedRevisions(view: RolloutView, daemonSet: DaemonSet, before: RolloutState): readonly string[] {
  const { heldRevisions } = before
  const replaced = heldWhenOvertaken(view, before).filter((one) => heldTemplate([one], daemonSet) === undefined)
  return heldHashes([...heldRevisions, ...replaced])
}

function isReleased(discovery: Discovery, { canary }: RolloutState): boolean {
  return discovery.kind === 'found' && discovery.canary === canary.canaryRevision
}

function pendingText({ metadata }: DaemonSet, why: 'generation' | 'revision'): string {
  if (why === 'revision') return 'waiting for the DaemonSet controller to store the template in a ControllerRevision'
  return `waiting for the DaemonSet controller to observe generation ${metadata.generation ?? 0}`
}

/**
 * The Rollout was disabled with `Rollback` and is enabled again before that ended: the rollback continues. One that was to be
 * completed is released in its steps again.
 */
function isRollbackOfGoing({ phase, canary, heldRevisions }: RolloutState): boolean {
  if (phase !== 'Disabling' || !isUnderWay(canary)) return false
  return isReturn(canary) || heldRevisions.some(({ revision }) => revision === canary.canaryRevision)
}

/** The stored state; invalid values that users wrote into it are put back. */
export function currentState(view: RolloutView): RolloutState {
  const status = view.rollout.status
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing')
  const succeeded = status?.conditions?.find(({ type }) => type === 'Succeeded')?.status
  const read = readStatusActions(view)
  const taken = takenOver(status, withValidTime(view, read?.canary ?? completedCanary(view, '')))
  return {
    phase: status?.phase ?? 'Initial',
    reason: (progressing?.reason as ProgressingReason | undefined) ?? null,
    ...taken,
    stableRevision: taken.stableRevision ?? frozenStable(view),
    canaryNumber: status?.canaryNumber,
    succeeded: succeeded === undefined ? null : succeeded === 'True',
    heldRevisions: status?.heldRevisions ?? [],
    acceptedActions: acceptedActionsOf(status),
    failure: status?.failure,
    rollbackFrom: status?.rollbackFrom,
    pausedSince: pausedSince(status),
    message: status?.message ?? '',
    stalled: null,
    warning: read?.warning ?? null,
    recheckAfterMs: null,
    obstacle: null,
    goesOn: false,
  }
}

/** A step whose start is no time starts now: its pause and its deadlines then last in full. */
function withValidTime({ nowMs }: RolloutView, canary: RolloutState['canary']): RolloutState['canary'] {
  const { lastUpdateTime } = canary
  return lastUpdateTime === undefined || parseTime(lastUpdateTime) !== null ? canary : { ...canary, lastUpdateTime: timeText(nowMs) }
}

/** A status of an older version has no `pausedSince`: its condition was updated when the pause began. */
function pausedSince(status: RolloutStatus | undefined): string | undefined {
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing')
  const since = progressing?.reason === 'Paused' ? (status?.pausedSince ?? progressing.lastUpdateTime) : undefined
  return parseTime(since) === null ? undefined : since
}
