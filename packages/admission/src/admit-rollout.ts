import { type Rollout, rolloutSchema } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import {
  adviseRollout,
  isDaemonSetRef,
  type Problem,
  problemBody,
  problemText,
  rivalsOf,
  validateChange,
  validateRollout,
  workloadTaken,
} from '@tranche/validation'
import { type Admission, type AdmissionOperation, allow, type DenyCause } from './admission.ts'
import { isSameAsSent } from './same-json.ts'

/** A write to a Rollout (not to its status), and the Rollouts beside it. */
export interface RolloutRequest {
  readonly operation: AdmissionOperation
  /** What is stored; null for CREATE. */
  readonly oldObject: Rollout | null
  /** What would be stored; null for DELETE. */
  readonly newObject: Rollout | null
  /** The Rollouts of the namespace; the one that is written may be among them. */
  readonly others: readonly Rollout[]
  /** Nodes on which the DaemonSet should run; null while not known. */
  readonly desired?: number | null | undefined
}

/**
 * Decides whether a Rollout may be written. A Rollout of another workload kind passes with a warning that we do not act on
 * it, unless it leaves a DaemonSet behind whose release runs. A write that changes nothing we judge passes too, and so does everything on a Rollout that is going: a Rollout that
 * is already wrong can still be labelled, and its finalizer can go.
 *
 * What the schema refuses is left to the API server, which says it itself.
 */
export function admitRollout({ operation, oldObject, newObject, others, desired }: RolloutRequest): Admission {
  if (operation === 'DELETE' || newObject === null || newObject.metadata.deletionTimestamp !== undefined) return allow()
  if (!rolloutSchema.safeParse(newObject).success) return allow()
  if (oldObject !== null && !isJudgedAgain(oldObject, newObject)) return allow()
  const changes = oldObject === null ? [] : validateChange(oldObject, newObject)
  if (!isDaemonSetRef(newObject.spec.workloadRef)) {
    return changes.length === 0 ? allow(adviseRollout(newObject)) : deny(newObject, changes)
  }
  const problems = [...validateRollout(newObject, { desired: desired ?? null }), ...takenProblems(newObject, others), ...changes]
  return problems.length === 0 ? allow(adviseRollout(newObject)) : deny(newObject, problems)
}

/** A Rollout that is wrong already may still change in everything that is not judged here. */
function isJudgedAgain(before: Rollout, after: Rollout): boolean {
  return !isSameAsSent(judgedPart(before), judgedPart(after))
}

function judgedPart({ metadata, spec }: Rollout): unknown {
  return [spec, Object.values(rolloutAnnotations).map((key) => metadata.annotations?.[key] ?? null)]
}

function takenProblems(rollout: Rollout, others: readonly Rollout[]): readonly Problem[] {
  if (rollout.spec.disabled === true) return []
  return rivalsOf(rollout, others)
    .slice(0, 1)
    .map((rival) => workloadTaken(rollout, rival))
}

function deny(rollout: Rollout, problems: readonly Problem[]): Admission {
  const texts = problems.map(problemText).join('; and ')
  return { kind: 'deny', message: `Rollout ${rollout.metadata.name} cannot be released: ${texts}`, causes: problems.map(causeOf) }
}

/** As the API server words its own causes: the field stands beside the message, not in it. */
const causeWords = {
  FieldValueInvalid: 'Invalid value',
  FieldValueRequired: 'Required value',
  FieldValueNotSupported: 'Unsupported value',
} as const

function causeOf(problem: Problem): DenyCause {
  const reason = causeReason(problem)
  return { reason, message: `${causeWords[reason]}: ${problemBody(problem)}`, field: problem.path }
}

function causeReason({ reason, value }: Problem): DenyCause['reason'] {
  if (reason === 'UnsupportedField') return 'FieldValueNotSupported'
  return value === undefined ? 'FieldValueRequired' : 'FieldValueInvalid'
}
