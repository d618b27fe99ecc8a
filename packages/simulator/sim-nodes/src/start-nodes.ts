import { type Clock, sleep } from '@tranche/clock'
import type { Pod } from '@tranche/kube-types'
import { type Actor, isStatus, resources, type SimClient } from '@tranche/sim-api'
import { buildNode, nodeName, type NodeOptions } from './build-node.ts'
import type { PodLife } from './kubelet-pod.ts'
import { DEAD_ANNOTATION, startKubelets } from './kubelets.ts'
import { startNodeController } from './node-controller.ts'

/** What the nodes of a cluster are given. */
export interface StartNodesOptions {
  readonly clientFor: (actor: Actor) => SimClient
  readonly clock: Clock
  /** Nodes to begin with (≥ 0): `node-001` and so on, over three zones. */
  readonly nodes: number
  /** Divides the kubelets' durations and nothing else (> 0). @default 1 */
  readonly speed?: number
  /** Whether kubelets renew the Leases of their nodes; without, nothing ticks in a cluster at rest. @default false */
  readonly heartbeats?: boolean
  /** What becomes of a pod. @default as its template says */
  readonly lives?: ((pod: Pod) => PodLife | undefined) | undefined
  /** Told of every failed write, with who tried it; it is tried again. */
  readonly onError: (error: unknown, actor: string, key: string) => void
}

/** The cluster's machines: what one would do to them from outside. The same can be done through the API. */
export interface NodeControl {
  /** Resolves when the nodes to begin with exist. */
  readonly ready: Promise<void>
  addNode(name: string, options?: NodeOptions): Promise<void>
  /** Deletes the Node object; its kubelet goes with it, and what its pods leave behind is the pod collector's. */
  removeNode(name: string): Promise<void>
  /** Silences the kubelet. 40 s later the node is `Ready=Unknown` and tainted. As annotation: `sim.tranche.dev/dead: "true"`. */
  kill(name: string): Promise<void>
  revive(name: string): Promise<void>
  stop(): void
}

/** Nodes that register at the same time. */
const BATCH = 100
const RETRY_MS = 500

/** Starts kubelets and the node controller, and registers the first nodes. */
export function startNodes({ clientFor, clock, nodes, speed = 1, heartbeats = false, lives, onError }: StartNodesOptions): NodeControl {
  const controller = startNodeController({
    client: clientFor({ name: 'node-controller' }),
    clock,
    onError: (error, key) => onError(error, 'node-controller', key),
  })
  const kubelets = startKubelets({ clientFor, clock, speed, heartbeats, lives, onLifeChange: controller.lifeChanged, onError })
  const operator = clientFor({ name: 'node-operator' })
  let added = 0

  async function createNode(name: string, number: number, options?: NodeOptions): Promise<void> {
    await clientFor({ name: `kubelet:${name}` }).create(resources.nodes, buildNode(name, number, clock.nowMs(), options))
  }

  async function registerFirst(): Promise<void> {
    for (let from = 1; from <= nodes; from += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, nodes - from + 1) }, (_, at) => from + at)
      await Promise.all(numbers.map((number) => register(nodeName(number, nodes), number)))
    }
  }

  /** Until it succeeds: also when the answer to an attempt that did was lost. */
  async function register(name: string, number: number): Promise<void> {
    try {
      await createNode(name, number)
    } catch (error) {
      if (isStatus(error, 409) && error.status.reason === 'AlreadyExists') return
      onError(error, `kubelet:${name}`, name)
      await sleep(clock, RETRY_MS)
      await register(name, number)
    }
  }

  async function setDead(name: string, value: 'true' | null): Promise<void> {
    await operator.patch(resources.nodes, name, undefined, { metadata: { annotations: { [DEAD_ANNOTATION]: value } } })
  }

  return {
    ready: registerFirst(),
    addNode: (name, options) => createNode(name, nodes + ++added, options),
    async removeNode(name) {
      await operator.delete(resources.nodes, name, undefined).catch((error: unknown) => {
        if (!isStatus(error, 404)) throw error
      })
    },
    async kill(name) {
      kubelets.kill(name)
      await setDead(name, 'true')
    },
    async revive(name) {
      await setDead(name, null)
      // A watch that was cut off meanwhile may never have shown that it was silenced, so that nothing changes for it.
      kubelets.revive(name)
    },
    stop() {
      kubelets.stop()
      controller.stop()
    },
  }
}
