import { resourcePaths } from '@tranche/kube-client'
import type { Pod } from '@tranche/kube-types'
import { stageKey } from './stage-objects.ts'
import type { Stage } from './stage.ts'

/** An event of the namespace, as `kubectl get events` shows it. */
export interface ShownEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly count?: number
  readonly involvedObject: { readonly kind: string; readonly name: string }
}

const quotas = { group: '', version: 'v1', plural: 'resourcequotas', namespaced: true }
const noPods = { namespace: stageKey.namespace, name: 'no-pods' }

/** Makes a pod unready, like a failing probe. Its kubelet does not write again, because it sees no change. */
export async function breakPod(stage: Stage, pod: Pod): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: new Date(stage.clock.nowMs()).toISOString() }]
  await stage.client.patch(
    resourcePaths.pods,
    keyOf(pod),
    { type: 'strategic', body: { status: { conditions } } },
    { subresource: 'status' },
  )
}

/** Deletes a pod like a user with kubectl. */
export async function deletePod(stage: Stage, pod: Pod): Promise<void> {
  await stage.client.delete(resourcePaths.pods, keyOf(pod))
}

/** Sets the finalizers of a pod. */
export async function setFinalizers(stage: Stage, pod: Pod, finalizers: readonly string[]): Promise<void> {
  await stage.client.patch(resourcePaths.pods, keyOf(pod), { type: 'merge', body: { metadata: { finalizers } } })
}

/** Prevents the creation of pods with a quota of 0. @returns function that removes the quota */
export async function forbidPods(stage: Stage): Promise<() => Promise<void>> {
  await stage.client.create(quotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: noPods,
    spec: { hard: { pods: '0' } },
  } as never)
  return async () => {
    await stage.client.delete(quotas, noPods)
  }
}

/** Applies the manifest of the DaemonSet over the existing object, like `kubectl apply`. */
export async function applyDaemonSet(stage: Stage, manifest: object): Promise<void> {
  await stage.client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body: manifest })
}

/** @returns the stored events of the namespace */
export async function events(stage: Stage): Promise<readonly ShownEvent[]> {
  const { namespace } = stageKey
  return (await stage.client.list<ShownEvent & { readonly metadata: never }>(resourcePaths.events, { namespace })).items
}

function keyOf({ metadata }: Pod): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}
