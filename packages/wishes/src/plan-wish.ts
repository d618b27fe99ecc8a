import type { RecordedAction, Rollout, RolloutAction, WishType } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import { type DaemonSet, type KubeObject, keyOf, RECORDED_ACTIONS_ANNOTATION, rolloutAnnotations } from '@tranche/kube-types'
import { bindingFault } from './binding-fault.ts'
import { misplacedMember } from './misplaced-member.ts'
import { planRestart, planUndo } from './plan-template.ts'
import { isSameWish, mayHaveForgotten, recordedActionsOf, recordOf, withRecorded } from './recorded-actions.ts'
import { asksForRetry, refusalOf } from './refuse-wish.ts'
import { standingOf, unansweredAction } from './standing.ts'
import { testsOf } from './status-tests.ts'
import {
  type GuardedOperation,
  refused,
  type UndoLook,
  type Wish,
  type WishFacts,
  type WishPlan,
  type WishRefusal,
  type WishTarget,
  type WishWrite,
} from './wish.ts'

/** @returns the object that a wish of that type is written and recorded on */
export function targetOf(type: WishType): WishTarget {
  return type === 'undo' || type === 'restart' ? 'DaemonSet' : 'Rollout'
}

/**
 * Decides what is written for a wish: one patch of one object, or nothing. Pure.
 *
 * - G10: the patch tests uid and resourceVersion, so that of two wishes that were judged by the same state one is written, and the
 *   other is judged anew. A wish of somebody else that has no answer yet is overruled by `abort` alone.
 * - G11: beside the record of wishes it changes the annotation `tranche.dev/action` or `spec.strategy.paused` of the Rollout, or the
 *   template of the DaemonSet where that was asked for (undo, restart); nothing else.
 * - An undo is written over the template that it found when it was judged first, and puts back what it found to put back then: judged anew
 *   over another one, "the revision before" would be another, such as the one that somebody else has just taken back.
 * - A wish that is on the record under the same id is never written again; one that anybody could repeat is not written where the record
 *   may have forgotten it.
 */
export function planWish(wish: Wish, facts: WishFacts): WishPlan {
  const target = targetOf(wish.type)
  const { rollout, daemonSet } = facts
  const recorded = recordedBefore(wish, facts)
  // Who repeats a wish after the release has ended sees no step to name.
  if (recorded?.kind === 'repeated') return recorded
  const misplaced = misplacedMember(wish)
  if (misplaced !== null) return noStepToName(misplaced, wish, rollout) ?? misplaced
  if (recorded !== null) return recorded
  if (wish.repeatableSinceMs !== undefined && mayHaveForgotten(target === 'Rollout' ? rollout : daemonSet, wish.repeatableSinceMs))
    return tooManyWishes
  if (rollout !== undefined) {
    const refusal = refusalOf(rollout, wish)
    if (refusal !== null) return refusal
  }
  if (target === 'DaemonSet') return daemonSet === undefined ? noDaemonSet(rollout) : planOnDaemonSet(wish, facts, daemonSet)
  return rollout === undefined ? noRollout : planOnRollout(wish, facts, rollout)
}

/** Where no release is under way nobody can say a step: that is the reason, and not that it is missing. */
function noStepToName({ path }: WishRefusal, wish: Wish, rollout: Rollout | undefined): WishRefusal | null {
  if (path !== 'expectedStep' || wish.body.expectedStep !== undefined || rollout === undefined) return null
  return standingOf(rollout).isReleasing ? null : refusalOf(rollout, wish)
}

/** Whether the same id was written before; it may stand on either object. */
function recordedBefore(wish: Wish, { rollout, daemonSet }: WishFacts): WishPlan | null {
  const record = [...recordedActionsOf(rollout), ...recordedActionsOf(daemonSet)].find(({ id }) => id === wish.id)
  if (record === undefined) return null
  if (isSameWish(record, wish)) return { kind: 'repeated', target: targetOf(record.type), record }
  return refused(
    'IDEMPOTENCY_KEY_REUSED',
    `this Idempotency-Key was used at ${record.at} for another wish (${record.type})`,
    'use a new key for each wish, and the same one only to repeat it',
  )
}

const tooManyWishes = refused(
  'RATE_LIMITED',
  'so many wishes have been recorded within minutes that a repetition could not be told from a new one',
  'wait until the oldest recorded wish is ten minutes old, or send the wish with a token of your own',
)

const noRollout = refused('ROLLOUT_NOT_FOUND', 'there is no such Rollout', 'look for its name and namespace')

function noDaemonSet(rollout: Rollout | undefined): WishRefusal {
  const name = rollout === undefined ? 'there is no such DaemonSet' : `there is no DaemonSet ${rollout.spec.workloadRef.name}`
  return refused('WORKLOAD_NOT_FOUND', name, 'create it, or name another one')
}

/** Who acts with their own rights on the DaemonSet (`cli`) may change one that is bound to no Rollout. */
function bindingRefusal({ via }: Wish, { rollout }: WishFacts, daemonSet: DaemonSet): WishRefusal | null {
  const fault = rollout === undefined ? null : bindingFault(rollout, daemonSet)
  return fault === null || (fault.boundTo === undefined && via === 'cli') ? null : refused('NOT_BOUND', fault.message, fault.fix)
}

function planOnDaemonSet(wish: Wish, facts: WishFacts, daemonSet: DaemonSet): WishPlan {
  const unbound = bindingRefusal(wish, facts, daemonSet)
  if (unbound !== null) return unbound
  const change = wish.type === 'undo' ? planUndo(daemonSet, facts, wish) : planRestart(daemonSet, facts)
  if (change.kind === 'refused') return change
  return written(daemonSet, { target: 'DaemonSet', record: recordOf(wish, facts), ...change })
}

function planOnRollout(wish: Wish, facts: WishFacts, rollout: Rollout): WishPlan {
  const record = recordOf(wish, facts)
  const { type } = wish
  if (type === 'pause' || (type === 'resume' && !asksForRetry(rollout))) {
    const paused = type === 'pause'
    const patch: readonly PatchOperation[] = [{ op: 'add', path: '/spec/strategy/paused', value: paused }]
    return written(rollout, { target: 'Rollout', record, patch, message: `spec.strategy.paused is set to ${paused}` })
  }
  const pending = pendingRefusal(rollout, wish)
  if (pending !== null) return pending
  const action = actionOf(wish)
  const annotations = { [rolloutAnnotations.action]: JSON.stringify(action) }
  return written(rollout, { target: 'Rollout', record, patch: [], annotations, message: `the action ${action.type} is written` })
}

/** Who asks for an end must not wait for anybody's answer; but who asks for the same end has been heard already. */
function pendingRefusal(rollout: Rollout, { id, type }: Wish): WishRefusal | null {
  const pending = unansweredAction(rollout)
  if (pending === undefined || pending.id === id || (type === 'abort' && pending.type !== 'abort')) return null
  const who = pending.by === undefined ? 'somebody' : pending.by
  return refused(
    'WISH_PENDING',
    `${who} has asked for ${pending.type} (id ${pending.id}), and the controller has not answered yet`,
    pending.type === 'abort' ? 'wait for the answer' : 'wait for the answer and decide again, or abort',
  )
}

function actionOf({ id, type, body, by }: Wish): RolloutAction {
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
  readonly target: WishTarget
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
function written(object: KubeObject, { target, record, patch, annotations = {}, message, look }: Change): WishWrite {
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
