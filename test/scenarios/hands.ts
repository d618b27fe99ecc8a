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

/** As a probe that fails would: the kubelet of this pod has nothing to say afterwards, for nothing changes for it. */
export async function breakPod(stage: Stage, pod: Pod): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: new Date(stage.clock.nowMs()).toISOString() }]
  await stage.client.patch(
    resourcePaths.pods,
    keyOf(pod),
    { type: 'strategic', body: { status: { conditions } } },
    { subresource: 'status' },
  )
}

/** Deletes a pod as somebody with kubectl would. */
export async function deletePod(stage: Stage, pod: Pod): Promise<void> {
  await stage.client.delete(resourcePaths.pods, keyOf(pod))
}

/** Gives a pod these finalizers and no other. */
export async function setFinalizers(stage: Stage, pod: Pod, finalizers: readonly string[]): Promise<void> {
  await stage.client.patch(resourcePaths.pods, keyOf(pod), { type: 'merge', body: { metadata: { finalizers } } })
}

/** From now on no pod can be created: a quota of none. @returns what takes the quota away */
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

/** Applies the manifest of the DaemonSet, as `kubectl apply` does on what is there: everything that it states is so afterwards. */
export async function applyDaemonSet(stage: Stage, manifest: object): Promise<void> {
  await stage.client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body: manifest })
}

/** @returns the events of the namespace that are kept */
export async function events(stage: Stage): Promise<readonly ShownEvent[]> {
  const { namespace } = stageKey
  return (await stage.client.list<ShownEvent & { readonly metadata: never }>(resourcePaths.events, { namespace })).items
}

function keyOf({ metadata }: Pod): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}
