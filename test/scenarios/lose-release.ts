import { isNotFound, resourcePaths } from '@tranche/kube-client'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

/** A client removes the permit record from the BatchRelease. */
export async function loseRecord({ client }: Stage): Promise<void> {
  const body = { status: { flight: null } }
  await client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body }, { subresource: 'status' })
}

/** A client removes the BatchRelease at once: its controller detaches nothing. */
export async function removeRelease({ client }: Stage): Promise<void> {
  const body = { metadata: { finalizers: [] } }
  await client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body })
  await client.delete(resourcePaths.batchReleases, stageKey).catch(ignoreGone)
  await client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body }).catch(ignoreGone)
}

/** The object is gone already. */
function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error
}
