import type { RolloutStatus } from '@tranche/api-schema'
import { type NotifyingStatus, withNotifications } from '../notify/outbox.ts'
import { receiversOf } from '../notify/plan-notify.ts'
import { jumpTo } from './advance-step.ts'
import { type ActionEffect, answerAction, hasLostAnswers, rememberAnswer } from './answer-action.ts'
import { courseBefore, courseOf } from './course-of.ts'
import type { Course, NextStatus } from './course.ts'
import { withHeld, withoutHeld } from './held-revisions.ts'
import { heldUp, isStoppedWith, newHold } from './hold-first.ts'
import { leakedWhileHeld } from './leaked-while-held.ts'
import { standingFailure } from './release-failure.ts'
import { policyInUse } from './release-policy.ts'
import { nextReleases } from './release-records.ts'
import { releaseReport } from './release-report.ts'
import { rolloutHash } from './rollout-hash.ts'
import { toConditions } from './rollout-conditions.ts'
import type { RolloutView } from './rollout-view.ts'
import { stableRecord } from './stable-digest.ts'
import { mayWriteStatus, untilCountsMs } from './status-writes.ts'

/** Decides the next status of a Rollout from what stands and what is seen. Pure. */
export function nextRolloutStatus(view: RolloutView): NextStatus {
  const before = courseBefore(view)
  const decided = courseOf(view, before)
  const answer = answerAction(view, before, decided)
  const wanted = answer === null ? decided : carryOut(view, answer.effect, { before, decided })
  const hold = newHold(before, wanted)
  const isHeldUp = hold !== null && !isStoppedWith(hold, view)
  const course = isHeldUp ? heldUp(before, hold, wanted) : wanted
  const said = isHeldUp && !hasLostAnswers(view.rollout) ? {} : rememberAnswer(view.rollout, answer)
  const { status, recheckAfterMs: remindInMs } = tellingStatus(view, withReleases(view, { ...toStatus(view, course), ...said }))
  const writeInMs = mayWriteStatus(view, status) ? null : untilCountsMs(view)
  const waits = [course.recheckAfterMs, writeInMs, remindInMs].filter((ms) => ms !== null)
  return {
    status,
    warning: course.warning,
    recheckAfterMs: waits.length > 0 ? Math.min(...waits) : null,
    obstacle: course.obstacle,
    goesOn: course.goesOn,
    hold,
  }
}

function withReleases({ rollout, nowMs }: RolloutView, status: RolloutStatus): RolloutStatus {
  const releases = nextReleases(rollout.status, status, nowMs)
  return releases === undefined ? status : { ...status, releases }
}

interface Courses {
  readonly before: Course
  readonly decided: Course
}

function carryOut(view: RolloutView, effect: ActionEffect, { before, decided }: Courses): Course {
  const { acceptedActions, heldRevisions } = before
  switch (effect.kind) {
    case 'none':
      return decided
    case 'approve':
      return courseOf(view, { ...before, canary: { ...before.canary, currentStepState: 'StepReady' } })
    case 'jump': {
      const jumped = jumpTo(view, before, effect.step)
      // The message of a pause says since when.
      return before.reason === 'Paused' ? { ...jumped, message: before.message } : jumped
    }
    case 'promote':
      return courseOf(view, { ...before, acceptedActions: { ...acceptedActions, promote: { id: effect.id, full: effect.full } } })
    case 'abort':
      return courseOf(view, { ...before, heldRevisions: withHeld(heldRevisions, effect.held) })
    case 'retry': {
      const forgotten = effect.revision === null ? heldRevisions : withoutHeld(heldRevisions, effect.revision)
      const lifts = before.phase === 'Progressing' || standingFailure(view, before) !== null
      const actions = lifts ? { ...acceptedActions, retry: effect.id } : acceptedActions
      return courseOf(view, { ...before, heldRevisions: forgotten, acceptedActions: actions })
    }
    default:
      return effect satisfies never
  }
}

