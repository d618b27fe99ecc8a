import type { KubeObject } from '@tranche/kube-types'
import type { ArgoNode } from './argo-types.ts'

/** Maximum number of pods whose live objects are read: those that are not well, for their reasons. */
const MOST_READ = 20

/** @returns the pods of DaemonSets in a tree */
export function daemonSetPods(nodes: readonly ArgoNode[], namespace: string): readonly ArgoNode[] {
  return nodes.filter(
    (node) => node.kind === 'Pod' && node.namespace === namespace && node.parentRefs?.some(({ kind }) => kind === 'DaemonSet') === true,
  )
}

/**
 * Makes pods from the tree, which Argo CD holds in memory: reading each would take a request. Pods that are not Ready are read, up to
 * {@link MOST_READ}.
 *
 * @param read reads the live object of a pod; null if it is gone
 * @param now time of the tree, in RFC 3339
 */
export async function podsOfTree(
  pods: readonly ArgoNode[],
  read: (pod: ArgoNode) => Promise<KubeObject | null>,
  now: string,
): Promise<readonly object[]> {
  const unwell = pods.filter((pod) => !isReady(pod)).slice(0, MOST_READ)
  const whole = new Map(await Promise.all(unwell.map(async (pod) => [pod, await read(pod)] as const)))
  return pods.flatMap((pod) => (whole.has(pod) ? (whole.get(pod) ?? []) : [podOf(pod, now)]))
}

/** Pod with the fields that the tree has. Its Ready condition counts from its creation, since the tree does not say from when. */
function podOf(pod: ArgoNode, now: string): object {
  const { name, namespace, uid, createdAt, resourceVersion = '0' } = pod
  const reason = infoOf(pod, 'Status Reason') ?? ''
  const ready = isReady(pod)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, uid, resourceVersion, creationTimestamp: createdAt },
      labels: pod.networkingInfo?.labels ?? {},
      ownerReferences: pod.parentRefs?.map((owner) => ({
        ...{ apiVersion: `${owner.group}/${owner.version}`, kind: owner.kind, name: owner.name, uid: owner.uid, controller: true },
      })),
      ...(reason === 'Terminating' && { deletionTimestamp: now }),
    },
    spec: { nodeName: infoOf(pod, 'Node') },
    status: {
      phase: reason === 'Pending' ? 'Pending' : 'Running',
      startTime: createdAt,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: createdAt }],
    },
  }
}

function isReady(pod: ArgoNode): boolean {
  const [ready, all] = (infoOf(pod, 'Containers') ?? '').split('/')
  return infoOf(pod, 'Status Reason') === 'Running' && ready !== undefined && ready !== '0' && ready === all
}

function infoOf({ info = [] }: ArgoNode, name: string): string | undefined {
  return info.find((item) => item.name === name)?.value
}
