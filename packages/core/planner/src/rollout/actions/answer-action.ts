import {
  ANSWERED_ACTIONS_MAX,
  type AnsweredBody,
  type HeldRevision,
  type LastAction,
  type Rollout,
  type RolloutAction,
  type RolloutStatus,
  sizeLimits,
} from '@tranche/api-schema'
import { rolloutAnnotations, sha256Hex, clipText, readJson } from '@tranche/kube-types'
import { actionDigest, GENERATED_ID_PREFIX, parseAction } from '@tranche/validation'
import { discoverRevisions } from '../../release/view/discover-revisions.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { heldTemplate } from '../held/held-revisions.ts'
import { toHeldRevision } from '../held/to-held-revision.ts'
import { actionRefusal } from './refuse-action.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Answer to the action in `tranche.dev/action`. */
export interface RolloutActionAnswer {
  readonly lastAction: LastAction
  /** Content of the action, by which a repeated id is recognized. */
  readonly body: AnsweredBody
  /** Effect of the action; written together with the answer, so that neither exists without the other (G7). */
  readonly effect: ActionEffect
}

/** Effect of an action on the release. */
export type ActionEffect =
  | { readonly kind: 'none' }
  | { readonly kind: 'approve' }
  /** `step` counts from 1 and exists. */
  | { readonly kind: 'jump'; readonly step: number }
  /** Skips the remaining pauses; `full`: soak and analysis, too. */
  | { readonly kind: 'promote'; readonly id: string; readonly full: boolean }
  /** Holds the template and restores the stable one. */
  | { readonly kind: 'abort'; readonly held: HeldRevision }
  /** Lifts the hold of `revision`; null where the retry lifts something else. */
  | { readonly kind: 'retry'; readonly id: string; readonly revision: string | null }

/** Maximum length of a user's text that the status repeats, in characters. */
const LONGEST_TEXT = 256

/**
 * Answers the action in the annotation `tranche.dev/action`: once per id, in the present state. An action at the wrong moment
 * is rejected, never kept for later (G10).
 *
 * @param before the stored state
 * @param decided the next state without the action
 * @returns null without an action, for one that is answered already, and while the released revision is unknown
 */
export function answerAction(view: RolloutView, before: RolloutState, decided: RolloutState): RolloutActionAnswer | null {
  const parsed = parseAction(view.rollout)
  if (parsed.kind === 'none') return null
  if (parsed.kind === 'problem') return answerUnreadable(view, parsed.problem.message)
  const { action } = parsed
  const { id, type, by } = action
  const body = { id, digest: actionDigest(action) }
  if (isAnswered(view.rollout, body, type)) return null
  const said = by === undefined ? {} : { by: clipText(by, LONGEST_TEXT) }
  if (answeredIds(view.rollout).includes(id)) {
    const reason = `id "${clipText(id, LONGEST_TEXT)}" was already used for another action: write it again with an id that was never used, or without one`
    return { lastAction: { id, type, result: 'Refused', ...said, reason, at: stamp(view) }, body, effect: { kind: 'none' } }
  }
  const isLost = hasLostAnswers(view.rollout)
  if (isPending(view) && !isLost) return null
  const refused = isLost ? LOST_ANSWERS : actionRefusal(view, { before, decided }, action)
  const reason = refused ?? action.reason
  const result = refused === null ? 'Accepted' : 'Refused'
  const effect: ActionEffect = refused === null ? effectOf(view, before, action) : { kind: 'none' }
  return {
    lastAction: { id, type, result, ...said, ...(reason !== undefined && { reason: clipText(reason, LONGEST_TEXT) }), at: stamp(view) },
    body,
    effect,
  }
}

/** Ids of the latest answered actions, newest last. */
export function answeredIds({ status }: Rollout): readonly string[] {
  return status?.answeredActions ?? (status?.lastAction === undefined ? [] : [status.lastAction.id])
}

/**
 * Whether this exact action was answered. An annotation that returns because an older manifest was applied again is not a new
 * action. The status of a previous version holds only ids; there the type of the last answer tells two actions apart.
 */
export function isAnswered(rollout: Rollout, { id, digest }: AnsweredBody, type?: string): boolean {
  const { status } = rollout
  const bodies = (status?.answeredBodies ?? []).filter((body) => body.id === id)
  if (bodies.length > 0) return bodies.some((body) => body.digest === digest)
  const { lastAction } = status ?? {}
  const isOtherType = type !== undefined && lastAction !== undefined && lastAction.id === id && lastAction.type !== type
  return answeredIds(rollout).includes(id) && !isOtherType
}

/**
 * Whether the status lost all Tranche fields, as after a write under OpenKruise's definitions, or from a backup. It may have
 * answered the action in an earlier release. The next status has Tranche fields again, so the answer must be in that same
 * write. A status without DaemonSet has answered only with rejections.
 */
