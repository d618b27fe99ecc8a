import { type RolloutStatus, sizeLimits } from '@tranche/api-schema'
import { clipText } from '@tranche/kube-types'
import { type NotifyingStatus, withNotifications } from '../notify/outbox.ts'
import { receiversOf } from '../notify/plan-notify.ts'
import { jumpTo } from './release/advance-step.ts'
import { stepOfReplacedPlan } from './release/replaced-plan.ts'
import { type ActionEffect, answerAction, hasLostAnswers, rememberAnswer } from './actions/answer-action.ts'
import { currentState, nextState } from './states/next-state.ts'
import type { RolloutState, NextStatus } from './view/rollout-state.ts'
import { withoutHeld, withRolledBack } from './held/held-revisions.ts'
import { heldUp, isStoppedWith, newHold } from './states/hold-first.ts'
import { withKeptRelease } from './states/kept-release.ts'
import { leakedWhileHeld } from './states/leaked-while-held.ts'
import { standingFailure } from './release/release-failure.ts'
import { isReturn } from './release/release-spec.ts'
import { policyInUse } from './view/release-policy.ts'
import { nextReleases } from './release/release-records.ts'
import { summarizeBatchRelease } from './release/batch-release-summary.ts'
import { rolloutHash } from './view/rollout-hash.ts'
import { selectsNodes, stepNodesDigest } from './view/step-nodes.ts'
import { toConditions } from './states/rollout-conditions.ts'
import { withRejected } from './rejected-stall.ts'
import type { RejectedChange } from './view/rejected-change.ts'
import type { RolloutView } from './view/rollout-view.ts'
import { stableRecord } from './states/stable-digest.ts'
import { formerRevisions } from './states/former-revisions.ts'
import { mayWriteStatus, untilCountsMs } from './view/status-writes.ts'

/**
 * Decides the next status of a Rollout from its stored status and the view. Pure.
 *
 * @param rejected change that would come next, if the API server did not reject it
 */
export function nextRolloutStatus(view: RolloutView, rejected?: RejectedChange): NextStatus {
  const before = currentState(view)
  const decided = nextState(view, before)
  const answer = answerAction(view, before, decided)
  const wanted = answer === null ? decided : carryOut(view, answer.effect, { before, decided })
  const hold = newHold(before, wanted)
  const isHeldUp = hold !== null && !isStoppedWith(hold, view)
  const planned = isHeldUp ? heldUp(before, hold, wanted) : withKeptRelease(view, wanted)
  // The hold itself may be what is rejected.
  const isSaid = rejected !== undefined && (!isHeldUp || rejected.change === 'updateRelease')
  const state = isSaid ? withRejected(view, planned, rejected) : planned
  const said = isHeldUp && !hasLostAnswers(view.rollout) ? {} : rememberAnswer(view.rollout, answer)
  const { status, recheckAfterMs: remindInMs } = notifyingStatus(view, withReleases(view, { ...toStatus(view, state), ...said }))
  const writeInMs = mayWriteStatus(view, status) ? null : untilCountsMs(view, status)
  const waits = [state.recheckAfterMs, writeInMs, remindInMs].filter((ms) => ms !== null)
  return {
    status,
    warning: state.warning,
    recheckAfterMs: waits.length > 0 ? Math.min(...waits) : null,
    obstacle: state.obstacle,
    goesOn: state.goesOn,
    hold,
  }
}

function withReleases({ rollout, nowMs }: RolloutView, status: RolloutStatus): RolloutStatus {
  const releases = nextReleases(rollout.status, status, nowMs)
  return releases === undefined ? status : { ...status, releases }
}

interface Courses {
  readonly before: RolloutState
  readonly decided: RolloutState
}

function carryOut(view: RolloutView, effect: ActionEffect, { before, decided }: Courses): RolloutState {
  const { acceptedActions, heldRevisions } = before
  switch (effect.kind) {
    case 'none':
      return decided
    case 'approve':
      return nextState(view, { ...before, canary: { ...before.canary, currentStepState: 'StepReady' } })
    case 'jump': {
      const jumped = jumpTo(view, before, effect.step)
      // A pause's message says since when.
      return before.reason === 'Paused' ? { ...jumped, message: before.message } : jumped
    }
    case 'promote':
      return nextState(view, { ...before, acceptedActions: { ...acceptedActions, promote: { id: effect.id, full: effect.full } } })
    case 'abort':
      return nextState(view, {
        ...before,
        heldRevisions: withRolledBack(view, heldRevisions, { one: effect.held, stable: before.canary.stableRevision }),
      })
    case 'retry': {
      const forgotten = effect.revision === null ? heldRevisions : withoutHeld(heldRevisions, effect.revision)
      const lifts = before.phase === 'Progressing' || standingFailure(view, before) !== null
      const actions = lifts ? { ...acceptedActions, retry: effect.id } : acceptedActions
      return nextState(view, { ...before, heldRevisions: forgotten, acceptedActions: actions, rollbackFrom: rollbackAfter(before, effect) })
    }
    default:
      return effect satisfies never
  }
}

