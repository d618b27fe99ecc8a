import type { Rollout } from '@tranche/api-schema'
import { rolloutAnnotations, valueIn } from '@tranche/kube-types'
import {
  adviseRollout,
  checkRollout,
  firstAdvice,
  isDaemonSetRef,
  type Problem,
  problemText,
  conflictingRollouts,
  validateChange,
  validateStatusChange,
  workloadTaken,
} from '@tranche/validation'
import { type Admission, type AdmissionOperation, allow, isOurWrite } from './admission.ts'
import { deny } from './deny.ts'
import { isSameAsSent } from './same-json.ts'
import { withoutStatus } from './without-status.ts'

/** A write to a Rollout (not to its status), and the other Rollouts of the namespace. */
export interface RolloutRequest {
  readonly operation: AdmissionOperation
  /** The stored object; null for CREATE. */
  readonly oldObject: Rollout | null
  /** The object to store; null for DELETE. */
  readonly newObject: Rollout | null
  /** Rollouts of the namespace; the written one may be among them. */
  readonly others: readonly Rollout[]
  /** Nodes on which the DaemonSet should run; null while unknown. */
  readonly desired?: number | null | undefined
  /** Whether the DaemonSet in `workloadRef` exists; null while unknown. */
  readonly workloadExists?: boolean | null | undefined
}

/** A write to the status of a Rollout. */
export interface RolloutStatusRequest {
  readonly oldObject: Rollout
  readonly newObject: Rollout
  /** `options.fieldManager` of the request; writes by Tranche itself pass. */
  readonly fieldManager?: string | undefined
}

/**
 * Decides whether a Rollout may be written. A Rollout of another workload kind passes with a warning that Tranche ignores it, unless
 * the change abandons a DaemonSet with a running release. Writes that change no checked field pass, and so do all writes to a Rollout
 * being deleted: an invalid Rollout can still get labels and lose its finalizer.
 *
 * The API server itself rejects violations of the schema; where that is of an older version, too large objects are denied here.
 */
export function admitRollout({ operation, oldObject, newObject, others, ...known }: RolloutRequest): Admission {
  if (operation === 'DELETE' || newObject === null || newObject.metadata.deletionTimestamp !== undefined) return allow()
  if (oldObject !== null && !isJudgedAgain(oldObject, newObject)) return allow()
  const surroundings = { desired: known.desired ?? null, workloadExists: known.workloadExists ?? null }
  const checked = checkRollout(withoutStatus(newObject), surroundings)
  if (checked.object === null && checked.isOversized !== true) return allow()
  const changes = oldObject === null ? [] : validateChange(oldObject, newObject)
  const own = isDaemonSetRef(newObject.spec.workloadRef) ? [...checked.problems, ...takenProblems(newObject, others)] : []
  const problems = [...own, ...changes]
  if (problems.length > 0) return deny(`Rollout ${newObject.metadata.name} cannot be released`, problems)
  return allow(firstAdvice(adviseRollout(newObject, surroundings)).map(problemText))
}

/**
 * Decides whether a user may write this status of a Rollout: only an approval or a jump. Writes by Tranche itself, and writes to a
 * Rollout of another workload kind, pass.
 */
export function admitRolloutStatus({ oldObject, newObject, fieldManager }: RolloutStatusRequest): Admission {
  if (isOurWrite(fieldManager)) return allow()
  const problems = validateStatusChange(oldObject, newObject)
  return problems.length === 0 ? allow() : deny(`The status of Rollout ${newObject.metadata.name} cannot be changed`, problems)
}

/** Whether a checked field changed: an invalid Rollout may still change in all other fields. */
function isJudgedAgain(before: Rollout, after: Rollout): boolean {
  return !isSameAsSent(judgedPart(before), judgedPart(after))
}

function judgedPart({ metadata, spec }: Rollout): unknown {
  return [spec, Object.values(rolloutAnnotations).map((key) => valueIn(metadata.annotations, key) ?? null)]
}

function takenProblems(rollout: Rollout, others: readonly Rollout[]): readonly Problem[] {
  if (rollout.spec.disabled === true) return []
  return conflictingRollouts(rollout, others)
    .slice(0, 1)
    .map((conflicting) => workloadTaken(rollout, conflicting))
}
