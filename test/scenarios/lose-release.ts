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

const KEEPER = 'example.com/keep'

/** Another program adds a finalizer to the BatchRelease. @returns a function that removes it */
export async function keepRelease(stage: Stage): Promise<() => Promise<void>> {
  await patchFinalizers(stage, (finalizers) => [...finalizers, KEEPER])
  return () => patchFinalizers(stage, (finalizers) => finalizers.filter((one) => one !== KEEPER))
}

async function patchFinalizers(stage: Stage, change: (finalizers: readonly string[]) => readonly string[]): Promise<void> {
  const finalizers = change((await stage.release())?.metadata.finalizers ?? [])
  await stage.client.patch(resourcePaths.batchReleases, stageKey, { type: 'merge', body: { metadata: { finalizers } } })
}

/** The object is gone already. */
function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error
}
