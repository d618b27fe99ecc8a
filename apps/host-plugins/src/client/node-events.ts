import { NODE_EVENTS_MAX, type NodeEvents } from '@tranche/api-schema'
import { isForbidden, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { type EventObject, getOrNone, newestFirst, nodeObject, readObjectEvents, type StampedNodeEvent } from '@tranche/release-client'

/** A node and the pod of the DaemonSet on it, for {@link readNodeEvents}. */
export interface NodeEventsQuestion {
  /** Namespace of the pod. */
  readonly namespace: string
  readonly pod: { readonly name: string; readonly uid: string } | null
  /** Name of the node. */
  readonly node: string
}

/** Reads the events about a node and its pod; leaves out those that the user of the host may not list. */
export async function readNodeEvents(
  client: KubeClient,
  { namespace, pod, node }: NodeEventsQuestion,
  signal: AbortSignal | undefined,
): Promise<NodeEvents> {
  const omitted: NodeEvents['omitted'][number][] = []
  const read = async (of: 'pod' | 'node', object: EventObject): Promise<readonly StampedNodeEvent[]> => {
    try {
      return await readObjectEvents({ client }, object, { signal })
    } catch (error) {
      if (!isForbidden(error)) throw error
      omitted.push({ of, lacks: 'caller', permission: `list events in namespace ${JSON.stringify(object.namespace)}` })
      return []
    }
  }
  const [ofPod, ofNode] = await Promise.all([
    pod === null ? [] : read('pod', { kind: 'Pod', namespace, name: pod.name, uid: pod.uid }),
    uidOfNode(client, node, signal).then((uid) => read('node', nodeObject(node, uid))),
  ])
  const items = [...ofPod, ...ofNode].sort(newestFirst).slice(0, NODE_EVENTS_MAX)
  return { items: items.map(({ report }) => report), omitted }
}

/** @returns undefined for a node that does not exist, or that the user may not read: its kubelet does not write the uid anyway */
async function uidOfNode(client: KubeClient, name: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    return (await getOrNone<Node>(client, resourcePaths.nodes, { namespace: '', name }, { signal }))?.metadata.uid
  } catch (error) {
    if (isForbidden(error)) return undefined
    throw error
  }
}
