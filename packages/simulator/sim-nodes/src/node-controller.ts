import type { Clock, Timer } from '@tranche/clock'
import type { Condition, Node, Pod } from '@tranche/kube-types'
import { isStatus, resources, type SimClient, timestamp, type Watching } from '@tranche/sim-api'
import { kubeletConditions } from './build-node.ts'
import { planTaints, readyStatus } from './node-taints.ts'

/** Derives conditions and taints from the silence of kubelets. */
export interface NodeController {
  /** A kubelet has gone silent, come back or been removed. */
  lifeChanged(nodeName: string, alive: boolean): void
  stop(): void
}

interface NodeControllerOptions {
  /** Client that acts as `node-controller`. */
  readonly client: SimClient
  readonly clock: Clock
  readonly onError: (error: unknown, key: string) => void
}

/** Silence in milliseconds after which a node counts as unreachable. Not divided by `speed`. */
const GRACE_MS = 40_000
const RETRY_MS = 1000

/**
 * Runs the node lifecycle controller. 40 s after a kubelet's last update the node is `Ready=Unknown`, and its pods are not ready.
 * Conditions and cordons are mirrored as taints.
 */
export function startNodeController(options: NodeControllerOptions): NodeController {
  return new NodeLifecycleController(options)
}

class NodeLifecycleController implements NodeController {
  readonly #client: SimClient
  readonly #clock: Clock
  readonly #onError: (error: unknown, key: string) => void
  readonly #nodes = new Map<string, Node>()
  /** Timers by the name of a node whose kubelet is silent. */
  readonly #silent = new Map<string, Timer>()
  readonly #watching: Watching

  constructor({ client, clock, onError }: NodeControllerOptions) {
    this.#client = client
    this.#clock = clock
    this.#onError = onError
    this.#watching = client.watch(resources.nodes, {}, (event) => {
      if (event.type === 'SYNCED') return
      const node = event.object as unknown as Node
      if (event.type === 'DELETED') this.#nodes.delete(node.metadata.name)
      else {
        this.#nodes.set(node.metadata.name, node)
        void this.#setTaints(node)
      }
    })
  }

  lifeChanged(nodeName: string, alive: boolean): void {
    this.#silent.get(nodeName)?.cancel()
    this.#silent.delete(nodeName)
    if (alive) return
    const timer = this.#clock.setTimer(GRACE_MS, () => void this.#markUnknown(nodeName))
    this.#silent.set(nodeName, timer)
  }

  stop(): void {
    this.#watching.stop()
    for (const timer of this.#silent.values()) timer.cancel()
  }

  async #setTaints(node: Node): Promise<void> {
    const taints = planTaints(node)
    if (taints === undefined) return
    const { name, resourceVersion } = node.metadata
    try {
      await this.#client.patch(resources.nodes, name, undefined, { metadata: { resourceVersion }, spec: { taints } })
    } catch (error) {
      if (isStatus(error, 404)) return
      this.#later(error, name, () => {
        const current = this.#nodes.get(name)
        if (current !== undefined) void this.#setTaints(current)
      })
    }
  }

  async #markUnknown(name: string): Promise<void> {
    const node = this.#nodes.get(name)
    if (node === undefined || !this.#silent.has(name)) return
    try {
      if (readyStatus(node) !== 'Unknown') await this.#patchReady(node)
      await this.#markPodsNotReady(name)
    } catch (error) {
      if (isStatus(error, 404)) return
      this.#later(error, name, () => void this.#markUnknown(name))
    }
  }

  /** Patches only the version that was read, because a kubelet that has come back meanwhile has updated it. */
  async #patchReady(node: Node): Promise<void> {
    const { name, resourceVersion } = node.metadata
    const unknown = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }
    const lastTransitionTime = timestamp(this.#clock.nowMs())
    const own = (node.status?.conditions ?? []).filter(({ type }) => kubeletConditions.has(type))
    const conditions = own.map((condition) => ({ ...condition, ...unknown, lastTransitionTime }))
    const body = { metadata: { resourceVersion }, status: { conditions } }
    await this.#client.strategicPatch(resources.nodes, name, undefined, body, 'status')
  }

  async #markPodsNotReady(name: string): Promise<void> {
    const { items } = await this.#client.list(resources.pods, { fieldSelector: `spec.nodeName=${name}` })
    for (const pod of items as unknown as readonly Pod[]) {
      const conditions = notReady(pod, timestamp(this.#clock.nowMs()))
      if (conditions === undefined) continue
      const { name: podName, namespace, resourceVersion } = pod.metadata
      await this.#client
        .patch(resources.pods, podName, namespace, { metadata: { resourceVersion }, status: { conditions } }, 'status')
        .catch((error: unknown) => {
          if (!isStatus(error, 404)) throw error
        })
    }
  }

  #later(error: unknown, name: string, again: () => void): void {
    this.#onError(error, name)
    this.#clock.setTimer(RETRY_MS, again)
  }
}

/** @returns the pod's conditions with Ready False; undefined when it is not ready already */
function notReady(pod: Pod, nowText: string): readonly Condition[] | undefined {
  const conditions = pod.status?.conditions ?? []
  if (!conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return undefined
  return conditions.map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'False', reason: 'NodeNotReady', lastTransitionTime: nowText } : condition,
  )
}
