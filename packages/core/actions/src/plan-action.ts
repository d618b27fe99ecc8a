import { type ActionType, isReachWait, type RecordedAction, type Rollout, type RolloutAction } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import { type DaemonSet, type KubeObject, keyOf, RECORDED_ACTIONS_ANNOTATION, rolloutAnnotations } from '@tranche/kube-types'
import { configReturnText, failedStableText, releaseAgainText } from '@tranche/planner'
import { bindingFault } from './binding-fault.ts'
import { misplacedMember } from './misplaced-member.ts'
import { planRestart, planUndo } from './plan-template.ts'
import { isSameAction, mayHaveForgotten, recordedActionsOf, recordOf, withRecorded } from './recorded-actions.ts'
import { asksForRetry, refusalOf } from './refuse-action.ts'
import { standingOf, unansweredAction } from './standing.ts'
import { testsOf } from './status-tests.ts'
import {
  type GuardedOperation,
  refused,
  type UndoLook,
  type Action,
  type ActionFacts,
  type ActionPlan,
  type ActionRejection,
  type ActionTarget,
  type ActionWrite,
} from './action.ts'

/** @returns the kind of object that an action of this type is written to and recorded on */
export function targetOf(type: ActionType): ActionTarget {
  return type === 'undo' || type === 'restart' ? 'DaemonSet' : 'Rollout'
}

/**
 * Plans the write for an action: one patch of one object, or none. Pure.
 *
 * - G10: the patch tests uid and resourceVersion. Of two actions that were checked against the same state, one is written and the
 *   other is checked again. Only `abort` overrides another user's action without an answer.
 * - G11: besides the record of actions it changes only the annotation `tranche.dev/action` or `spec.strategy.paused` of the Rollout,
 *   or, for undo and restart, the template of the DaemonSet.
 * - An undo replaces only the template that its first attempt found, and restores the revision that it chose then. Otherwise "the
 *   revision before" could change between attempts, for example after another user's rollback.
 * - An action already recorded under the same id is never written again. An action that could be sent again is not written when the
 *   record may have dropped it.
 */
export function planAction(action: Action, facts: ActionFacts): ActionPlan {
  const target = targetOf(action.type)
  const { rollout, daemonSet } = facts
  const recorded = recordedBefore(action, facts)
  // A repetition after the end of the release has no step to name.
  if (recorded?.kind === 'repeated') return recorded
  const misplaced = misplacedMember(action)
  if (misplaced !== null) return noStepToName(misplaced, action, rollout) ?? misplaced
  if (recorded !== null) return recorded
  if (action.repeatableSinceMs !== undefined && mayHaveForgotten(target === 'Rollout' ? rollout : daemonSet, action.repeatableSinceMs))
    return tooManyActions
  if (rollout !== undefined) {
    const refusal = refusalOf(rollout, action)
    if (refusal !== null) return refusal
  }
  if (rollout === undefined && facts.on === 'Rollout') return noRollout
  if (target === 'DaemonSet') return daemonSet === undefined ? noDaemonSet(rollout) : planOnDaemonSet(action, facts, daemonSet)
  return rollout === undefined ? noRollout : planOnRollout(action, facts, rollout)
}

/** Without a running release no step can be named: reports that instead of the missing member. */
function noStepToName({ path }: ActionRejection, action: Action, rollout: Rollout | undefined): ActionRejection | null {
  if (path !== 'expectedStep' || action.body.expectedStep !== undefined || rollout === undefined) return null
  return standingOf(rollout).isReleasing ? null : refusalOf(rollout, action)
}

/** Looks for a record with the same id on both objects. */
function recordedBefore(action: Action, { rollout, daemonSet }: ActionFacts): ActionPlan | null {
  const record = [...recordedActionsOf(rollout), ...recordedActionsOf(daemonSet)].find(({ id }) => id === action.id)
  if (record === undefined) return null
  if (isSameAction(record, action)) return { kind: 'repeated', target: targetOf(record.type), record }
  return refused(
    'IDEMPOTENCY_KEY_REUSED',
    `this Idempotency-Key was used at ${record.at} for another action (${record.type})`,
    'use a new key for each action, and the same one only to repeat it',
  )
}

const tooManyActions = refused(
  'RATE_LIMITED',
  'too many actions were recorded within minutes to distinguish a repetition from a new action',
  'wait until the oldest recorded action is ten minutes old, or send the action with your own token',
)

const noRollout = refused('ROLLOUT_NOT_FOUND', 'there is no such Rollout', 'check its name and namespace')

function noDaemonSet(rollout: Rollout | undefined): ActionRejection {
  const name = rollout === undefined ? 'there is no such DaemonSet' : `there is no DaemonSet ${rollout.spec.workloadRef.name}`
  return refused('WORKLOAD_NOT_FOUND', name, 'create it, or name another DaemonSet')
}

/** The command line (`cli`) uses the user's own rights, so it may change a DaemonSet that is bound to no Rollout. */
function bindingRefusal({ via }: Action, { rollout }: ActionFacts, daemonSet: DaemonSet): ActionRejection | null {
  const fault = rollout === undefined ? null : bindingFault(rollout, daemonSet)
  return fault === null || (fault.boundTo === undefined && via === 'cli') ? null : refused('NOT_BOUND', fault.message, fault.fix)
}

