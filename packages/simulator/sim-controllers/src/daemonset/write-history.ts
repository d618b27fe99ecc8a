import { type ControllerRevision, type DaemonSet, type Pod, ownerKeyOf } from '@tranche/kube-types'
import { isStatus, resources, type ApiObject, type SimClient } from '@tranche/sim-api'
import { hashOfRevision, planHistory } from '../history/plan-history.ts'
import { matchesSelector } from '../placement/requirements.ts'
import { claimRevisions } from './claim-revisions.ts'
import { createRevision } from './create-revision.ts'
import type { DaemonSetCache } from './daemon-set-cache.ts'

/** A DaemonSet's revisions: the one that holds its template now, and the others. */
export interface History {
  readonly current: ControllerRevision
  readonly old: readonly ControllerRevision[]
}

/** What writing the history needs. */
export interface HistoryPorts {
  readonly client: SimClient
  readonly cache: DaemonSetCache
}

/**
 * Makes sure that the newest revision holds the DaemonSet's template, and no other does: claims revisions, labels those
 * without a hash, merges duplicates, then creates a revision or gives an older one a new number.
 *
 * @throws what a write answers; 409 too when another revision has the name that this template would get, which is counted
 * so that the next pass finds another name
 */
export async function writeHistory({ client, cache }: HistoryPorts, daemonSet: DaemonSet): Promise<History> {
  const claimed = await claimRevisions(client, daemonSet, cache.revisionsFor(daemonSet))
  const revisions: ControllerRevision[] = []
  for (const revision of claimed) revisions.push(await labelled(client, revision))
  const plan = planHistory(daemonSet.spec.template, revisions)
  if (plan.kind === 'create') return { current: await createRevision(client, daemonSet, plan.number), old: plan.old }
  if (plan.duplicates.length > 0) await mergeDuplicates({ client, cache }, daemonSet, plan.current, plan.duplicates)
  if (plan.kind === 'renumber') await replaceRevision(client, { ...plan.current, revision: plan.number })
  return { current: plan.current, old: plan.old }
}

/** Older versions of Kubernetes wrote no hash label: there the name stands for the hash. */
async function labelled(client: SimClient, revision: ControllerRevision): Promise<ControllerRevision> {
  const { metadata } = revision
  if (metadata.labels?.['controller-revision-hash'] !== undefined) return revision
  const labels = { ...metadata.labels, 'controller-revision-hash': metadata.name }
  return replaceRevision(client, { ...revision, metadata: { ...metadata, labels } })
}

async function replaceRevision(client: SimClient, revision: ControllerRevision): Promise<ControllerRevision> {
  return (await client.update(resources.controllerRevisions, revision as unknown as ApiObject)) as unknown as ControllerRevision
}

/**
 * Every pod of the DaemonSet gets the hash of the revision that stays, whatever it had before: a pod of an old template too,
 * which is then never replaced. The real controller does the same.
 */
async function mergeDuplicates(
  { client, cache }: HistoryPorts,
  daemonSet: DaemonSet,
  kept: ControllerRevision,
  duplicates: readonly ControllerRevision[],
): Promise<void> {
  const hash = hashOfRevision(kept)
  const pods = [...cache.owned.podsOf(ownerKeyOf(daemonSet))]
  for (const { metadata } of pods.filter((pod) => needsHash(pod, daemonSet, hash)))
    await client.patch(resources.pods, metadata.name, metadata.namespace, { metadata: { labels: { 'controller-revision-hash': hash } } })
  for (const { metadata } of duplicates)
    await client.delete(resources.controllerRevisions, metadata.name, metadata.namespace).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error
    })
}

function needsHash({ metadata: { labels } }: Pod, { spec }: DaemonSet, hash: string): boolean {
  return matchesSelector(spec.selector, labels) && labels?.['controller-revision-hash'] !== hash
}
