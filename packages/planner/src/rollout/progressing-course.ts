import type { BatchRelease, CanaryStatus } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import type { FoundRevisions } from '../release/discover-revisions.ts'
import { advanceStep, toFittingStep } from './advance-step.ts'
import type { Course } from './course.ts'
import { currentText } from './current-text.ts'
import { releaseReport } from './release-report.ts'
import { isFinalising, isWithinSteps } from './release-spec.ts'
import type { RolloutView } from './rollout-view.ts'
import { refreshed, startCourse } from './start-course.ts'

/** A release runs: how does it go on? */
export function progressingCourse(view: RolloutView, daemonSet: DaemonSet, before: Course, discovery: FoundRevisions): Course {
  if (discovery.canary !== before.canary.canaryRevision) return startCourse(view, before, discovery)
  const counted = { ...before, canary: withCounts(view, refreshed(view, before.canary)) }
  if (view.release?.metadata.deletionTimestamp !== undefined) return { ...counted, message: lastReleaseText(view.release) }
  const finalising = isFinalising(counted.canary)
  if (!finalising && !isWithinSteps(view.rollout, counted.canary)) return toFittingStep(view, counted)
  if (view.rollout.spec.strategy.paused === true) return pausedCourse(view, counted)
  if (finalising) return finalisingCourse(view, daemonSet, { ...counted, reason: 'Finalising' })
  if (before.reason !== 'InRolling') return { ...counted, reason: 'InRolling', message: `releasing revision ${discovery.canary}` }
  return advanceStep(view, counted)
}

/** A BatchRelease that is being deleted runs nothing any more; the next one takes its name once it is gone. */
function lastReleaseText({ status }: BatchRelease): string {
  const waiting = status?.waiting === undefined ? '' : `: ${status.waiting.message} (since ${status.waiting.since})`
  return `waiting for the last BatchRelease to go${waiting}`
}

const PAUSED = 'paused by spec.strategy.paused since'

/** G9: paused is said when nothing can be deleted any more, not when somebody asked for it. */
function pausedCourse(view: RolloutView, before: Course): Course {
  const { paused, message } = releaseReport(view)
  if (!paused)
    return {
      ...before,
      message: `pausing: waiting until no deletion can be accepted any more${message === undefined ? '' : `; ${message}`}`,
    }
  const isSaid = before.reason === 'Paused' && before.message.startsWith(PAUSED)
  return { ...before, reason: 'Paused', message: isSaid ? before.message : `${PAUSED} ${stamp(view)}; set it to false to go on` }
}

function finalisingCourse(view: RolloutView, daemonSet: DaemonSet, before: Course): Course {
  const { completed, nodesLeft, message, stalled } = releaseReport(view)
  if (!completed && nodesLeft === null) return { ...before, message: message ?? 'finishing the release', stalled }
  const canary: CanaryStatus = {
    ...before.canary,
    finalisingStep: 'END',
    currentStepState: 'Completed',
    nextStepIndex: -1,
    lastUpdateTime: stamp(view),
  }
  return {
    ...before,
    phase: 'Healthy',
    reason: 'Completed',
    canary,
    stableRevision: canary.canaryRevision,
    succeeded: true,
    message: nodesLeft ?? currentText(view, daemonSet, canary.canaryRevision).text,
  }
}

function withCounts({ release }: RolloutView, canary: CanaryStatus): CanaryStatus {
  const seen = release?.status?.canaryStatus
  return { ...canary, canaryReplicas: seen?.updatedReplicas ?? 0, canaryReadyReplicas: seen?.updatedReadyReplicas ?? 0 }
}

function stamp(view: RolloutView): string {
  return new Date(view.nowMs).toISOString()
}
