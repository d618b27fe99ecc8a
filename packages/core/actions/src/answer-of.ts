import type { ActionResult, RecordedAction, Rollout } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { answeredIds, endsRelease, isUnreleased, onDeletePolicy, releaseAgainText } from '@tranche/planner'
import { blockedText, notBlockedText } from './plan-template.ts'
import { recordedActionsOf } from './recorded-actions.ts'
import { type Standing, standingOf, standingText, unansweredAction } from './standing.ts'
import { refused, type ActionFacts, type ActionRejection } from './action.ts'

/** An action that was written, now or by an earlier request. */
export interface WrittenAction {
  readonly record: RecordedAction
  /** Generation of the object after the write; undefined for an earlier request, for which the present generation counts. */
  readonly generation: number | undefined
}

/**
 * Result of a recorded action, from the status of its Rollout. Pause, undo, restart and a resume that lifts a pause take effect
 * with the write that records them. Pure.
 */
export function resultOfAction({ id, type }: RecordedAction, rollout: Rollout | undefined): ActionResult {
  const { lastAction, answeredBodies = [] } = rollout?.status ?? {}
  const answer = lastAction?.id === id ? lastAction : answeredBodies.findLast((body) => body.id === id)
  if (answer?.result === 'Accepted') return { result: 'Accepted' }
  if (answer?.result === 'Refused') return { result: 'Refused', ...(answer.reason !== undefined && { refusal: answer.reason }) }
  const isWritten = type === 'pause' || type === 'undo' || type === 'restart'
  return isWritten || (type === 'resume' && rollout !== undefined && !isAction(id, rollout)) ? { result: 'Written' } : {}
}

/** State of a written action: answered, waiting or refused. */
export type ActionStanding =
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'acknowledged'; readonly message: string }
  | ActionRejection

/**
 * Reads from the objects whether an action was answered, by the rules of docs/reference/actions.md. Pure.
 *
 * - An action in the annotation: by `status.lastAction`.
 * - A pause: by `Progressing` with reason `Paused`, after which no delete by Tranche is accepted (G9).
 * - A template: when the Rollout has observed it.
 * - Objects from before the write give `waiting`.
 */
export function answerOf(written: WrittenAction, facts: ActionFacts): ActionStanding {
  const { type } = written.record
  const { rollout, daemonSet } = facts
  if (type === 'undo' || type === 'restart') return templateAnswer(written, rollout, daemonSet)
  if (rollout === undefined) return refused('MOVED_ON', 'the Rollout was deleted', 'create the Rollout again, or act on the DaemonSet')
  if (type === 'pause') return pauseAnswer(written, rollout)
  return type === 'resume' && !isAction(written.record.id, rollout) ? resumeAnswer(written, rollout) : actionAnswer(written, rollout)
}

function templateAnswer(
  { generation, record }: WrittenAction,
  rollout: Rollout | undefined,
  daemonSet: DaemonSet | undefined,
): ActionStanding {
  if (rollout === undefined || rollout.spec.disabled === true)
    return { kind: 'acknowledged', message: `the template is changed, and ${uncontrolledText(daemonSet)}` }
  const wanted = generation ?? daemonSet?.metadata.generation ?? 0
  const seen = rollout.status?.canaryStatus?.observedWorkloadGeneration ?? 0
  if (seen >= wanted) return { kind: 'acknowledged', message: `${rollout.status?.message ?? ''}${replacedByUndo(record, rollout)}` }
  return waiting(rollout, 'the controller to observe the new template')
}

/** Without a Rollout that controls it, the strategy of the DaemonSet decides. */
function uncontrolledText(daemonSet: DaemonSet | undefined): string {
  return daemonSet?.spec.updateStrategy?.type === 'OnDelete'
    ? 'updateStrategy.type is OnDelete: no pod is replaced before an enabled Rollout releases it'
    : 'the updateStrategy of the DaemonSet applies'
}

/** Says whether the version that an undo rolls back is blocked. The status says it of one that was not released. */
function replacedByUndo({ type, revision }: RecordedAction, rollout: Rollout): string {
  const { status } = rollout
  if (type !== 'undo' || revision === undefined || status?.rollbackFrom !== revision || isUnreleased(rollout, revision)) return ''
  const isBlocked = status.heldRevisions?.some((held) => held.revision === revision) === true
  return `; ${isBlocked ? blockedText(revision) : notBlockedText(revision)}`
}

function pauseAnswer(written: WrittenAction, rollout: Rollout): ActionStanding {
  if (outranksPause(rollout))
    return endsRelease(rollout) ? outranked(rollout) : waiting(rollout, 'the controller to observe that it is enabled')
  if (!isObserved(written, rollout)) return waiting(rollout, 'the release to be stopped')
  if (rollout.spec.strategy.paused !== true) return { kind: 'acknowledged', message: 'it was paused and has been resumed since' }
  if (rollout.status?.phase !== 'Progressing')
    return { kind: 'acknowledged', message: 'no release runs, and no release continues until it is resumed' }
  // A stalled Rollout observes a pause only after its release has stopped.
  if (progressingReason(rollout) === 'Paused' || isStalled(rollout)) return { kind: 'acknowledged', message: rollout.status.message ?? '' }
  return waiting(rollout, 'the release to be stopped')
}