export function hasLostAnswers({ status }: Rollout): boolean {
  if (status?.phase === undefined || status.phase === 'Initial') return false
  const isStored = status.stableRevision !== undefined && status.observedGeneration !== undefined
  return !isStored && status.lastAction === undefined && status.answeredActions === undefined
}

const LOST_ANSWERS =
  'the status has lost its record of answered actions, as under older CustomResourceDefinitions; this one may have been answered before: ' +
  'write it again with an id that was never used'

/**
 * Answered actions that the status keeps, with the new answer. An id made from the content is dropped when the annotation is
 * gone: the same action, written again, is a new one.
 */
export function rememberAnswer(rollout: Rollout, answer: RolloutActionAnswer | null): Partial<RolloutStatus> {
  const { status } = rollout
  if (answer === null) {
    if (parseAction(rollout).kind !== 'none' || status?.answeredBodies?.some(isGenerated) !== true) return {}
    return {
      answeredActions: answeredIds(rollout).filter((id) => !isGenerated({ id })),
      answeredBodies: status.answeredBodies.filter((body) => !isGenerated(body)),
    }
  }
  const { lastAction, body } = answer
  const ids = [...answeredIds(rollout).filter((id) => id !== lastAction.id), lastAction.id]
  return {
    lastAction,
    answeredActions: ids.slice(-ANSWERED_ACTIONS_MAX),
    answeredBodies: [...(status?.answeredBodies ?? []), { ...body, ...resultOf(lastAction) }].slice(-ANSWERED_ACTIONS_MAX),
  }
}

function resultOf({ result, reason }: LastAction): Pick<AnsweredBody, 'result' | 'reason'> {
  return { result, ...(result === 'Refused' && reason !== undefined && { reason }) }
}

function isGenerated({ id }: Pick<AnsweredBody, 'id'>): boolean {
  return id.startsWith(GENERATED_ID_PREFIX)
}

function answerUnreadable(view: RolloutView, message: string): RolloutActionAnswer | null {
  const text = view.rollout.metadata.annotations?.[rolloutAnnotations.action] ?? ''
  const { id, type } = unreadable(text)
  const body = { id, digest: digest(text) }
  if (isAnswered(view.rollout, body)) return null
  const reason = `it cannot be read: ${message}; write it again with an id that was never used`
  return {
    lastAction: { id, type, result: 'Refused', reason: clipText(reason, LONGEST_TEXT), at: stamp(view) },
    body,
    effect: { kind: 'none' },
  }
}

function effectOf(view: RolloutView, before: RolloutState, action: RolloutAction): ActionEffect {
  const { id, type, step, full = false } = action
  switch (type) {
    case 'approve':
      return { kind: 'approve' }
    case 'jump':
      return step === undefined ? { kind: 'none' } : { kind: 'jump', step }
    case 'promote':
      return { kind: 'promote', id, full }
    case 'abort':
      return abortEffect(view, before)
    case 'retry':
      return { kind: 'retry', id, revision: revisionToRetry(view, before, action) }
    default:
      return type satisfies never
  }
}

function abortEffect(view: RolloutView, { canary }: RolloutState): ActionEffect {
  if (view.daemonSet === undefined) return { kind: 'none' }
  return { kind: 'abort', held: toHeldRevision(view, view.daemonSet, { revision: canary.canaryRevision, stable: canary.stableRevision }) }
}

/** The named revision; else the DaemonSet's own if it is held. */
function revisionToRetry({ daemonSet }: RolloutView, { heldRevisions }: RolloutState, { revision }: RolloutAction): string | null {
  const held = daemonSet === undefined ? undefined : heldTemplate(heldRevisions, daemonSet)
  return revision ?? held?.revision ?? null
}

/** The DaemonSet controller has not reported the template's revision yet: it may differ from the one in the status. */
export function isPending({ daemonSet, revisions, fleet }: RolloutView): boolean {
  return daemonSet !== undefined && discoverRevisions({ daemonSet, revisions, fleet, lastStable: undefined }).kind === 'pending'
}

/** Id and type of an invalid action: its own, or an id made from its text. */
function unreadable(text: string): Pick<LastAction, 'id' | 'type'> {
  const members = membersOf(text)
  const isId = typeof members.id === 'string' && members.id !== '' && members.id.length <= sizeLimits.identity
  const id = isId ? String(members.id) : `unreadable-${digest(text).slice(0, 8)}`
  return { id, type: typeof members.type === 'string' ? clipText(members.type, LONGEST_TEXT) : '' }
}

function membersOf(text: string): { readonly id?: unknown; readonly type?: unknown } {
  try {
    const value: unknown = readJson(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

function digest(text: string): string {
  return sha256Hex(text).slice(0, 16)
}

function stamp({ nowMs }: RolloutView): string {
  return new Date(nowMs).toISOString()
}
