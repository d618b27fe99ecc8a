import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { isStatus, resources, type SimClient } from '@tranche/sim-api'
import { canonicalJson } from '../history/canonical-json.ts'
import { planHistory, templatePatch } from '../history/plan-history.ts'
import { revisionHash } from '../history/revision-hash.ts'
import { ownerReference } from './build-pod.ts'

/** A DaemonSet's revisions: the one that holds its template now, and the others. */
export interface History {
  readonly current: ControllerRevision
  readonly old: readonly ControllerRevision[]
}

/**
 * Makes sure that the newest revision holds the DaemonSet's template: creates it, or gives an older one a new number.
 *
 * @param revisions the DaemonSet's revisions as the cache has them
 * @throws {ApiStatusError} 409 when another revision has the name that this template would get
 */
export async function writeHistory(client: SimClient, daemonSet: DaemonSet, revisions: readonly ControllerRevision[]): Promise<History> {
  const plan = planHistory(daemonSet.spec.template, revisions)
  switch (plan.kind) {
    case 'keep':
      return { current: plan.current, old: plan.old }
    case 'renumber': {
      const { name, namespace } = plan.current.metadata
      const renumbered = await client.patch(resources.controllerRevisions, name, namespace, { revision: plan.number })
      return { current: renumbered as unknown as ControllerRevision, old: plan.old }
    }
    case 'create':
      return { current: await createRevision(client, daemonSet, plan.number), old: plan.old }
    default:
      return plan satisfies never
  }
}

async function createRevision(client: SimClient, daemonSet: DaemonSet, number: number): Promise<ControllerRevision> {
  const { template } = daemonSet.spec
  const hash = revisionHash(template, (daemonSet.status as { readonly collisionCount?: number } | undefined)?.collisionCount)
  const name = `${daemonSet.metadata.name}-${hash}`
  const { namespace, annotations } = daemonSet.metadata
  const revision = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace,
      labels: { ...template.metadata?.labels, 'controller-revision-hash': hash },
      ...(annotations && { annotations }),
      ownerReferences: [ownerReference(daemonSet)],
    },
    data: templatePatch(template),
    revision: number,
  }
  try {
    return (await client.create(resources.controllerRevisions, revision)) as unknown as ControllerRevision
  } catch (error) {
    if (!isStatus(error, 409)) throw error
    return existingRevision(client, name, namespace, revision.data, error)
  }
}

/** The name is taken: by this very template, when the cache is behind. Counting a collision would begin where it throws. */
async function existingRevision(
  client: SimClient,
  name: string,
  namespace: string | undefined,
  data: unknown,
  error: unknown,
): Promise<ControllerRevision> {
  const existing = (await client.get(resources.controllerRevisions, name, namespace)) as unknown as ControllerRevision
  if (canonicalJson(existing.data) === canonicalJson(data)) return existing
  throw error
}
