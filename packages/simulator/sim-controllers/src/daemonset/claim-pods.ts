import { keyOf, type Pod } from '@tranche/kube-types'
import { isStatus, resources, type SimClient } from '@tranche/sim-api'
import { matchesSelector } from '../placement/requirements.ts'
import type { DaemonSetCache } from './daemon-set-cache.ts'
import { isTerminating } from './nodes/pod-facts.ts'
import type { Target } from './nodes/pod-template.ts'
import type { AdoptionCheck } from './adoption-check.ts'
import type { OwnWrites } from './own-writes.ts'
import { ownerReference } from './build-pod.ts'

/** Dependencies of the pod claim. */
export interface ClaimPorts {
  readonly client: SimClient
  readonly cache: DaemonSetCache
  readonly ownWrites: OwnWrites
}

/**
 * Adopts matching orphans, and releases pods whose labels no longer match. Updates the index at once.
 *
 * @param mayAdopt called before the first adoption
 * @param releases pods to release
 * @throws first error, after all have been tried; a pod that is gone is no error
 */
export async function claimPods(ports: ClaimPorts, target: Target, mayAdopt: AdoptionCheck, releases: readonly Pod[]): Promise<void> {
  const { daemonSet } = target
  const errors: unknown[] = []
  const each = async (pods: readonly Pod[], claim: (pod: Pod) => Promise<void>): Promise<void> => {
    for (const pod of pods) await claim(pod).catch((error: unknown) => errors.push(error))
  }
  await each(releases, (pod) => releasePod(ports, target, pod))
  const orphans = [...ports.cache.owned.orphansIn(keyOf(daemonSet).namespace)]
  await each(
    orphans.filter((pod) => !isTerminating(pod) && matchesSelector(daemonSet.spec.selector, pod.metadata.labels)),
    (pod) => adoptPod(ports, target, mayAdopt, pod),
  )
  if (errors.length > 0) throw errors[0]
}

async function adoptPod({ client, cache, ownWrites }: ClaimPorts, { daemonSet }: Target, mayAdopt: AdoptionCheck, pod: Pod): Promise<void> {
  const { name, namespace, uid } = pod.metadata
  await mayAdopt()
  try {
    // The uid guards against another pod of the same name; the server rejects a second controller.
    const body = { metadata: { uid, ownerReferences: [ownerReference(daemonSet)] } }
    const adopted = await client.strategicPatch(resources.pods, name, namespace, body)
    ownWrites.podWritten(daemonSet, adopted.metadata.resourceVersion)
    putIfThere(cache, adopted as unknown as Pod)
  } catch (error) {
    if (!isStatus(error, 404)) throw error
  }
}

async function releasePod({ client, cache }: ClaimPorts, { daemonSet }: Target, pod: Pod): Promise<void> {
  const { name, namespace, uid } = pod.metadata
  try {
    const body = { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: daemonSet.metadata.uid }] } }
    putIfThere(cache, (await client.strategicPatch(resources.pods, name, namespace, body)) as unknown as Pod)
  } catch (error) {
    if (!isStatus(error, 404) && !isStatus(error, 422)) throw error
  }
}

/** The watch may already have reported the pod as gone; nothing would remove it from the index again. */
function putIfThere({ pods, owned }: DaemonSetCache, pod: Pod): void {
  if (pods.get(pod.metadata.name, pod.metadata.namespace)?.metadata.uid === pod.metadata.uid) owned.put(pod)
}
