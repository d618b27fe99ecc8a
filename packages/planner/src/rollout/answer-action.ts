import type { HeldRevision, LastAction, Rollout, RolloutAction } from '@tranche/api-schema'
import { rolloutAnnotations, sha256Hex } from '@tranche/kube-types'
import { parseAction } from '@tranche/validation'
import { discoverRevisions } from '../release/discover-revisions.ts'
import type { Course } from './course.ts'
import { heldTemplate, takenBack } from './held-revisions.ts'
import { refusalOf } from './refuse-action.ts'
import type { RolloutView } from './rollout-view.ts'

/** What the wish in `tranche.dev/action` is answered with. */
export interface ActionAnswer {
  readonly lastAction: LastAction
  /** What it does; written together with the answer, so that neither is ever there without the other (G7). */
  readonly effect: ActionEffect
}

/** What an action changes. */
export type ActionEffect =
  | { readonly kind: 'none' }
  | { readonly kind: 'approve' }
  /** `step` counts from 1 and exists. */
  | { readonly kind: 'jump'; readonly step: number }
  /** The remaining pauses are skipped; `full`: soak and analysis too. */
  | { readonly kind: 'promote'; readonly id: string; readonly full: boolean }
  /** The template is held, and the stable one is put back. */
  | { readonly kind: 'abort'; readonly held: HeldRevision }
  /** `revision` is held no longer; null where the retry lifts something else. */
  | { readonly kind: 'retry'; readonly id: string; readonly revision: string | null }

/** Longest text of somebody's that the status repeats, in characters. */
const LONGEST_TEXT = 256

/**
 * Answers the wish in the annotation `tranche.dev/action`: once for each id, and as things stand now; a wish that comes
 * at the wrong moment is refused, never kept for later (G10).
 *
 * @param before what the status says already
 * @param decided where the Rollout goes without the wish
 * @returns null without a wish, for one that is answered already, and while it cannot be told which revision is released
 */
export function answerAction(view: RolloutView, before: Course, decided: Course): ActionAnswer | null {
  const parsed = parseAction(view.rollout)
  if (parsed.kind === 'none') return null
  if (parsed.kind === 'problem') {
    const reason = `it cannot be read: ${parsed.problem.message}; write it anew, with an id of its own`
    return unlessAnswered(view, { ...unreadable(view), result: 'Refused', reason: cut(reason), at: stamp(view) }, { kind: 'none' })
  }
  const { action } = parsed
  const { id, type, by } = action
  if (isPending(view)) return null
  const refused = refusalOf(view, { before, decided }, action)
  const reason = refused ?? action.reason
  const result = refused === null ? 'Accepted' : 'Refused'
  const said = { ...(by !== undefined && { by: cut(by) }), ...(reason !== undefined && { reason: cut(reason) }) }
  const effect: ActionEffect = refused === null ? effectOf(view, before, action) : { kind: 'none' }
  return unlessAnswered(view, { id, type, result, ...said, at: stamp(view) }, effect)
}

/** Ids of the latest wishes that were answered, newest last. */
export function answeredIds({ status }: Rollout): readonly string[] {
  return status?.answeredActions ?? (status?.lastAction === undefined ? [] : [status.lastAction.id])
}

/** An annotation that comes back, because an older manifest was applied again, is no new wish. */
function unlessAnswered({ rollout }: RolloutView, lastAction: LastAction, effect: ActionEffect): ActionAnswer | null {
  return answeredIds(rollout).includes(lastAction.id) ? null : { lastAction, effect }
}

function effectOf(view: RolloutView, before: Course, action: RolloutAction): ActionEffect {
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

function abortEffect(view: RolloutView, { canary }: Course): ActionEffect {
  if (view.daemonSet === undefined) return { kind: 'none' }
  return { kind: 'abort', held: takenBack(view, view.daemonSet, canary.canaryRevision) }
}

/** The one that is named; else the one that the DaemonSet has and that is held. */
function revisionToRetry({ daemonSet }: RolloutView, { heldRevisions }: Course, { revision }: RolloutAction): string | null {
  const held = daemonSet === undefined ? undefined : heldTemplate(heldRevisions, daemonSet)
  return revision ?? held?.revision ?? null
}

/** The DaemonSet controller has yet to say which revision the template is: it may be another than the status says. */
export function isPending({ daemonSet, revisions, fleet }: RolloutView): boolean {
  return daemonSet !== undefined && discoverRevisions({ daemonSet, revisions, fleet, lastStable: undefined }).kind === 'pending'
}

/** What can be told of a wish that breaks the rules: its own id, or one that stands for its text. */
function unreadable({ rollout }: RolloutView): Pick<LastAction, 'id' | 'type'> {
  const text = rollout.metadata.annotations?.[rolloutAnnotations.action] ?? ''
  const members = membersOf(text)
  const id = typeof members.id === 'string' && members.id !== '' ? members.id : `unreadable-${digest(text)}`
  return { id, type: typeof members.type === 'string' ? cut(members.type) : '' }
}

function membersOf(text: string): { readonly id?: unknown; readonly type?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Tells one text from the one before. */
function digest(text: string): string {
  return sha256Hex(text).slice(0, 8)
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`
}

function stamp({ nowMs }: RolloutView): string {
  return new Date(nowMs).toISOString()
}
