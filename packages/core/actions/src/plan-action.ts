import type { RecordedAction, Rollout, RolloutAction, ActionType } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import { type DaemonSet, type KubeObject, keyOf, RECORDED_ACTIONS_ANNOTATION, rolloutAnnotations } from '@tranche/kube-types'
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

/** @returns the kind of object on which an action of that type is written and recorded */
export function targetOf(type: ActionType): ActionTarget {
  return type === 'undo' || type === 'restart' ? 'DaemonSet' : 'Rollout'
}

/**
 * Decides what is written for an action: one patch of one object, or nothing. Pure.
 *
 * - G10: the patch tests uid and resourceVersion: of two actions that were judged by the same state one is written, and the other is
 *   judged again. Only `abort` overrules another user's action that has no answer yet.
 * - G11: beside the record of actions it changes the annotation `tranche.dev/action` or `spec.strategy.paused` of the Rollout, or the
 *   template of the DaemonSet where that was asked for (undo, restart); nothing else.
 * - An undo is written over the template that its first judgement found, and puts back the revision that it found then: judged again
 *   over another template, "the revision before" would be another one, such as one that another user has just taken back.
 * - An action that is on the record under the same id is never written again; one whose copy could be sent again is not written where the
 *   record may have dropped it.
 */
export function planAction(action: Action, facts: ActionFacts): ActionPlan {
  const target = targetOf(action.type)
  const { rollout, daemonSet } = facts
  const recorded = recordedBefore(action, facts)
  // A repetition after the end of the release sees no step to name.
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
  if (target === 'DaemonSet') return daemonSet === undefined ? noDaemonSet(rollout) : planOnDaemonSet(action, facts, daemonSet)
  return rollout === undefined ? noRollout : planOnRollout(action, facts, rollout)
}

/** Where no release is under way nobody can say a step: that is the reason, and not that it is missing. */
function noStepToName({ path }: ActionRejection, action: Action, rollout: Rollout | undefined): ActionRejection | null {
  if (path !== 'expectedStep' || action.body.expectedStep !== undefined || rollout === undefined) return null
  return standingOf(rollout).isReleasing ? null : refusalOf(rollout, action)
}

/** Whether the same id was written before; it may stand on either object. */
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
  'too many actions were recorded within minutes to tell a repetition from a new one',
  'wait until the oldest recorded action is ten minutes old, or send the action with a token of your own',
)

const noRollout = refused('ROLLOUT_NOT_FOUND', 'there is no such Rollout', 'look for its name and namespace')

function noDaemonSet(rollout: Rollout | undefined): ActionRejection {
  const name = rollout === undefined ? 'there is no such DaemonSet' : `there is no DaemonSet ${rollout.spec.workloadRef.name}`
  return refused('WORKLOAD_NOT_FOUND', name, 'create it, or name another one')
}

/** Who acts with their own rights on the DaemonSet (`cli`) may change one that is bound to no Rollout. */
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
  return written(rollout, { target: 'Rollout', record, patch: [], annotations, message: `the action ${annotated.type} is written` })
}

/** Who asks for an end must not wait for anybody's answer; but who asks for the same end has been heard already. */
function pendingRefusal(rollout: Rollout, { id, type }: Action): ActionRejection | null {
  const pending = unansweredAction(rollout)
  if (pending === undefined || pending.id === id || (type === 'abort' && pending.type !== 'abort')) return null
  const requester = pending.by === undefined ? 'somebody' : pending.by
  return refused(
    'ACTION_PENDING',
    `${requester} has asked for ${pending.type} (id ${pending.id}), and the controller has not answered yet`,
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
 * The change and its record in one patch, guarded by what was read. Where the API server drops fields of ours it drops them with every write
 * of the object, so a Rollout must have the whole status that was read: under definitions that would drop any of it, the patch fails.
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
