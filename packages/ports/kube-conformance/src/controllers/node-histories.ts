import type { Api } from '../fixtures/api.ts'
import { type Body, valueAt } from '../fixtures/body.ts'
import { pathOf } from '../fixtures/paths.ts'
import type { WatchEvent } from '../fixtures/watch.ts'

/** A pod as the last event showed it. */
export interface PodNow {
  readonly name: string
  readonly uid: string
  readonly node: string
  /** `rev1`, `rev2` …: template revisions in order of their first pod. */
  readonly revision: string
  readonly state: PodState
}

/** Pod states that are the same on every cluster: the steps from Created to Ready differ by kubelet. */
export type PodState = 'Created' | 'Ready' | 'Failed' | 'Terminating' | 'Gone'

/** The pods of one DaemonSet, event by event. */
export interface NodeHistories {
  /** Reads on until `isSo` holds of the pods that are not gone. */
  until(what: string, isSo: (pods: readonly PodNow[]) => boolean): Promise<void>
  /** Pods that are not gone. */
  pods(): readonly PodNow[]
  /**
   * History of each node, anonymous and sorted: `1:rev1:Created > 1:rev1:Ready > 1:rev1:Terminating`. Pods count per node;
   * equal neighbours of one pod collapse. Which node went first is left to chance by Kubernetes, so nothing says it here.
   */
  histories(): readonly string[]
  /** The most nodes without a Ready pod at once, from the first time that all had one. */
  mostDown(): number
}

/** Follows the pods with a label from now on. */
export async function followPods(api: Api, namespace: string, app: string): Promise<NodeHistories> {
  const labelSelector = `app=${app}`
  const { body } = await api.get(pathOf.pods(namespace), { query: { labelSelector } })
  const watch = await api.watch(pathOf.pods(namespace), { labelSelector, resourceVersion: body.metadata.resourceVersion })
  const revisions: string[] = []
  const pods = new Map<string, PodNow & { readonly nth: number }>()
  const steps = new Map<string, string[]>()
  let nodesUp = 0
  let most = 0

  function take({ type, object }: WatchEvent): void {
    const { uid, name } = object.metadata
    const node = nodeOf(object)
    const before = pods.get(uid)
    const nth = before?.nth ?? [...pods.values()].filter((pod) => pod.node === node).length + 1
    const state = type === 'DELETED' ? 'Gone' : stateOf(object)
    const isNews = before === undefined || (before.state !== state && !(before.state === 'Ready' && state === 'Created'))
    pods.set(uid, { name, uid, node, revision: revisionOf(object), state, nth })
    if (isNews) steps.set(node, [...(steps.get(node) ?? []), `${nth}:${revisionOf(object)}:${state}`])
    countDown()
  }

  function countDown(): void {
    const up = new Set([...pods.values()].filter(({ state }) => state === 'Ready').map(({ node }) => node)).size
    nodesUp = Math.max(nodesUp, up)
    if (up < nodesUp) most = Math.max(most, nodesUp - up)
  }

  function revisionOf(pod: Body): string {
    const hash = pod.metadata.labels?.['controller-revision-hash'] ?? ''
    if (!revisions.includes(hash)) revisions.push(hash)
    return `rev${revisions.indexOf(hash) + 1}`
  }

  const present = (): readonly PodNow[] => [...pods.values()].filter(({ state }) => state !== 'Gone')
  return {
    async until(what, isSo) {
      try {
        while (!isSo(present())) take(await watch.next())
      } catch (error) {
        throw new Error(`${what} did not come; histories: ${JSON.stringify([...steps.values()])}`, { cause: error })
      }
    },
    pods: present,
    histories: () => [...steps.values()].map((each) => each.join(' > ')).toSorted(),
    mostDown: () => most,
  }
}

function stateOf(pod: Body): PodState {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (valueAt(pod, 'status.phase') === 'Failed') return 'Failed'
  const conditions = (valueAt(pod, 'status.conditions') ?? []) as readonly { readonly type: string; readonly status: string }[]
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True') ? 'Ready' : 'Created'
}

/** A pod that is not bound yet says by its affinity where it is to go. */
function nodeOf(pod: Body): string {
  const terms = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms'
  return String(valueAt(pod, 'spec.nodeName') ?? valueAt(pod, `${terms}.0.matchFields.0.values.0`))
}
