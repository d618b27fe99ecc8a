import type { Clock } from '@tranche/clock'
import { type NodeWithPods, shortageOn, specOf, toPendingPod, type PendingPod } from '@tranche/fit'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, isOwnedBy, type KubeObject, type Node, type Pod, valueIn } from '@tranche/kube-types'
import { READ_DEADLINE_MS } from './read-pod.ts'
import { readPodsOn } from './read-pods-on.ts'

/** Reads whether nodes have room for the new pods of DaemonSets. */
export interface RoomReader {
  /**
   * Reads the node and its pods: two requests. Pending pods are read at most once in ten seconds for all nodes. So are priority classes, if no
   * pod of the DaemonSet on the node has that of the template.
   *
   * @returns what a pod of the present template would lack on the node once the old pod is gone; null if it would fit
   * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
   */
  read(daemonSet: DaemonSet, node: string, signal: AbortSignal): Promise<string | null>
}

/** How long pending pods and priority classes are kept, in milliseconds. */
const KEPT_MS = 10_000

/** Maximum number of pending pods that are kept: those of the highest priority. */
const MOST_WAITING = 1_000

/** Priorities that every cluster has. @see scheduling.k8s.io/v1 SystemCriticalPriority */
const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
}

/** Creates a reader, for one process. Its lists come from the API server's cache. */
export function createRoomReader(client: KubeClient, clock: Clock): RoomReader {
  const pending = kept(clock, async () => readPending(client))
  const priorities = kept(clock, async () => readPriorities(client))

  async function priorityOf(daemonSet: DaemonSet, pods: readonly Pod[]): Promise<number> {
    const { priorityClassName = '' } = specOf(daemonSet.spec.template)
    const known = valueIn(SYSTEM_PRIORITIES, priorityClassName)
    if (known !== undefined) return known
    const alike = pods.map(specOf).find((spec) => spec.priority !== undefined && (spec.priorityClassName ?? '') === priorityClassName)
    return alike?.priority ?? (await priorities()).get(priorityClassName) ?? 0
  }

  return {
    async read(daemonSet, name, signal) {
      const [node, pods, others] = await Promise.all([
        client.get<Node>(resourcePaths.nodes, { namespace: '', name }, { signal, deadlineMs: READ_DEADLINE_MS }),
        readPodsOn(client, name, { mayBeOld: true, signal }),
        pending(),
      ])
      const own = pods.filter((pod) => isOwnedBy(pod, daemonSet))
      const onNode: NodeWithPods = { node, pods, pending: others }
      return shortageOn(onNode, { owner: daemonSet, spec: specOf(daemonSet.spec.template), priority: await priorityOf(daemonSet, own) })
    },
  }
}

/**
 * Pods of DaemonSets wait for one node only and are scheduled like others, so they are read as well. Of many pods, those of lower priority are
 * dropped while they arrive.
 */
async function readPending(client: KubeClient): Promise<readonly PendingPod[]> {
  // A list that is read again delivers a pod again.
  const kept = new Map<string, PendingPod>()
  let lowest = Number.NEGATIVE_INFINITY
  const drop = (): void => {
    const dropped = [...kept.values()].toSorted((a, b) => b.priority - a.priority).slice(MOST_WAITING)
    for (const { uid } of dropped) kept.delete(uid)
    lowest = dropped[0]?.priority ?? lowest
  }
  const transform = (object: KubeObject): null => {
    const pod = object as Pod
    const pending = (specOf(pod).priority ?? 0) < lowest ? null : toPendingPod(pod)
    if (pending !== null) kept.set(pending.uid, pending)
    if (kept.size >= 2 * MOST_WAITING) drop()
    return null
  }
  const options = { fieldSelector: 'spec.nodeName=,status.phase=Pending', mayBeOld: true, transform, deadlineMs: READ_DEADLINE_MS }
  await client.list(resourcePaths.pods, options)
  drop()
  return [...kept.values()]
}

/** By name; the default class, if there is one, also by the empty name. */
async function readPriorities(client: KubeClient): Promise<ReadonlyMap<string, number>> {
  const { items } = await client.list<PriorityClass>(resourcePaths.priorityClasses, { mayBeOld: true, deadlineMs: READ_DEADLINE_MS })
  return new Map(
    items.flatMap(({ metadata, value, globalDefault }) => [
      [metadata.name, value] as const,
      ...(globalDefault === true ? [['', value] as const] : []),
    ]),
  )
}

/** @see scheduling.k8s.io/v1 PriorityClass */
interface PriorityClass extends KubeObject {
  readonly value: number
  readonly globalDefault?: boolean
}

/** Reads at most once in {@link KEPT_MS}; concurrent callers share a read, and a failed one is forgotten. */
function kept<T>(clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let current: { readonly atMs: number; readonly value: Promise<T> } | undefined
  return () => {
    const nowMs = clock.monotonicMs()
    if (current !== undefined && nowMs - current.atMs < KEPT_MS) return current.value
    const value = read()
    const reading = { atMs: nowMs, value }
    current = reading
    value.catch(() => {
      if (current === reading) current = undefined
    })
    return value
  }
}
