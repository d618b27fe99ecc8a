import type { BatchRelease } from '@tranche/api-schema'
import { type Pod, ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import { type Admission, resources } from '@tranche/sim-api'
import { nodeOf, revisionOf } from './timeline.ts'

/**
 * Gives pods that come up by a permit the labels of their release as they are made, which the controller would give them one by one: a write
 * less for each. Others are left to it, since it looks at them before it labels them.
 *
 * @param release the BatchRelease as it is now
 */
export function labelPods(release: () => BatchRelease | undefined): Admission {
  const { group, resource } = resources.pods
  return {
    handles: (review) => review.operation === 'CREATE' && review.resource.group === group && review.resource.resource === resource,
    admit({ object }) {
      const labels = labelsOf(release(), object as unknown as Pod | undefined)
      if (object === undefined || labels === undefined) return { allowed: true }
      const { metadata } = object
      return { allowed: true, object: { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } } }
    },
  }
}

/** @returns undefined where the pod comes up by no permit of the release */
function labelsOf(release: BatchRelease | undefined, pod: Pod | undefined): Readonly<Record<string, string>> | undefined {
  const { flight } = release?.status ?? {}
  const { rolloutID = '', batchPartition, batches } = release?.spec.releasePlan ?? {}
  if (pod === undefined || flight?.state !== 'open' || rolloutID === '' || revisionOf(pod) !== flight.revision) return undefined
  if (!flight.permits.some(({ node }) => node === nodeOf(pod))) return undefined
  const batch = (batchPartition ?? (batches?.length ?? 1) - 1) + 1
  return { [ROLLOUT_ID_LABEL]: rolloutID, [ROLLOUT_BATCH_ID_LABEL]: String(batch) }
}

/** Asks each that handles a write, one after the other: they handle different ones. */
export function allOf(admissions: readonly Admission[]): Admission {
  return {
    handles: (review) => admissions.some((one) => one.handles(review)),
    admit(review) {
      return admissions.find((one) => one.handles(review))?.admit(review) ?? { allowed: true }
    },
  }
}