function toStatus(view: RolloutView, course: Course): RolloutStatus {
  const before = view.rollout.status
  const { stalled: _none, ...words } = course
  const skipped = view.release?.status?.skippedNodes
  const hash = rolloutHash(view.rollout)
  const leaked = leakedWhileHeld(view, course) ?? view.release?.status?.leaked
  const policy = policyInUse(view)
  const kept = withoutOwnWords(before)
  const { heldRevisions, acceptedActions, rollbackFrom, failure } = course
  const settlingUntil = course.phase === 'Progressing' ? releaseReport(view).settlingUntil : null
  return {
    ...kept,
    observedGeneration: observedGeneration(view, course),
    phase: course.phase,
    message: course.message,
    ...(course.waitingFor !== undefined && { waitingFor: course.waitingFor }),
    currentStepIndex: course.canary.currentStepIndex,
    currentStepState: course.canary.currentStepState,
    conditions: toConditions(view, { ...words, stalled: course.stalled }),
    canaryStatus: { ...course.canary, ...(hash !== null && { rolloutHash: hash }), message: course.message },
    ...(course.stableRevision !== undefined && { stableRevision: course.stableRevision }),
    ...stableRecord(view, course),
    ...(course.reason === 'Paused' && course.pausedSince !== undefined && { pausedSince: course.pausedSince }),
    ...(settlingUntil !== null && { settlingUntil }),
    ...(course.releaseGeneration !== undefined && { releaseGeneration: course.releaseGeneration }),
    ...(course.canaryNumber !== undefined && { canaryNumber: course.canaryNumber }),
    ...(skipped !== undefined && { skippedNodes: skipped }),
    ...(failure !== undefined && { failure }),
    ...(leaked !== undefined && { leaked }),
    ...(heldRevisions.length > 0 && { heldRevisions }),
    ...(Object.keys(acceptedActions).length > 0 && { acceptedActions }),
    ...(rollbackFrom !== undefined && { rollbackFrom }),
    ...(policy !== undefined && { policy }),
  }
}

/** What stays as it is unless somebody says otherwise. */
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
    stableMismatch: _mismatch,
    canaryDigest: _canaryDigest,
    canaryNumber: _number,
    waitingFor: _waitingFor,
    pausedSince: _paused,
    settlingUntil: _settling,
    ...kept
  } = status ?? {}
  return kept
}

/** Where the API server drops our own fields, nobody is told anything. */
function tellingStatus(view: RolloutView, next: RolloutStatus): NotifyingStatus {
  const { rollout, nowMs, schemaGap } = view
  if (schemaGap !== undefined) return { status: keptStatus(view, next), recheckAfterMs: null }
  return withNotifications(next, { rollout, receivers: receiversOf(view.policy), nowMs })
}

/** Where the API server drops our own fields, only those are written that it keeps: else every pass would write them again. */
function keptStatus({ schemaGap }: RolloutView, status: RolloutStatus): RolloutStatus {
  if (schemaGap === undefined) return status
  const { observedGeneration: generation, phase, message, currentStepIndex, currentStepState, conditions, canaryStatus } = status
  return { observedGeneration: generation, phase, message, currentStepIndex, currentStepState, conditions, canaryStatus }
}

/** A spec that allows less is observed when the BatchRelease has acknowledged it (F8, G9). */
function observedGeneration(view: RolloutView, course: Course): number {
  const generation = view.rollout.metadata.generation ?? 0
  const before = view.rollout.status?.observedGeneration ?? 0
  const { present, completed, acknowledged, paused } = releaseReport(view)
  if (course.obstacle !== null) return paused || !present ? generation : before
  if (course.phase === 'Progressing') return acknowledged ? generation : before
  if (course.phase === 'Healthy') return acknowledged || completed || !present ? generation : before
  return present ? before : generation
}
