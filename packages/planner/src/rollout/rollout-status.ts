import type { CanaryStatus, ProgressingReason, RolloutStatus, StalledReason, BatchRelease } from '@tranche/api-schema'
import { type DaemonSet, daemonSetAnnotations, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import { type Problem, problemsText, validateBinding, validateDaemonSetBudget, validateSpec } from '@tranche/validation'
import { oldNodes } from '../old-nodes.ts'
import { type Discovery, discoverRevisions } from '../release/discover-revisions.ts'
import { advanceStep, jumpTo, toFittingStep } from './advance-step.ts'
import { type ActionEffect, answerAction } from './answer-action.ts'
import type { Course, NextStatus } from './course.ts'
import { heedWishes } from './heed-wishes.ts'
import { isForeign, releaseReport } from './release-report.ts'
import { isFinalising, isWithinSteps, stepsOf } from './release-spec.ts'
import { currentText } from './current-text.ts'
import { toConditions } from './rollout-conditions.ts'
import type { RolloutView } from './rollout-view.ts'
import { mayWriteStatus, untilCountsMs } from './status-writes.ts'

/** Decides the next status of a Rollout from what stands and what is seen. Pure. */
export function nextRolloutStatus(view: RolloutView): NextStatus {
  const before = courseBefore(view)
  const decided = courseOf(view, before)
  const answer = answerAction(view, before, decided)
  const course = answer === null ? decided : carryOut(view, answer.effect, { before, decided })
  const status = { ...toStatus(view, course), ...(answer !== null && { lastAction: answer.lastAction }) }
  const writeInMs = mayWriteStatus(view, status) ? null : untilCountsMs(view)
  const waits = [course.recheckAfterMs, writeInMs].filter((ms) => ms !== null)
  return { status, warning: course.warning, recheckAfterMs: waits.length > 0 ? Math.min(...waits) : null, blocked: course.blocked }
}

interface Courses {
  readonly before: Course
  readonly decided: Course
}

function carryOut(view: RolloutView, effect: ActionEffect, { before, decided }: Courses): Course {
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
    default:
      return effect satisfies never
  }
}

function courseOf(view: RolloutView, before: Course): Course {
  const { rollout, daemonSet } = view
  if (rollout.metadata.deletionTimestamp !== undefined) return { ...before, phase: 'Terminating', message: lettingGoText(view) }
  if (rollout.spec.disabled === true) return disabledCourse(view, before)
  if (isForeign(view)) return stalledCourse(before, 'ForeignControl', foreignText(view))
  const problems = problemsOf(view)
  const [first] = problems
  if (first !== undefined) return stalledCourse(before, first.reason, problemsText(problems))
  if (daemonSet === undefined) return stalledCourse(before, 'WorkloadNotFound', notFoundText(view))
  const discovery = discoverRevisions({ daemonSet, revisions: view.revisions, fleet: view.fleet, lastStable: before.stableRevision })
  if (discovery.kind === 'pending')
    return { ...before, message: `waiting for the DaemonSet controller to observe generation ${daemonSet.metadata.generation ?? 0}` }
  return before.phase === 'Progressing'
    ? progressingCourse(view, daemonSet, before, discovery)
    : restingCourse(view, daemonSet, before, discovery)
}

function problemsOf({ rollout, others, daemonSet, fleet }: RolloutView): readonly Problem[] {
  const boundTo = daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout] ?? null
  return [
    ...validateSpec(rollout, { desired: daemonSet === undefined ? null : fleet.desired }),
    ...validateBinding(rollout, others, boundTo),
  ]
}

/** What the status says already; what somebody wrote into it that cannot be taken is put back. */
function courseBefore(view: RolloutView): Course {
  const status = view.rollout.status
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing')
  const succeeded = status?.conditions?.find(({ type }) => type === 'Succeeded')?.status
  const heeded = heedWishes(view.rollout)
  return {
    phase: status?.phase ?? 'Initial',
    reason: (progressing?.reason as ProgressingReason | undefined) ?? null,
    canary: heeded?.canary ?? completedCanary(view, ''),
    stableRevision: status?.stableRevision,
    succeeded: succeeded === undefined ? null : succeeded === 'True',
    message: status?.message ?? '',
    stalled: null,
    warning: heeded?.warning ?? null,
    recheckAfterMs: null,
    blocked: false,
  }
}

function stalledCourse(before: Course, reason: StalledReason, message: string): Course {
  return { ...before, message, stalled: { reason, message }, blocked: true }
}

function disabledCourse(view: RolloutView, before: Course): Course {
  const { release } = view
  if (release !== undefined && !isForeign(view)) return { ...before, phase: 'Disabling', reason: null, message: lettingGoText(view) }
  return { ...before, phase: 'Disabled', reason: null, message: 'disabled: the DaemonSet is not under control' }
}

/** Says what the BatchRelease waits for before it lets go, whichever release it is of. */
function lettingGoText({ release }: RolloutView): string {
  const waiting = release?.status?.waiting
  const base = 'stopping the release and leaving the DaemonSet as it stands'
  return waiting === undefined ? base : `${base}: ${waiting.message} (since ${waiting.since})`
}

