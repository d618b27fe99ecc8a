import type { BatchRelease } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'

/**
 * What replaces an abort that a text recommends. After the steps, the release may run only because its Rollout is disabled or deleted: an
 * abort is rejected then.
 *
 * @param policy value of `tranche.dev/on-delete` that helps there
 * @returns begins with a semicolon; empty in a step, where an abort is accepted
 */
export function insteadOfAbort(release: BatchRelease | undefined, policy: 'Freeze' | 'Rollback'): string {
  if (release?.spec.releasePlan.batchPartition !== undefined) return ''
  return `; if the Rollout is disabled or deleted, set ${rolloutAnnotations.onDelete} to ${policy}`
}
