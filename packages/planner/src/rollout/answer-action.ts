import type { LastAction, RolloutAction } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { parseAction } from '@tranche/validation'
import { discoverRevisions } from '../release/discover-revisions.ts'
import { jumpTarget } from './advance-step.ts'
import type { Course } from './course.ts'
import { isFinalising, isWithinSteps, stepsOf } from './release-spec.ts'
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
  const refused = refusal(view, before, decided, action)
  if (refused === 'unclear') return null
  const reason = refused?.why ?? action.reason
  const result = refused === null ? 'Accepted' : 'Refused'
  const said = { ...(by !== undefined && { by: cut(by) }), ...(reason !== undefined && { reason: cut(reason) }) }
  return unlessAnswered(view, { id, type, result, ...said, at: stamp(view) }, refused === null ? effectOf(action) : { kind: 'none' })
}

function unlessAnswered({ rollout }: RolloutView, lastAction: LastAction, effect: ActionEffect): ActionAnswer | null {
  return rollout.status?.lastAction?.id === lastAction.id ? null : { lastAction, effect }
}

function effectOf({ type, step }: RolloutAction): ActionEffect {
  return type === 'jump' && step !== undefined ? { kind: 'jump', step } : { kind: 'approve' }
}

type Refusal = { readonly why: string }

function refusal(view: RolloutView, before: Course, decided: Course, action: RolloutAction): Refusal | 'unclear' | null {
  if (action.type !== 'approve' && action.type !== 'jump') return { why: 'not carried out by this version' }
  if (before.phase !== 'Progressing' || decided.phase !== 'Progressing') return { why: 'no release is under way' }
  if (decided.blocked) return { why: `the Rollout is stalled: ${decided.message}` }
  if (isPending(view)) return 'unclear'
  const why =
    momentRefusal(view, before, decided, action) ?? (action.type === 'approve' ? approveRefusal : jumpRefusal)(view, before, action)
  return why === null ? null : { why }
}

/** Whether it is meant for what is going on now. */
function momentRefusal({ rollout }: RolloutView, { canary }: Course, decided: Course, action: RolloutAction): string | null {
  const { canaryRevision, currentStepIndex } = canary
  if (decided.canary.canaryRevision !== canaryRevision) {
    return `the template has changed: revision ${decided.canary.canaryRevision} is released now, no longer ${canaryRevision}`
  }
  if (action.revision !== undefined && action.revision !== canaryRevision) {
    return `it is meant for revision ${action.revision}, and ${canaryRevision} is being released`
  }
  if (isFinalising(canary)) return 'the steps are done, and the release is being finished'
  if (!isWithinSteps(rollout, canary)) return `the spec has no step ${currentStepIndex} any more`
  if (action.expectedStep === undefined) return `it does not say expectedStep; the release is at step ${currentStepIndex}`
  if (action.expectedStep === currentStepIndex) return null
  return `it is meant for step ${action.expectedStep}, and the release is at step ${currentStepIndex}`
}

function approveRefusal({ rollout }: RolloutView, { canary }: Course): string | null {
  const { currentStepIndex, currentStepState } = canary
  if (currentStepState !== 'StepPaused')
    return `step ${currentStepIndex} is in state ${currentStepState}, and only a StepPaused one can be approved`
  const jump = jumpTarget(canary, stepsOf(rollout).length)
  return jump === null ? null : `nextStepIndex asks for a jump to step ${jump}, which leaves step ${currentStepIndex} already`
}

function jumpRefusal({ rollout }: RolloutView, _standing: Course, { step = 0 }: RolloutAction): string | null {
  const steps = stepsOf(rollout).length
  return step >= 1 && step <= steps ? null : `there is no step ${step}: the steps are 1 to ${steps}`
}

/** The DaemonSet controller has yet to say which revision the template is: it may be another than the status says. */
function isPending({ daemonSet, revisions, fleet }: RolloutView): boolean {
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

/** FNV-1a of 32 bits, in hexadecimal: tells one text from the one before. */
function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`
}

function stamp({ nowMs }: RolloutView): string {
  return new Date(nowMs).toISOString()
}
