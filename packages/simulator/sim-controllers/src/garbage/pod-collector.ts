import type { Clock } from '@tranche/clock'
import { keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { isStatus, isTerminal, resources, type SimClient } from '@tranche/sim-api'
import { isReady } from '../daemonset/nodes/pod-facts.ts'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createInformer, type Informer } from '../machinery/informer.ts'
import { createPlannedWork, type PlannedWork } from './planned-work.ts'
import { nodeGone, removePod } from './remove-pod.ts'

const PERIOD_MS = 20_000
const QUARANTINE_MS = 40_000
/** Number of ended pods that are kept for inspection. */
const ENDED_KEPT = 12_500
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'

/**
 * Removes pods that nothing else would: those of deleted nodes, terminating ones without a node or on a node out of service, and the oldest
 * ended ones above the limit. It checks every 20 s, and a node must have been missing for 40 s. Both timers run only while there is
 * something to remove.
 */
export function startPodCollector(options: ControllerOptions): RunningController {
  return new PodCollector(options)
}

class PodCollector implements RunningController {
  readonly #client: SimClient
  readonly #clock: Clock
  readonly #podsByNode = new Map<string, Map<string, Pod>>()
  readonly #ended = new Map<string, Pod>()
  /** Tasks named `node <name>`, `pod <key>` and `ended`. */
  readonly #work: PlannedWork
  readonly #nodes: Informer<Node>
  readonly #pods: Informer<Pod>
  #synced = false

  constructor({ client, clock, onError }: ControllerOptions) {
    this.#client = client
    this.#clock = clock
    this.#work = createPlannedWork({ clock, retryMs: PERIOD_MS, onError })
    this.#nodes = this.#watchNodes()
    this.#pods = this.#watchPods()
    void Promise.all([this.#nodes.synced, this.#pods.synced]).then(() => {
      this.#synced = true
      for (const name of this.#podsByNode.keys()) this.#suspectNode(name)
    })
  }

  stop(): void {
    this.#work.stop()
    this.#nodes.stop()
    this.#pods.stop()
  }

  #watchNodes(): Informer<Node> {
    return createInformer<Node>(this.#client, resources.nodes, {
      added: (node) => this.#work.cancel(`node ${node.metadata.name}`),
      updated: (node) => {
        if (isOutOfService(node)) for (const pod of this.#podsOn(node.metadata.name)) this.#suspectPod(pod)
      },
      deleted: (node) => this.#suspectNode(node.metadata.name),
    })
  }

  #watchPods(): Informer<Pod> {
    return createInformer<Pod>(this.#client, resources.pods, {
      added: (pod) => this.#put(pod),
      updated: (pod) => this.#put(pod),
      deleted: (pod) => {
        this.#podsByNode.get(pod.spec?.nodeName ?? '')?.delete(pod.metadata.uid)
        this.#ended.delete(pod.metadata.uid)
        this.#work.cancel(`pod ${keyText(keyOf(pod))}`)
      },
    })
  }

  #put(pod: Pod): void {
    const name = pod.spec?.nodeName
    if (isTerminal(pod)) this.#ended.set(pod.metadata.uid, pod)
    if (this.#ended.size > ENDED_KEPT) this.#work.plan('ended', this.#untilTickMs(), () => this.#collectEnded())
    if (pod.metadata.deletionTimestamp !== undefined) this.#suspectPod(pod)
    if (!name) return
    let there = this.#podsByNode.get(name)
    if (there === undefined) this.#podsByNode.set(name, (there = new Map()))
    there.set(pod.metadata.uid, pod)
    if (this.#synced) this.#suspectNode(name)
  }

  #podsOn(nodeName: string): readonly Pod[] {
    return [...(this.#podsByNode.get(nodeName)?.values() ?? [])]
  }

  #suspectNode(name: string): void {
    if (this.#nodes.get(name) !== undefined || this.#podsOn(name).length === 0) return
    this.#work.plan(`node ${name}`, this.#untilTickMs() + QUARANTINE_MS, () => this.#collectNode(name))
  }

  #suspectPod(pod: Pod): void {
    if (!this.#isAbandoned(pod)) return
    const key = keyText(keyOf(pod))
    this.#work.plan(`pod ${key}`, this.#untilTickMs(), async () => {
      const { namespace, name } = parseKey(key)
      const current = this.#pods.get(name, namespace)
      if (current !== undefined && this.#isAbandoned(current)) await removePod(this.#client, current)
    })
  }

  #isAbandoned({ metadata, spec }: Pod): boolean {
    if (metadata.deletionTimestamp === undefined) return false
    if (!spec?.nodeName) return true
    const node = this.#nodes.get(spec.nodeName)
    return node !== undefined && isOutOfService(node)
  }

  #untilTickMs(): number {
    return PERIOD_MS - (this.#clock.monotonicMs() % PERIOD_MS)
  }

  async #collectNode(name: string): Promise<void> {
    try {
      await this.#client.get(resources.nodes, name)
    } catch (error) {
      if (!isStatus(error, 404)) throw error
      for (const pod of this.#podsOn(name)) await removePod(this.#client, pod, nodeGone(this.#clock.nowMs()))
    }
  }

  async #collectEnded(): Promise<void> {
    const oldestFirst = [...this.#ended.values()].sort((a, b) => createdMs(a) - createdMs(b))
    for (const pod of oldestFirst.slice(0, this.#ended.size - ENDED_KEPT)) await removePod(this.#client, pod)
  }
}

function isOutOfService(node: Node): boolean {
  return !isReady(node) && node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true
}

function createdMs({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '')
}
