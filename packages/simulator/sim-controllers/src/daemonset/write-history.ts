import { type ControllerRevision, type DaemonSet, type Pod, ownerKeyOf } from '@tranche/kube-types'
import { isStatus, resources, type ApiObject, type SimClient } from '@tranche/sim-api'
import { hashOfRevision, planHistory } from '../history/plan-history.ts'
import { matchesSelector } from '../placement/requirements.ts'
import { claimRevisions } from './claim-revisions.ts'
import { createRevision } from './create-revision.ts'
import type { DaemonSetCache } from './daemon-set-cache.ts'

/** Revisions of a DaemonSet: the one of its current template, and the others. */
export interface History {
  readonly current: ControllerRevision
  readonly old: readonly ControllerRevision[]
}

/** Dependencies of the history. */
export interface HistoryPorts {
  readonly client: SimClient
  readonly cache: DaemonSetCache
}

/**
 * Ensures that exactly one revision, the newest, holds the DaemonSet's template. Claims revisions, labels those without a hash, merges
 * duplicates, then creates a revision or renumbers an older one.
 *
 * @throws error of a write; also 409 when another revision has the name of this template: the collision is counted, and the next pass
 *   derives another name
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

/** Old versions of Kubernetes wrote no hash label: the name is the hash there. */
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
 * Labels every pod of a merged revision with the hash of the kept one, even a pod of an old template, which is then never replaced. The
 * real controller does the same.
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