/** No release runs: does one begin? */
function restingCourse(view: RolloutView, daemonSet: DaemonSet, before: Course, discovery: Discovery & { kind: 'found' }): Course {
  const stable = before.stableRevision ?? discovery.stable
  const asked = daemonSetAnnotations.inProgressing in (daemonSet.metadata.annotations ?? {})
  const newer = (daemonSet.metadata.generation ?? 0) > (before.canary.observedWorkloadGeneration ?? 0)
  if (discovery.canary !== stable || (asked && newer && before.phase === 'Healthy') || isUnfinished(view, daemonSet, discovery.canary))
    return startCourse(view, before, discovery)
  const left = releaseReport(view).nodesLeft
  const { text, availableInMs } = currentText(view, daemonSet, discovery.canary)
  const message = left ?? text
  const known = before.phase === 'Healthy' && before.canary.canaryRevision === discovery.canary
  const canary = known ? before.canary : completedCanary(view, discovery.canary)
  const resting = { ...before, phase: 'Healthy', canary, stableRevision: discovery.canary, message } as const
  return { ...resting, stalled: budgetStall(view, daemonSet), recheckAfterMs: left === null ? availableInMs : null }
}

/** No release runs, and yet nodes run old pods, or a strategy was taken over for a release and not given back. */
function isUnfinished({ fleet, release, strategyScope }: RolloutView, { metadata }: DaemonSet, canary: string): boolean {
  if (release !== undefined && release.metadata.deletionTimestamp === undefined) return false
  return (
    oldNodes(fleet, canary).length > 0 ||
    (strategyScope === 'release' && daemonSetAnnotations.originalUpdateStrategy in (metadata.annotations ?? {}))
  )
}

/** A budget that lets nothing be updated is said before anybody needs it. */
function budgetStall(view: RolloutView, daemonSet: DaemonSet): Course['stalled'] {
  const problem = validateDaemonSetBudget(daemonSet, view.fleet.desired)[0]
  return problem === undefined ? null : { reason: problem.reason, message: problemsText([problem]) }
}

/** A release begins, or begins again because the template changed under it. */
function startCourse(view: RolloutView, before: Course, discovery: Discovery & { kind: 'found' }): Course {
  const steps = stepsOf(view.rollout).length
  // Nothing new to release (the template came back): no step is worth a pause.
  const first = discovery.canary === discovery.stable ? steps : 1
  const canary: CanaryStatus = {
    ...completedCanary(view, discovery.canary),
    stableRevision: discovery.stable,
    currentStepIndex: first,
    nextStepIndex: first < steps ? first + 1 : -1,
    currentStepState: 'BeforeStepUpgrade',
    canaryReplicas: 0,
    canaryReadyReplicas: 0,
  }
  return {
    ...before,
    phase: 'Progressing',
    reason: 'Initializing',
    canary,
    stableRevision: discovery.stable,
    succeeded: null,
    message: `releasing revision ${discovery.canary}`,
  }
}

function progressingCourse(view: RolloutView, daemonSet: DaemonSet, before: Course, discovery: Discovery & { kind: 'found' }): Course {
  if (discovery.canary !== before.canary.canaryRevision) return startCourse(view, before, discovery)
  const counted = { ...before, canary: withCounts(view, before.canary) }
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

/** The status of a release that is over: also the first status ever, which readers dereference. */
function completedCanary({ rollout, daemonSet, nowMs }: RolloutView, revision: string): CanaryStatus {
  const steps = Math.max(1, stepsOf(rollout).length)
  const rolloutId = daemonSet?.metadata.labels?.[ROLLOUT_ID_LABEL] ?? revision
  return {
    observedWorkloadGeneration: daemonSet?.metadata.generation ?? 0,
    observedRolloutID: rolloutId,
    stableRevision: revision,
    podTemplateHash: revision,
    canaryRevision: revision,
    currentStepIndex: steps,
    nextStepIndex: -1,
    finalisingStep: '',
    currentStepState: 'Completed',
    canaryReplicas: 0,
    canaryReadyReplicas: 0,
    lastUpdateTime: new Date(nowMs).toISOString(),
  }
}

function withCounts({ release }: RolloutView, canary: CanaryStatus): CanaryStatus {
  const seen = release?.status?.canaryStatus
  return { ...canary, canaryReplicas: seen?.updatedReplicas ?? 0, canaryReadyReplicas: seen?.updatedReadyReplicas ?? 0 }
}

function toStatus(view: RolloutView, course: Course): RolloutStatus {
  const before = view.rollout.status
  const { stalled: _none, ...words } = course
  const skipped = view.release?.status?.skippedNodes
  const { skippedNodes: _gone, ...kept } = before ?? {}
  return {
    ...kept,
    observedGeneration: observedGeneration(view, course),
    phase: course.phase,
    message: course.message,
    currentStepIndex: course.canary.currentStepIndex,
    currentStepState: course.canary.currentStepState,
    conditions: toConditions(view, { ...words, stalled: course.stalled }),
    canaryStatus: { ...course.canary, message: course.message },
    ...(course.stableRevision !== undefined && { stableRevision: course.stableRevision }),
    ...(skipped !== undefined && { skippedNodes: skipped }),
  }
}

/** A wish that allows less is observed when the BatchRelease has acknowledged it (F8, G9). */
function observedGeneration(view: RolloutView, course: Course): number {
  const generation = view.rollout.metadata.generation ?? 0
  const before = view.rollout.status?.observedGeneration ?? 0
  const { present, completed, acknowledged, paused } = releaseReport(view)
  if (course.blocked) return paused || !present ? generation : before
  if (course.phase === 'Progressing') return acknowledged ? generation : before
  if (course.phase === 'Healthy') return acknowledged || completed || !present ? generation : before
  return present ? before : generation
}

function foreignText({ rollout }: RolloutView): string {
  return `the BatchRelease ${rollout.metadata.name} exists and is not of this Rollout; delete that BatchRelease first`
}

function notFoundText({ rollout }: RolloutView): string {
  const { name } = rollout.spec.workloadRef
  return `spec.workloadRef.name is "${name}": there is no such DaemonSet in namespace ${rollout.metadata.namespace ?? ''}; create it or name another one`
}

function stamp(view: RolloutView): string {
  return new Date(view.nowMs).toISOString()
}
