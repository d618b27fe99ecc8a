import { type Failure, failureSchema, type Rollout, type RolloutStatus, sizeLimits } from '@tranche/api-schema'
import { clipText, FAILURE_ANNOTATION, parseTime, timeText } from '@tranche/kube-types'
import { nameAfterEnd } from '@tranche/verdict'
import { isReleaseId, partsOfReleaseId, releaseId } from './release-id.ts'
import { policyTerms } from '../view/release-policy.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { jsonOrUndefined } from '../view/json-or-undefined.ts'

/** What the annotation has of a failure: what decides whether it still stops the version. */
const copySchema = failureSchema.pick({ reason: true, at: true, release: true, retry: true })

/**
 * G9: the failure in the annotation `tranche.dev/failure`, where the status has lost which release it describes. A write of the Rollout and its
 * BatchRelease under other CustomResourceDefinitions drops the failure from both statuses. A user who may annotate the Rollout may write
 * anything here: it can stop the release of the revision in the status until a `retry`, and then the policy applies.
 *
 * @returns undefined for a failure of another revision or Rollout, and beside a status that has its fields
 */
export function failureInAnnotation(view: RolloutView): Failure | undefined {
  const { status } = view.rollout
  if (status?.releaseGeneration !== undefined || status?.failure !== undefined) return undefined
  const why = 'other programs have removed the details from the status, under other CustomResourceDefinitions'
  return copiedFailure(view, { why, action: policyTerms(view).failure?.action ?? 'Pause' })
}

/**
 * G7: the failure of the present release in the annotation, which is written before the status, and removed before the status loses it. It may be all
 * that is left of a verdict whose BatchRelease was deleted. It rolls nothing back, because a user may have written it: it waits for a person.
 *
 * @returns undefined for a failure of another release
 */
export function failureBeforeStatus(view: RolloutView): Failure | undefined {
  const why = 'its BatchRelease was deleted before the status had the details, so failure.action does not apply'
  const failure = copiedFailure(view, { why, action: 'Pause' })
  const id = releaseId(view.rollout)
  return [id, nameAfterEnd(id)].includes(failure?.release ?? '') ? failure : undefined
}

/** The failure in the annotation, if it is of this Rollout and of the revision in the status. */
function copiedFailure(
  view: RolloutView,
  { why, action }: { readonly why: string; readonly action: NonNullable<Failure['action']> },
): Failure | undefined {
  const { metadata, status } = view.rollout
  const { data } = copySchema.safeParse(jsonOrUndefined(metadata.annotations?.[FAILURE_ANNOTATION]))
  const { uid, revision } = partsOfReleaseId(data?.release)
  if (data === undefined || !isReleaseId(data.release) || (data.retry?.length ?? 0) > sizeLimits.identity) return undefined
  if (uid !== metadata.uid || revision !== status?.canaryStatus?.canaryRevision) return undefined
  const reason = clipText(data.reason, sizeLimits.reason)
  const at = timeText(parseTime(data.at) ?? view.nowMs)
  return { ...data, reason, message: `${reason}; ${why}`, nodes: [], at, action, stops: true }
}

/** Whether the annotation must be written before the status: it always has a failure that the status reports to stop the version. */
export function mustKeepFailureFirst(rollout: Rollout, status: Pick<RolloutStatus, 'failure'>): boolean {
  const text = failureCopyText(status)
  return text !== null && rollout.metadata.annotations?.[FAILURE_ANNOTATION] !== text
}

/** Whether the annotation must be removed before the status, which loses its failure: alone, it would bring that failure back. */
export function mustDropFailureFirst({ status, metadata }: Rollout, next: Pick<RolloutStatus, 'failure'>): boolean {
  return status?.failure?.stops === true && next.failure?.stops !== true && metadata.annotations?.[FAILURE_ANNOTATION] !== undefined
}

/** @returns the annotation's text; null: no annotation */
export function failureCopyText({ failure }: Pick<RolloutStatus, 'failure'>): string | null {
  if (failure?.stops !== true) return null
  const { reason, at, release, retry } = failure
  return JSON.stringify({ reason, at, release, retry })
}
