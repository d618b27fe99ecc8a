import type { HeldRevision, Rollout } from '@tranche/api-schema'

/**
 * The block of the revision that an abort returns to, where that one failed: its release had ended before the failure, so it is stable.
 *
 * @returns undefined where the stable revision has not failed, and where no release replaces it
 */
export function failedStable({ status }: Pick<Rollout, 'status'>): HeldRevision | undefined {
  const { stableRevision, canaryRevision } = status?.canaryStatus ?? {}
  const stable = stableRevision === undefined || stableRevision === '' ? status?.stableRevision : stableRevision
  if (stable === undefined || stable === canaryRevision) return undefined
  return status?.heldRevisions?.find(({ revision, reason }) => revision === stable && reason === 'Failed')
}

/** Says that an abort returns to a version that failed. Begins with a comma; empty where it does not. */
export function failedStableText(rollout: Pick<Rollout, 'status'>): string {
  const failed = failedStable(rollout)
  if (failed === undefined) return ''
  const at = failed.at === undefined ? '' : ` at ${failed.at}`
  return `, ${failed.revision}, which is blocked because it failed${at}`
}
