import { controllerOf, type ControllerRevision, type DaemonSet } from '@tranche/kube-types'
import { isStatus, resources, type SimClient } from '@tranche/sim-api'
import { matchesSelector } from '../placement/requirements.ts'
import { createAdoptionCheck, type AdoptionCheck } from './adoption-check.ts'
import { ownerReference } from './build-pod.ts'

/**
 * Adopts matching orphans, and releases revisions whose labels no longer match.
 *
 * @param revisions of the DaemonSet, and those without a controller
 * @returns revisions that now belong to the DaemonSet
 * @throws first error, after all have been tried; a revision that is gone is no error
 */
export async function claimRevisions(
  client: SimClient,
  daemonSet: DaemonSet,
  revisions: readonly ControllerRevision[],
): Promise<readonly ControllerRevision[]> {
  const mayAdopt = createAdoptionCheck(client, daemonSet)
  const claimed: ControllerRevision[] = []
  const errors: unknown[] = []
  for (const revision of revisions) {
    const isMatch = matchesSelector(daemonSet.spec.selector, revision.metadata.labels)
    const isOwned = controllerOf(revision) !== undefined
    try {
      if (isMatch && isOwned) claimed.push(revision)
      else if (isOwned) await release(client, daemonSet, revision)
      else if (isMatch && revision.metadata.deletionTimestamp === undefined) {
        const adopted = await adopt(client, daemonSet, mayAdopt, revision)
        if (adopted !== undefined) claimed.push(adopted)
      }
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return claimed
}

/** @returns undefined when the revision is gone */
async function adopt(
  client: SimClient,
  daemonSet: DaemonSet,
  mayAdopt: AdoptionCheck,
  { metadata: { name, namespace, uid } }: ControllerRevision,
): Promise<ControllerRevision | undefined> {
  await mayAdopt()
  try {
    const body = { metadata: { uid, ownerReferences: [ownerReference(daemonSet)] } }
    return (await client.strategicPatch(resources.controllerRevisions, name, namespace, body)) as unknown as ControllerRevision
  } catch (error) {
    if (!isStatus(error, 404)) throw error
    return undefined
  }
}

async function release(client: SimClient, daemonSet: DaemonSet, { metadata: { name, namespace, uid } }: ControllerRevision): Promise<void> {
  try {
    const body = { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: daemonSet.metadata.uid }] } }
    await client.strategicPatch(resources.controllerRevisions, name, namespace, body)
  } catch (error) {
    if (!isStatus(error, 404) && !isStatus(error, 422)) throw error
  }
}