/** A retry of the stable revision, which failures on nodes left had blocked, releases it to these nodes again: failures stop that, unlike a rollback. */
function rollbackAfter(
  { canary, heldRevisions, rollbackFrom }: RolloutState,
  { revision }: ActionEffect & { kind: 'retry' },
): string | undefined {
  const isBlocked = heldRevisions.some((one) => one.revision === revision)
  return isBlocked && isReturn(canary) && revision === canary.canaryRevision ? undefined : rollbackFrom
}

function toStatus(view: RolloutView, state: RolloutState): RolloutStatus {
  const before = view.rollout.status
  const { stalled: _none, ...words } = state
  const skipped = view.release?.status?.skippedNodes
  // While the step does not fit changed steps, the status does not describe them.
  const isUnfitted = state.phase === 'Progressing' && stepOfReplacedPlan(view, state) !== null
  const hash = isUnfitted ? before?.canaryStatus?.rolloutHash : rolloutHash(view.rollout)
  // Empty: none that the status describes. Absent, it would say that other definitions have removed them.
  const stepNodes = isUnfitted ? (before?.stepNodes ?? (selectsNodes(view.rollout) ? '' : undefined)) : stepNodesDigest(view.rollout)
  const former = formerRevisions(view, state)
  const leaked = leakedWhileHeld(view, state) ?? view.release?.status?.leaked
  const policy = policyInUse(view)
  const kept = withoutOwnWords(before)
  const { heldRevisions, acceptedActions, rollbackFrom, failure } = state
  const settlingUntil = state.phase === 'Progressing' ? summarizeBatchRelease(view).settlingUntil : null
  const message = clipText(state.message, sizeLimits.message)
  return {
    ...kept,
    observedGeneration: observedGeneration(view, state),
    phase: state.phase,
    message,
    ...(state.waitingFor !== undefined && { waitingFor: state.waitingFor }),
    currentStepIndex: state.canary.currentStepIndex,
    currentStepState: state.canary.currentStepState,
    conditions: toConditions(view, { ...words, stalled: state.stalled }),
    canaryStatus: { ...state.canary, ...(hash !== null && hash !== undefined && { rolloutHash: hash }), message },
    ...(stepNodes !== undefined && { stepNodes }),
    ...(state.stableRevision !== undefined && { stableRevision: state.stableRevision }),
    ...stableRecord(view, state),
    ...(former.length > 0 && { formerRevisions: former }),
    ...(state.reason === 'Paused' && state.pausedSince !== undefined && { pausedSince: state.pausedSince }),
    ...(settlingUntil !== null && { settlingUntil }),
    ...(state.releaseGeneration !== undefined && { releaseGeneration: state.releaseGeneration }),
    ...(state.canaryNumber !== undefined && { canaryNumber: state.canaryNumber }),
    ...(skipped !== undefined && { skippedNodes: skipped }),
    ...(failure !== undefined && { failure }),
    ...(leaked !== undefined && { leaked }),
    ...(heldRevisions.length > 0 && { heldRevisions }),
    ...(Object.keys(acceptedActions).length > 0 && { acceptedActions }),
    ...(rollbackFrom !== undefined && { rollbackFrom }),
    ...(policy !== undefined && { policy }),
  }
}

/** Members that stay unless something changes them. */
function withoutOwnWords(status: RolloutStatus | undefined): Partial<RolloutStatus> {
  const {
    skippedNodes: _gone,
    leaked: _went,
    heldRevisions: _held,
    acceptedActions: _actions,
    acceptedWishes: _actionsBefore,
    rollbackFrom: _from,
    policy: _policy,
    failure: _failure,
    stableDigest: _digest,
    formerRevisions: _former,
    stableMismatch: _mismatch,
    canaryDigest: _canaryDigest,
    canaryNumber: _number,
    stepNodes: _stepNodes,
    waitingFor: _waitingFor,
    pausedSince: _paused,
    settlingUntil: _settling,
    ...kept
  } = status ?? {}
  return kept
}

/** Where the API server drops our fields, no receiver is notified. */
function notifyingStatus(view: RolloutView, next: RolloutStatus): NotifyingStatus {
  const { rollout, nowMs, schemaGap } = view
  if (schemaGap !== undefined) return { status: keptStatus(view, next), recheckAfterMs: null }
  return withNotifications(next, { rollout, receivers: receiversOf(view.policy), nowMs })
}

/** Where the API server drops our fields, only the kept ones are written: else every pass would write them again. */
function keptStatus({ schemaGap }: RolloutView, status: RolloutStatus): RolloutStatus {
  if (schemaGap === undefined) return status
  const { observedGeneration: generation, phase, message, currentStepIndex, currentStepState, conditions, canaryStatus } = status
  return { observedGeneration: generation, phase, message, currentStepIndex, currentStepState, conditions, canaryStatus }
}

/** A spec that allows less counts as observed when the BatchRelease has acknowledged it (F8, G9). */
function observedGeneration(view: RolloutView, state: RolloutState): number {
  const generation = view.rollout.metadata.generation ?? 0
  const before = view.rollout.status?.observedGeneration ?? 0
  const { present, completed, acknowledged, paused } = summarizeBatchRelease(view)
  if (state.obstacle !== null && state.obstacle.holds !== false) return paused || !present ? generation : before
  if (state.phase === 'Progressing') return acknowledged ? generation : before
  if (state.phase === 'Healthy') return acknowledged || completed || !present ? generation : before
  return present ? before : generation
}
