import type { Rollout } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import {
  adviseRollout,
  checkRollout,
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
  /** Whether the DaemonSet that `workloadRef` names exists; null while not known. */
  readonly workloadExists?: boolean | null | undefined
}

/** A write to the status of a Rollout. */
export interface RolloutStatusRequest {
  readonly oldObject: Rollout
  readonly newObject: Rollout
  /** `options.fieldManager` of the request; our own writes pass. */
  readonly fieldManager?: string | undefined
}

/**
 * Decides whether a Rollout may be written. A Rollout of another workload kind passes with a warning that we do not act on
 * it, unless it leaves a DaemonSet behind whose release runs. A write that changes nothing we judge passes too, and so does everything on a Rollout that is going: a Rollout that
 * is already wrong can still be labelled, and its finalizer can go.
 *
 * What the schema refuses is left to the API server, which says it itself.
 */
export function admitRollout({ operation, oldObject, newObject, others, ...known }: RolloutRequest): Admission {
  if (operation === 'DELETE' || newObject === null || newObject.metadata.deletionTimestamp !== undefined) return allow()
  if (oldObject !== null && !isJudgedAgain(oldObject, newObject)) return allow()
  const surroundings = { desired: known.desired ?? null, workloadExists: known.workloadExists ?? null }
  const checked = checkRollout(withoutStatus(newObject), surroundings)
  if (checked.object === null) return allow()
  const changes = oldObject === null ? [] : validateChange(oldObject, newObject)
  const own = isDaemonSetRef(newObject.spec.workloadRef) ? [...checked.problems, ...takenProblems(newObject, others)] : []
  const problems = [...own, ...changes]
  if (problems.length > 0) return deny(`Rollout ${newObject.metadata.name} cannot be released`, problems)
  return allow(adviseRollout(newObject, surroundings).map(problemText))
}

/**
 * Decides whether a person may write this into the status of a Rollout: an approval or a jump, and nothing else. Our own
 * writes, and those to a Rollout that is not ours, pass.
 */
export function admitRolloutStatus({ oldObject, newObject, fieldManager }: RolloutStatusRequest): Admission {
  if (isOurWrite(fieldManager)) return allow()
  const problems = validateStatusChange(oldObject, newObject)
  return problems.length === 0 ? allow() : deny(`The status of Rollout ${newObject.metadata.name} cannot be written`, problems)
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
  return conflictingRollouts(rollout, others)
    .slice(0, 1)
    .map((conflicting) => workloadTaken(rollout, conflicting))
}
