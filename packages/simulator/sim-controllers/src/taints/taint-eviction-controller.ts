import type { Clock, Timer } from '@tranche/clock'
import { keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { resources, type SimClient } from '@tranche/sim-api'
import { disruptPod } from '../disruption/disrupt-pod.ts'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createEventRecorder, type EventRecorder } from '../machinery/event-recorder.ts'
import { createInformer, type Informer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue, type WorkQueue } from '../machinery/work-queue.ts'
import { stayMs } from './plan-eviction.ts'

const WORKERS = 8
const BY_TAINT = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }

/** Pod to evict, and when that was first decided. */
interface Notice {
  readonly timer: Timer
  readonly sinceMs: number
}

/** Runs the taint eviction controller: pods leave a node whose NoExecute taints they do not tolerate, or tolerate for a limited time. */
export function startTaintEvictionController(options: ControllerOptions): RunningController {
  return new TaintEvictionController(options)
}

class TaintEvictionController implements RunningController {
  readonly #client: SimClient
  readonly #clock: Clock
  readonly #events: EventRecorder
  readonly #queue: WorkQueue
  readonly #notices = new Map<string, Notice>()
  /** Pods on each node, by uid. */
  readonly #podsOn = new Map<string, Map<string, Pod>>()
  readonly #nodes: Informer<Node>
  readonly #pods: Informer<Pod>

  constructor({ client, clock, onError }: ControllerOptions) {
    this.#client = client
    this.#clock = clock
    this.#events = createEventRecorder(client, clock, 'taint-eviction-controller')
    const limiter = createRateLimiter(() => clock.monotonicMs())
    this.#queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: (key) => this.#evict(key), onError })
    this.#nodes = this.#watchNodes()
    this.#pods = this.#watchPods()
  }

  stop(): void {
    this.#queue.stop()
    this.#nodes.stop()
    this.#pods.stop()
    for (const { timer } of this.#notices.values()) timer.cancel()
  }

  #watchNodes(): Informer<Node> {
    return createInformer<Node>(this.#client, resources.nodes, {
      added: (node) => this.#judgeNode(node),
      updated: (node, before) => {
        if (node.spec?.taints !== before.spec?.taints) this.#judgeNode(node)
      },
    })
  }

  #watchPods(): Informer<Pod> {
    return createInformer<Pod>(this.#client, resources.pods, {
      added: (pod) => this.#put(pod),
      updated: (pod, before) => {
        if (pod.spec !== before.spec || pod.metadata.deletionTimestamp !== before.metadata.deletionTimestamp) this.#put(pod)
      },
      deleted: (pod) => {
        this.#podsOn.get(pod.spec?.nodeName ?? '')?.delete(pod.metadata.uid)
        this.#withdraw(pod, false)
      },
    })
  }

  #put(pod: Pod): void {
    const nodeName = pod.spec?.nodeName
    if (!nodeName) return
    let there = this.#podsOn.get(nodeName)
    if (there === undefined) this.#podsOn.set(nodeName, (there = new Map()))
    there.set(pod.metadata.uid, pod)
    const node = this.#nodes.get(nodeName)
    if (node !== undefined) this.#judge(pod, node)
  }

  #judgeNode(node: Node): void {
    for (const pod of this.#podsOn.get(node.metadata.name)?.values() ?? []) this.#judge(pod, node)
  }

  #judge(pod: Pod, node: Node): void {
    const ms = stayMs(pod, node)
    if (ms === null || pod.metadata.deletionTimestamp !== undefined)
      return this.#withdraw(pod, pod.metadata.deletionTimestamp === undefined)
    const key = keyText(keyOf(pod))
    const nowMs = this.#clock.monotonicMs()
    const notice = this.#notices.get(key)
    // A longer toleration counts from when the pod was first scheduled for eviction.
    const sinceMs = ms === 0 ? nowMs : (notice?.sinceMs ?? nowMs)
    notice?.timer.cancel()
    const timer = this.#clock.setTimer(Math.max(0, sinceMs + ms - nowMs), () => {
      this.#notices.delete(key)
      this.#queue.add(key)
    })
    this.#notices.set(key, { timer, sinceMs })
  }

  #withdraw(pod: Pod, recordsEvent: boolean): void {
    const key = keyText(keyOf(pod))
    const notice = this.#notices.get(key)
    if (notice === undefined) return
    notice.timer.cancel()
    this.#notices.delete(key)
    if (recordsEvent) this.#events.record(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`)
  }

  async #evict(key: string): Promise<void> {
    const { namespace, name } = parseKey(key)
    const pod = this.#pods.get(name, namespace)
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return
    this.#events.record(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${key}`)
    await disruptPod({ client: this.#client, clock: this.#clock }, pod, BY_TAINT)
  }
}
