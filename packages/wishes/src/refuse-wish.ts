import type { Rollout, WishType } from '@tranche/api-schema'
import { commandText, retryHeldText } from '@tranche/planner'
import { isDaemonSetRef } from '@tranche/validation'
import { type Standing, standingOf, standingText } from './standing.ts'
import { refused, type Wish, type WishRefusal } from './wish.ts'

/** Reasons to stall that a retry lifts. */
const liftedByRetry: readonly string[] = ['RevisionHeld', 'ReleaseFailed', 'AnalysisInconclusive', 'StrategyContested']

/** Reasons to stall in which the release goes on by a retry (or an abort) alone. */
const stoppedBy: readonly string[] = ['RevisionHeld', 'ReleaseFailed', 'AnalysisInconclusive']

/**
 * Why a wish for a Rollout cannot be written as its status stands; null where it can. The controller judges every wish again
 * when it reads it (G10): what is refused here is what it would refuse, so that people hear it at once.
 */
export function refusalOf(rollout: Rollout, wish: Wish): WishRefusal | null {
  const standing = standingOf(rollout)
  return foreignRefusal(rollout) ?? momentRefusal(standing, wish) ?? refusals[wish.type]({ rollout, standing, wish })
}

function foreignRefusal({ spec: { workloadRef } }: Rollout): WishRefusal | null {
  if (isDaemonSetRef(workloadRef)) return null
  return refused(
    'WISH_REFUSED',
    `spec.workloadRef names a ${workloadRef.kind}: Tranche acts on DaemonSets alone`,
    'ask the controller that this Rollout is meant for',
  )
}

/** Whether the wish is meant for what goes on now, where it says what it is meant for. */
function momentRefusal(standing: Standing, { type, body }: Wish): WishRefusal | null {
  const { expectedStep } = body
  // Of an undo it is that of the present template, whether a release is under way or not.
  const revision = type === 'undo' ? undefined : body.revision
  if (type === 'retry' && revision !== undefined && standing.heldRevisions.includes(revision)) return null
  if (expectedStep === undefined && revision === undefined) return null
  if (!standing.isReleasing) return movedOn(standing, 'the wish is meant for a release under way')
  if (revision !== undefined && revision !== standing.canaryRevision)
    return { ...movedOn(standing, `the wish is meant for revision ${revision}`), path: 'revision' }
  if (expectedStep === undefined || expectedStep === standing.step) return null
  return { ...movedOn(standing, `the wish is meant for step ${expectedStep}`), path: 'expectedStep' }
}

function movedOn(standing: Standing, meant: string): WishRefusal {
  return refused('MOVED_ON', `${meant}, and ${standingText(standing)}`, 'look where the release stands, and decide again')
}

interface Judged {
  readonly rollout: Rollout
  readonly standing: Standing
  readonly wish: Wish
}

const refusals: { readonly [Type in WishType]: (judged: Judged) => WishRefusal | null } = {
  pause: () => null,
  resume: ({ rollout, standing }) => (rollout.spec.strategy.paused === true || asksForRetry(rollout) ? null : notPaused(rollout, standing)),
  approve: ({ rollout, standing }) => releaseRefusal(standing) ?? stopRefusal(rollout, standing) ?? approveRefusal(rollout, standing),
  jump: ({ rollout, standing, wish }) =>
    releaseRefusal(standing) ?? stopRefusal(rollout, standing) ?? finishRefusal(standing) ?? jumpRefusal(standing, wish.body.step ?? 0),
  promote: ({ rollout, standing, wish }) =>
    releaseRefusal(standing) ?? (isWayOut(standing, wish) ? null : stopRefusal(rollout, standing)) ?? finishRefusal(standing),
  abort: ({ standing }) => releaseRefusal(standing) ?? abortRefusal(standing),
  retry: ({ rollout, standing, wish }) => retryRefusal(rollout, standing, wish.body.revision),
  undo: () => null,
  restart: () => null,
}

/** A verdict, and an analysis that cannot tell, wait for a resume as for a retry; a pause is lifted first. */
export function asksForRetry(rollout: Rollout): boolean {
  const { stalled } = standingOf(rollout)
  return rollout.spec.strategy.paused !== true && (stalled === 'ReleaseFailed' || stalled === 'AnalysisInconclusive')
}

function notPaused(rollout: Rollout, standing: Standing): WishRefusal {
  const retry = commandText(rollout, 'retry')
  const fix = standing.stalled === 'RevisionHeld' ? `run ${retry} to release the held revision` : 'nothing needs to be done'
  return refused('WISH_REFUSED', `the Rollout is not paused; ${standingText(standing)}`, fix)
}

function releaseRefusal(standing: Standing): WishRefusal | null {
  if (standing.isReleasing) return null
  const fix = standing.isDisabled ? 'set spec.disabled to false to release in steps' : 'wait for the next release'
  return refused('WISH_REFUSED', standingText(standing), fix)
}

function stopRefusal(rollout: Rollout, { stalled, isBad, canaryRevision }: Standing): WishRefusal | null {
  if (!isBad && !stoppedBy.includes(stalled)) return null
  const why = stopTexts[stalled] ?? 'is stopped by a failure'
  const fix = `run ${commandText(rollout, 'retry')} to continue all the same, or ${commandText(rollout, 'abort')} to roll back`
  return refused('WISH_REFUSED', `revision ${canaryRevision} ${why}`, fix)
}

const stopTexts: Readonly<Record<string, string>> = { RevisionHeld: 'is held', AnalysisInconclusive: 'cannot be judged by its analysis' }

function isWayOut({ stalled }: Standing, { body }: Wish): boolean {
  return body.full === true && stalled === 'AnalysisInconclusive'
}

function approveRefusal(rollout: Rollout, standing: Standing): WishRefusal | null {
  if (standing.stepState === 'StepPaused') return null
  const moved = movedOn(standing, `only a step that is StepPaused can be approved`)
  return rollout.spec.strategy.paused === true ? { ...moved, fix: `it is paused: run ${commandText(rollout, 'resume')} first` } : moved
}

function finishRefusal(standing: Standing): WishRefusal | null {
  return standing.isFinishing ? refused('WISH_REFUSED', standingText(standing), 'wait for its end, or abort') : null
}

function jumpRefusal({ steps }: Standing, step: number): WishRefusal | null {
  if (step >= 1 && step <= steps) return null
  return {
    ...refused('WISH_INVALID', `there is no step ${step}: the steps are 1 to ${steps}`, `name a step from 1 to ${steps}`),
    path: 'step',
  }
}

function abortRefusal(standing: Standing): WishRefusal | null {
  if (!standing.isReturn) return null
  const message = `the release goes to revision ${standing.canaryRevision}, which ran before: there is nothing to take back`
  return refused('WISH_REFUSED', message, 'wait for its end')
}

function retryRefusal(rollout: Rollout, standing: Standing, revision: string | undefined): WishRefusal | null {
  const { isReleasing, stalled, hasFailed, heldRevisions } = standing
  if (hasFailed || (revision !== undefined && heldRevisions.includes(revision))) return null
  if (isReleasing && liftedByRetry.includes(stalled)) return null
  const fix =
    heldRevisions.length === 0
      ? 'nothing needs to be done'
      : `to release a held revision after all run ${retryHeldText(rollout, heldRevisions)}`
  return refused('WISH_REFUSED', `nothing that a retry lifts stands in the way; ${standingText(standing)}`, fix)
}