function resumeAnswer(written: WrittenAction, rollout: Rollout): ActionStanding {
  const runs = rollout.status?.phase === 'Progressing'
  if (!isObserved(written, rollout)) return waiting(rollout, runs ? 'the release to continue' : 'the controller to observe it')
  if (rollout.spec.strategy.paused === true) return { kind: 'acknowledged', message: 'it was resumed and has been paused since' }
  if (!runs) return { kind: 'acknowledged', message: resumedAtRest(rollout) }
  if (progressingReason(rollout) === 'Paused') return waiting(rollout, 'the release to continue')
  return { kind: 'acknowledged', message: rollout.status?.message ?? '' }
}

function resumedAtRest({ spec }: Rollout): string {
  if (spec.disabled === true) return 'no release runs, and none starts while spec.disabled is true'
  return 'no release runs; the next one starts without a pause'
}

/** Whether the resume was written as an action, because a verdict stopped the release. */
function isAction(id: string, rollout: Rollout): boolean {
  return answeredIds(rollout).includes(id) || unansweredAction(rollout)?.id === id
}

function actionAnswer({ record }: WrittenAction, rollout: Rollout): ActionStanding {
  const isLast = rollout.status?.lastAction?.id === record.id
  const { result, refusal } = resultOfAction(record, rollout)
  if (result === 'Refused')
    return refused('ACTION_REJECTED', refusal ?? 'the controller rejected the action', 'check the state of the release and decide again')
  if (isLast) return { kind: 'acknowledged', message: acceptedText(record, rollout) }
  if (answeredIds(rollout).includes(record.id))
    return {
      kind: 'acknowledged',
      message:
        result === undefined
          ? 'it was answered, and other actions followed: see the events for the answer'
          : 'it was accepted, and other actions followed',
    }
  const pending = unansweredAction(rollout)
  const isSeen = recordedActionsOf(rollout).some(({ id }) => id === record.id)
  if (!isSeen || pending?.id === record.id) return waiting(rollout, 'the controller to answer')
  const over = pending === undefined ? 'another action' : `${pending.type} of ${pending.by ?? 'an unknown user'}`
  return refused('MOVED_ON', `${over} replaced it before the controller answered`, 'check the state of the release and decide again')
}

/** For a retry, avoids the status message, which may still describe what the retry lifted. */
function acceptedText({ type, revision }: RecordedAction, rollout: Rollout): string {
  if (type !== 'retry' && type !== 'resume') return `${pausedText(type, rollout)}${rollout.status?.message ?? ''}`
  const lifted = revision === undefined ? 'the stop is lifted' : `revision ${revision} is no longer blocked`
  const standing = standingOf(rollout)
  const isReleased = standing.isReleasing && standing.canaryRevision === revision
  const next = revision === undefined || isReleased || standing.isDisabled ? '' : `; ${releaseAgainText(rollout)}`
  return `${lifted}; ${standingText(standing)}${next}${leftText(standing, rollout)}`
}

/** A pause outlasts the actions that lead on: its message alone would look as if they had failed. */
function pausedText(type: RecordedAction['type'], { spec, status }: Rollout): string {
  const isPaused = spec.strategy.paused === true && status?.phase === 'Progressing'
  const texts: Partial<Readonly<Record<RecordedAction['type'], string>>> = {
    approve: 'the step is approved',
    jump: 'the step is changed',
    promote: 'the remaining pauses of the steps are skipped',
  }
  return isPaused && texts[type] !== undefined ? `${texts[type]}, and the release continues when it is resumed; ` : ''
}

/** Nodes that a release left are updated without a release that runs. */
function leftText({ isReleasing, isDisabled }: Standing, { metadata, spec, status }: Rollout): string {
  const restored = status?.conditions?.find(({ type }) => type === 'StrategyRestored')
  if (isReleasing || isDisabled || spec.strategy.paused === true || metadata.deletionTimestamp !== undefined) return ''
  if (restored?.status !== 'False' || restored.reason !== 'NodesLeft') return ''
  return ', but any nodes that the last one left with an old pod are updated, now or once they can be'
}

function isObserved({ record, generation }: WrittenAction, { metadata, status }: Rollout): boolean {
  const isSeen = generation !== undefined || recordedActionsOf({ metadata }).some(({ id }) => id === record.id)
  return isSeen && (status?.observedGeneration ?? 0) >= (generation ?? metadata.generation ?? 0)
}

function outranked({ metadata }: Rollout): ReturnType<typeof refused> {
  const isDeleted = metadata.deletionTimestamp !== undefined
  const effect = isDeleted ? '' : ', and stops the next release'
  return refused(
    'ACTION_REJECTED',
    `the Rollout is being ${isDeleted ? 'deleted' : 'disabled'}, and its annotation tranche.dev/on-delete overrides a pause: spec.strategy.paused is set${effect}`,
    'set tranche.dev/on-delete to Freeze to stop at once; resume to lift the pause',
  )
}

/**
 * Whether the status is that of a deleted or disabled Rollout whose `on-delete` policy ends its release even in a pause. The Rollout may have
 * been enabled since.
 */
function outranksPause(rollout: Rollout): boolean {
  const phase = rollout.status?.phase
  return (phase === 'Disabling' || phase === 'Terminating') && onDeletePolicy(rollout) !== 'Freeze'
}

function isStalled({ status }: Rollout): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Stalled' && holds === 'True') === true
}

function progressingReason({ status }: Rollout): string {
  return status?.conditions?.find(({ type }) => type === 'Progressing')?.reason ?? ''
}

function waiting({ status }: Rollout, what: string): ActionStanding {
  const said = status?.message
  return { kind: 'waiting', message: `waiting for ${what}${said === undefined || said === '' ? '' : `; present status: ${said}`}` }
}
