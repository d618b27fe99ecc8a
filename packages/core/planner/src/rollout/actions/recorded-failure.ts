import { type Failure, failureSchema, type Rollout, type RolloutStatus, sizeLimits } from '@tranche/api-schema'
import { clipText, FAILURE_ANNOTATION, parseTime } from '@tranche/kube-types'
import { partsOfReleaseId } from '../release/release-id.ts'
import { jsonOrUndefined } from './json-or-undefined.ts'

type Failed = Pick<RolloutStatus, 'failure'>

/** What {@link FAILURE_ANNOTATION} has of a failure: what decides whether it still stops the version. */
const recordSchema = failureSchema.pick({ reason: true, action: true, at: true, release: true, retry: true })

/**
 * G9: the failure in the annotation, which stopped the revision of the status. A write of the Rollout and its BatchRelease under other
 * CustomResourceDefinitions drops it from both statuses. A user who may annotate the Rollout may write anything here: that can stop a release
 * until a `retry`, and can continue none.
 */
export function recordedFailure({ metadata, status }: Rollout): Failure | undefined {
  const { data } = recordSchema.safeParse(jsonOrUndefined(metadata.annotations?.[FAILURE_ANNOTATION]))
  if (data === undefined) return undefined
  const { uid, revision } = partsOfReleaseId(data.release)
  if (uid !== metadata.uid || revision !== status?.canaryStatus?.canaryRevision) return undefined
  const { at, retry = '', ...rest } = data
  if (retry.length > sizeLimits.identity) return undefined
  const reason = clipText(data.reason, sizeLimits.reason)
  return {
    ...rest,
    reason,
    message: `${reason}; other programs have removed the details from the status, under other CustomResourceDefinitions`,
    nodes: [],
    ...(parseTime(at) !== null && { at }),
    ...(data.retry !== undefined && { retry }),
    stops: true,
  }
}

/** Whether the annotation must be written before the status: it always has a failure that the status reports to stop the version. */
export function mustRecordFirst(rollout: Rollout, status: Failed): boolean {
  const text = recordedFailureText(status)
  return text !== null && rollout.metadata.annotations?.[FAILURE_ANNOTATION] !== text
}

/** @returns the annotation's text; null: no annotation */
export function recordedFailureText({ failure }: Failed): string | null {
  if (failure?.stops !== true) return null
  const { reason, action, at, release, retry } = failure
  return JSON.stringify({ reason, action, at, release, retry })
}
