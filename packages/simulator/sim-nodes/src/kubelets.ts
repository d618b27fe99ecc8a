import type { Clock } from '@tranche/clock'
import type { Node, Pod } from '@tranche/kube-types'
import { type Actor, resources, type SimClient, type Watching } from '@tranche/sim-api'
import { addressOf, createAddresses } from './addresses.ts'
import { startHeartbeats } from './heartbeats.ts'
import { Kubelet } from './kubelet.ts'
import type { PodLife } from './kubelet-pod.ts'

/** All kubelets of the cluster: one per Node object. */
export interface Kubelets {
  /** @returns whether the node exists and its kubelet is not silenced */
  isAlive(nodeName: string): boolean
  kill(nodeName: string): void
  revive(nodeName: string): void
  stop(): void
}

interface KubeletsOptions {
  readonly clientFor: (actor: Actor) => SimClient
  readonly clock: Clock
  /** Divides durations (> 0). */
  readonly speed: number
  /** Whether kubelets renew the Leases of their nodes. */
  readonly heartbeats: boolean
  /** Life cycle of a pod that starts, or is found, on its node. @default as its template says */
  readonly lives?: ((pod: Pod) => PodLife | undefined) | undefined
  /** Called when a kubelet has gone silent or come back. */
  readonly onLifeChange: (nodeName: string, alive: boolean) => void
  readonly onError: (error: unknown, actor: string, key: string) => void
}

/** Runs a kubelet for every current and future node. They watch as `kubelets` and write as `kubelet:<node>`. */
export function startKubelets(options: KubeletsOptions): Kubelets {
  return new WatchedKubelets(options)
}

class WatchedKubelets implements Kubelets {
  readonly #options: KubeletsOptions
  readonly #kubelets = new Map<string, Kubelet>()
  /** Pods by uid, including those whose node has not been seen yet. */
  readonly #pods = new Map<string, Pod>()
  readonly #nextAddress = createAddresses()
  readonly #watches: readonly Watching[]
  readonly #stopHeartbeats: (() => void) | undefined

  constructor(options: KubeletsOptions) {
    this.#options = options
    const client = options.clientFor({ name: 'kubelets' })
    this.#watches = [this.#watchNodes(client), this.#watchPods(client)]
    this.#stopHeartbeats = options.heartbeats ? this.#startHeartbeats() : undefined
  }

  isAlive(nodeName: string): boolean {
    return this.#kubelets.get(nodeName)?.alive === true
  }

  kill(nodeName: string): void {
    this.#kubelets.get(nodeName)?.kill()
  }

  revive(nodeName: string): void {
    this.#kubelets.get(nodeName)?.revive()
  }

  stop(): void {
    this.#stopHeartbeats?.()
    for (const watch of this.#watches) watch.stop()
    for (const kubelet of this.#kubelets.values()) kubelet.freezePods()
  }

  #watchNodes(client: SimClient): Watching {
    return client.watch(resources.nodes, {}, (event) => {
      if (event.type === 'SYNCED') return
      const node = event.object as unknown as Node
      if (event.type === 'DELETED') this.#removeNode(node.metadata.name)
      else this.#takeNode(node)
    })
  }

  #watchPods(client: SimClient): Watching {
    return client.watch(resources.pods, {}, (event) => {
      if (event.type === 'SYNCED') return
      const pod = event.object as unknown as Pod
      if (event.type === 'DELETED') this.#dropPod(pod)
      else this.#takePod(pod)
    })
  }

  #startHeartbeats(): () => void {
    return startHeartbeats({
      clock: this.#options.clock,
      beating: () => [...this.#kubelets.values()].filter(({ alive }) => alive),
      onError: (error, name) => this.#options.onError(error, `kubelet:${name}`, name),
    })
  }

  #takeNode(node: Node): void {
    const { name } = node.metadata
    const known = this.#kubelets.get(name)
    if (known !== undefined) return known.observeNode(node)
    const kubelet = this.#createKubelet(node)
    this.#kubelets.set(name, kubelet)
    kubelet.start()
    for (const pod of this.#pods.values()) if (pod.spec?.nodeName === name) kubelet.takePod(pod)
  }

  #createKubelet(node: Node): Kubelet {
    const { name } = node.metadata
    const { clientFor, clock, speed, lives, onLifeChange, onError } = this.#options
    const ports = {
      client: clientFor({ name: `kubelet:${name}` }),
      clock,
      speed,
      hostIP: addressOf(node) ?? this.#nextAddress('node'),
      nextPodIP: () => this.#nextAddress('pod'),
      pods: this.#pods,
      lives,
      onPodDue: (pod: Pod) => this.#takePod(pod),
      onLifeChange: (alive: boolean) => onLifeChange(name, alive),
      onError: (error: unknown, key: string) => onError(error, `kubelet:${name}`, key),
    }
    return new Kubelet(ports, node)
  }

  #removeNode(name: string): void {
    this.#kubelets.get(name)?.remove()
    this.#kubelets.delete(name)
    this.#options.onLifeChange(name, true)
  }

  #takePod(pod: Pod): void {
    const name = pod.spec?.nodeName
    if (!name) return
    this.#pods.set(pod.metadata.uid, pod)
    this.#kubelets.get(name)?.takePod(pod)
  }

  #dropPod(pod: Pod): void {
    this.#pods.delete(pod.metadata.uid)
    this.#kubelets.get(pod.spec?.nodeName ?? '')?.dropPod(pod)
  }
}
