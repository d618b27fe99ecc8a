import { type Clock, sleep } from '@tranche/clock'
import type { Pod } from '@tranche/kube-types'
import { type Actor, isStatus, resources, type SimClient } from '@tranche/sim-api'
import { buildNode, nodeName, type NodeOptions } from './build-node.ts'
import type { PodLife } from './kubelet-pod.ts'
import { DEAD_ANNOTATION } from './kubelet.ts'
import { startKubelets } from './kubelets.ts'
import { type NodeController, startNodeController } from './node-controller.ts'

/** Options of the nodes of a cluster. */
export interface StartNodesOptions {
  readonly clientFor: (actor: Actor) => SimClient
  readonly clock: Clock
  /** Number of initial nodes (≥ 0): `node-001` and so on, over three zones. */
  readonly nodes: number
  /** Divides the durations of kubelets only (> 0). @default 1 */
  readonly speed?: number
  /** Whether kubelets renew the Leases of their nodes; without them, an idle cluster has no timers. @default false */
  readonly heartbeats?: boolean
  /** Life cycle of a pod. @default as its template says */
  readonly lives?: ((pod: Pod) => PodLife | undefined) | undefined
  /** Called for every failed write with its actor; the write is retried. */
  readonly onError: (error: unknown, actor: string, key: string) => void
}

/** Operations on the cluster's machines. The same can be done through the API. */
export interface NodeControl {
  /** Resolves when the initial nodes exist. */
  readonly ready: Promise<void>
  addNode(name: string, options?: NodeOptions): Promise<void>
  /** Deletes the Node object and its kubelet; the pod collector removes remaining pods. */
  removeNode(name: string): Promise<void>
  /** Silences the kubelet. 40 s later the node is `Ready=Unknown` and tainted. As annotation: `sim.tranche.dev/dead: "true"`. */
  kill(name: string): Promise<void>
  revive(name: string): Promise<void>
  stop(): void
}

/** Number of nodes that register in parallel. */
const BATCH = 100
const RETRY_MS = 500

/** Starts kubelets and the node controller, and registers the first nodes. */
export function startNodes({ clientFor, clock, nodes, speed = 1, heartbeats = false, lives, onError }: StartNodesOptions): NodeControl {
  const controller = startController({ clientFor, clock, onError })
  const onLifeChange = (name: string, alive: boolean): void => controller.lifeChanged(name, alive)
  const kubelets = startKubelets({ clientFor, clock, speed, heartbeats, lives, onLifeChange, onError })
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

  /** Retries until it succeeds, even if the response of a successful attempt was lost. */
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
      // A watch that was cut off meanwhile may never have reported the silencing, so that this change is invisible to it.
      kubelets.revive(name)
    },
    stop() {
      kubelets.stop()
      controller.stop()
    },
  }
}

function startController({ clientFor, clock, onError }: Pick<StartNodesOptions, 'clientFor' | 'clock' | 'onError'>): NodeController {
  return startNodeController({
    client: clientFor({ name: 'node-controller' }),
    clock,
    onError: (error, key) => onError(error, 'node-controller', key),
  })
}
