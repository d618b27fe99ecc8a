import { onDeletePolicies, type Rollout, type RolloutAction, rolloutActionSchema } from '@tranche/api-schema'
import { rolloutAnnotations, sha256Hex, readJson } from '@tranche/kube-types'
import { isObjectName } from './fields/names.ts'
import { type Problem, problemOf } from './problems/problem.ts'

/** Parsed value of the annotation `tranche.dev/action`. */
export type ParsedAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'action'; readonly action: RolloutAction }
  | { readonly kind: 'problem'; readonly problem: Problem }

/** Checks the annotations that users write on a Rollout: settings and the action. */
export function validateAnnotations(rollout: Rollout): readonly Problem[] {
  return [...validateSettings(rollout), ...actionProblems(rollout)]
}

/** Checks the annotations with release settings; not the action, which has its own answer. */
export function validateSettings(rollout: Rollout): readonly Problem[] {
  return [...policyProblems(rollout), ...onDeleteProblems(rollout), ...rollbackProblems(rollout)]
}

/** Parses the action on a Rollout. An unreadable action is a problem, never an action. */
export function parseAction(rollout: Rollout): ParsedAction {
  const text = rollout.metadata.annotations?.[rolloutAnnotations.action]
  if (text === undefined) return { kind: 'none' }
  const value = jsonOf(text)
  if (value === undefined) return actionProblem(text, 'it is not JSON')
  const parsed = rolloutActionSchema.safeParse(value)
  if (!parsed.success) return actionProblem(text, parsed.error.issues.map(issueText).join(', '))
  const wrong = misplacedMember(parsed.data)
  if (wrong !== null) return actionProblem(text, wrong)
  const { id, ...members } = parsed.data
  return { kind: 'action', action: { ...members, id: id ?? `${GENERATED_ID_PREFIX}${actionDigest(members)}` } }
}

/** Prefix of the id of an action without one; {@link actionDigest} follows it. */
export const GENERATED_ID_PREFIX = 'auto-'

/**
 * Digest of the members of an action, independent of its id and the order of the members.
 *
 * @returns 16 hexadecimal digits
 */
export function actionDigest({ id: _id, ...members }: Partial<RolloutAction>): string {
  const sorted = Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sha256Hex(JSON.stringify(sorted)).slice(0, 16)
}

function policyProblems(rollout: Rollout): readonly Problem[] {
  const value = rollout.metadata.annotations?.[rolloutAnnotations.releasePolicy]
  return value === undefined || isObjectName(value) ? [] : [problemOf('PolicyName', { value })]
}

function onDeleteProblems(rollout: Rollout): readonly Problem[] {
  const value = rollout.metadata.annotations?.[rolloutAnnotations.onDelete]
  if (value === undefined || onDeletePolicies.some((policy) => policy === value)) return []
  return [problemOf('OnDelete', { value })]
}

function rollbackProblems(rollout: Rollout): readonly Problem[] {
  const value = rollout.metadata.annotations?.[rolloutAnnotations.rollbackInBatch]
  return value === undefined || value === 'true' || value === 'false' ? [] : [problemOf('RollbackInBatch', { value })]
}

function actionProblems(rollout: Rollout): readonly Problem[] {
  const parsed = parseAction(rollout)
  return parsed.kind === 'problem' ? [parsed.problem] : []
}

function misplacedMember(action: Omit<RolloutAction, 'id'>): string | null {
  if (action.type === 'jump' && action.step === undefined) return 'a jump needs a step'
  if (action.type !== 'jump' && action.step !== undefined) return 'only a jump may have a step'
  if (action.type !== 'promote' && action.full !== undefined) return 'only a promote may have full'
  return null
}

function actionProblem(text: string, message: string): ParsedAction {
  return { kind: 'problem', problem: problemOf('Action', { value: text, message }) }
}

function issueText(issue: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  const where = issue.path.length === 0 ? 'it' : issue.path.join('.')
  return `${where}: ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`
}

/** @returns the parsed value; undefined, which JSON cannot express, for invalid JSON */
function jsonOf(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}