function planOnDaemonSet(action: Action, facts: ActionFacts, daemonSet: DaemonSet): ActionPlan {
  const unbound = bindingRefusal(action, facts, daemonSet)
  if (unbound !== null) return unbound
  const change = action.type === 'undo' ? planUndo(daemonSet, facts, action) : planRestart(daemonSet, facts)
  if (change.kind === 'refused') return change
  return written(daemonSet, { target: 'DaemonSet', record: recordOf(action, facts), ...change })
}

function planOnRollout(action: Action, facts: ActionFacts, rollout: Rollout): ActionPlan {
  const record = recordOf(action, facts)
  const { type } = action
  if (type === 'pause' || (type === 'resume' && !asksForRetry(rollout))) {
    const paused = type === 'pause'
    const patch: readonly PatchOperation[] = [{ op: 'add', path: '/spec/strategy/paused', value: paused }]
    return written(rollout, { target: 'Rollout', record, patch, message: `spec.strategy.paused is set to ${paused}` })
  }
  const pending = pendingRefusal(rollout, action)
  if (pending !== null) return pending
  const annotated = actionOf(action)
  const annotations = { [rolloutAnnotations.action]: JSON.stringify(annotated) }
  return written(rollout, {
    target: 'Rollout',
    record,
    patch: [],
    annotations,
    message: `the action ${annotated.type} is written: ${effectText(annotated, facts)}`,
  })
}

/** What the controller does once it has accepted the action. */
function effectText({ type, step, full, revision }: RolloutAction, facts: ActionFacts): string {
  switch (type) {
    case 'approve':
      return 'the release continues with the next step'
    case 'jump':
      return `the release continues at step ${step}`
    case 'promote':
      return `the release continues without the remaining pauses${full === true ? ', soak times and analyses' : ''}${stuckText(facts)}`
    case 'abort':
      return `the release is rolled back to the stable revision${returnText(facts)}`
    case 'retry':
      return revision === undefined ? 'the stop is lifted' : `revision ${revision} is no longer blocked${laterText(revision, facts)}`
    default:
      return type satisfies never
  }
}

/** What releases a revision that is not the one being released; begins with a semicolon. */
function laterText(revision: string, { rollout }: ActionFacts): string {
  if (rollout === undefined) return ''
  const { isReleasing, canaryRevision } = standingOf(rollout)
  return isReleasing && canaryRevision === revision ? '' : `; ${releaseAgainText(rollout)}`
}

/** A promote ends no wait for nodes that the batch cannot reach. */
function stuckText({ rollout }: ActionFacts): string {
  const { waitingFor } = rollout?.status ?? {}
  return isReachWait(waitingFor?.reason) ? `; it still waits: ${waitingFor?.message ?? ''}` : ''
}

/** What users may not expect of the version to which an abort returns: it failed itself, or it has other config. */
function returnText({ rollout, revisions }: ActionFacts): string {
  if (rollout === undefined) return ''
  const { canaryRevision = '', stableRevision = '' } = rollout.status?.canaryStatus ?? {}
  return `${failedStableText(rollout)}${configReturnText(revisions, canaryRevision, stableRevision)}`
}

/** Refuses an action while another one waits for its answer. An abort overrides others, but not an abort. */
function pendingRefusal(rollout: Rollout, { id, type }: Action): ActionRejection | null {
  const pending = unansweredAction(rollout)
  if (pending === undefined || pending.id === id || (type === 'abort' && pending.type !== 'abort')) return null
  const requester = pending.by === undefined ? 'another user' : pending.by
  return refused(
    'ACTION_PENDING',
    `${requester} requested ${pending.type} (id ${pending.id}), and the controller has not answered yet`,
    pending.type === 'abort' ? 'wait for the answer' : 'wait for the answer and decide again, or abort',
  )
}

function actionOf({ id, type, body, by }: Action): RolloutAction {
  const { reason, expectedStep, revision, step, full } = body
  return {
    id,
    type: type === 'resume' ? 'retry' : (type as RolloutAction['type']),
    ...(expectedStep !== undefined && { expectedStep }),
    ...(revision !== undefined && { revision }),
    ...(step !== undefined && { step }),
    ...(full !== undefined && { full }),
    by,
    ...(reason !== undefined && { reason }),
  }
}

interface Change {
  readonly target: ActionTarget
  readonly record: RecordedAction
  readonly patch: readonly PatchOperation[]
  readonly annotations?: Readonly<Record<string, string>>
  readonly message: string
  readonly look?: UndoLook
}

/**
 * Builds one patch with the change and its record, guarded by the object that was read. Outdated CRDs drop status fields with every
 * write of the object. The patch therefore tests the whole status of a Rollout and fails instead of losing any of it.
 */
function written(object: KubeObject, { target, record, patch, annotations = {}, message, look }: Change): ActionWrite {
  const { metadata } = object
  const status = target === 'Rollout' ? (object as Rollout).status : undefined
  const all = { ...annotations, [RECORDED_ACTIONS_ANNOTATION]: withRecorded(object, record) }
  const guarded: readonly GuardedOperation[] = [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    ...(status === undefined ? [] : testsOf('/status', status)),
    ...patch,
    ...(metadata.annotations === undefined ? [{ op: 'add', path: '/metadata/annotations', value: {} } as const] : []),
    ...Object.entries(all).map(([key, value]) => ({ op: 'add', path: `/metadata/annotations/${key.replace('/', '~1')}`, value }) as const),
  ]
  return { kind: 'write', target, key: keyOf(object), patch: guarded, resourceVersion: metadata.resourceVersion, record, message, look }
}
