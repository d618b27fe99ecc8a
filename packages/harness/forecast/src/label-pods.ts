import type { BatchRelease } from '@tranche/api-schema'
import { type Pod, ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import { type Admission, resources } from '@tranche/sim-api'
import { nodeOf, revisionOf } from './timeline.ts'

/**
 * Adds the release labels to permitted pods at creation. The controller would add them one by one, with one write each. Other pods are left
 * to the controller, which checks them before it labels them.
 *
 * @param release current BatchRelease
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

/** @returns undefined unless a permit of the release covers the pod */
function labelsOf(release: BatchRelease | undefined, pod: Pod | undefined): Readonly<Record<string, string>> | undefined {
  const { flight } = release?.status ?? {}
  const { rolloutID = '', batchPartition, batches } = release?.spec.releasePlan ?? {}
  if (pod === undefined || flight?.state !== 'open' || rolloutID === '' || revisionOf(pod) !== flight.revision) return undefined
  if (!flight.permits.some(({ node }) => node === nodeOf(pod))) return undefined
  const batch = (batchPartition ?? (batches?.length ?? 1) - 1) + 1
  return { [ROLLOUT_ID_LABEL]: rolloutID, [ROLLOUT_BATCH_ID_LABEL]: String(batch) }
}

/** Calls the handlers in sequence; each handles different writes. */
export function allOf(admissions: readonly Admission[]): Admission {
  return {
    handles: (review) => admissions.some((one) => one.handles(review)),
    admit(review) {
      return admissions.find((one) => one.handles(review))?.admit(review) ?? { allowed: true }
    },
  }
}
