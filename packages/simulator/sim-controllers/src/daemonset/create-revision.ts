import { type ControllerRevision, type DaemonSet, isSameJson } from '@tranche/kube-types'
import { isStatus, resources, type ApiObject, type ApiStatusError, type SimClient } from '@tranche/sim-api'
import { templatePatch } from '../history/plan-history.ts'
import { revisionHash } from '../history/revision-hash.ts'
import { ownerReference } from './build-pod.ts'

/**
 * Creates the revision of the DaemonSet's template. An existing revision of the same name and template is used, whatever its owner.
 *
 * @throws {ApiStatusError} 409 when another template has the name; `status.collisionCount` is then incremented, and the next pass derives
 *   another name
 */
export async function createRevision(client: SimClient, daemonSet: DaemonSet, number: number): Promise<ControllerRevision> {
  const { template } = daemonSet.spec
  const hash = revisionHash(template, daemonSet.status?.collisionCount)
  const { namespace, annotations } = daemonSet.metadata
  const revision = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${daemonSet.metadata.name}-${hash}`,
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
    const existing = await client.get(resources.controllerRevisions, revision.metadata.name, namespace)
    if (isSameJson(existing['data'], revision.data)) return existing as unknown as ControllerRevision
    return countCollision(client, daemonSet, error)
  }
}

async function countCollision(client: SimClient, { metadata, status = {} }: DaemonSet, collision: ApiStatusError): Promise<never> {
  const { name, namespace } = metadata
  const live = await client.get(resources.daemonSets, name, namespace)
  const { collisionCount: count } = (live as unknown as DaemonSet).status ?? {}
  if (count !== status.collisionCount)
    throw new Error(`found a stale collision count (${status.collisionCount}, expected ${count}) of DaemonSet ${namespace}/${name}`)
  const counted = { ...(live['status'] as object), collisionCount: (count ?? 0) + 1 }
  await client.update(resources.daemonSets, { ...live, status: counted } satisfies ApiObject, 'status')
  throw collision
}
