import type { Clock } from '@tranche/clock'
import type { Node, Pod } from '@tranche/kube-types'
import { type ApiObject, isStatus, isTerminal, resources, type SimClient } from '@tranche/sim-api'
import { createEventRecorder, type EventRecorder } from '@tranche/sim-controllers'
import { nodeConditions } from './build-node.ts'
import { createImageStore, NO_REGISTRY_ANNOTATION } from './image-store.ts'
import { KubeletPod, type PodLife } from './kubelet-pod.ts'
import { readyStatus } from './node-taints.ts'
import { type AdmissionRefusal, planAdmission } from './plan-admission.ts'
import { readPodSettings } from './pod-settings.ts'

/** Annotation with value `"true"` on a Node from the start: its kubelet reports that the node is not Ready. */
export const UNFIT_ANNOTATION = 'sim.tranche.dev/unfit'
/** Annotation on a Node: `"true"` silences its kubelet; any other value brings it back. */
export const DEAD_ANNOTATION = 'sim.tranche.dev/dead'

const RETRY_MS = 500
const REPORT_RETRY_MS = 1000

/** Dependencies of a kubelet. */
export interface KubeletPorts {
  /** Client that acts as `kubelet:<node>`. */
  readonly client: SimClient
  readonly clock: Clock
  /** Divides durations (> 0). */
  readonly speed: number
  readonly hostIP: string
  /** @returns unused IP address for a pod */
  readonly nextPodIP: () => string
  /** Pods of all nodes by uid, as last seen. */
  readonly pods: ReadonlyMap<string, Pod>
  /** Life cycle of a pod. @default as its template says */
  readonly lives?: ((pod: Pod) => PodLife | undefined) | undefined
  /** Called when the pod must be admitted again, because its rejection could not be written. */
  readonly onPodDue: (pod: Pod) => void
  /** Called when the kubelet has gone silent or come back. */
  readonly onLifeChange: (alive: boolean) => void
  readonly onError: (error: unknown, key: string) => void
}

/** Kubelet of one node: runs the pods that are bound to it, and reports whether it is fit. */
export class Kubelet {
  readonly client: SimClient
  readonly #ports: KubeletPorts
  readonly #events: EventRecorder
  readonly #pods = new Map<string, KubeletPod>()
  readonly #images = createImageStore()
  /** Uids of pods that make the node unfit. */
  readonly #breakers = new Set<string>()
  /** Uids of pods that it has rejected; the watch may still show them as they were before. */
  readonly #rejected = new Set<string>()
  #node: Node
  #alive: boolean
  /** Annotation as last seen. Only its changes count: the watch may lag behind a call of `kill`. */
  #dead: boolean
  #removed = false

  constructor(ports: KubeletPorts, node: Node) {
    this.client = ports.client
    this.#ports = ports
    this.#events = createEventRecorder(ports.client, ports.clock, 'kubelet')
    this.#node = node
    this.#dead = isDead(node)
    this.#alive = !this.#dead
    if (node.metadata.annotations?.[UNFIT_ANNOTATION] === 'true') this.#breakers.add(UNFIT_ANNOTATION)
  }

  /** Node as last seen. */
  get node(): Node {
    return this.#node
  }

  /** Whether it is not silenced. */
  get alive(): boolean {
    return this.#alive
  }

  /** Reports whether the node is fit, unless its conditions already say so. */
  start(): void {
    if (!this.#alive) this.#ports.onLifeChange(false)
    else if (readyStatus(this.#node) !== (this.#isFit() ? 'True' : 'False')) void this.#postReady()
  }

  /** Updates to the node as the API now shows it. */
  observeNode(node: Node): void {
    this.#node = node
    const dead = isDead(node)
    if (this.#dead === dead) return
    this.#dead = dead
    if (dead) this.kill()
    else this.revive()
  }

  /** Admits, rejects or updates a pod that is bound to its node. */
  takePod(pod: Pod): void {
    const { uid } = pod.metadata
    const running = this.#pods.get(uid)
    if (running !== undefined) return running.observe(pod)
    // A silenced kubelet accepts no new pods; it finds them when it is back.
    if (!this.#alive || (this.#rejected.has(uid) && !hasBegun(pod))) return
    const refusal = hasBegun(pod) ? undefined : planAdmission(pod, this.#node, this.#runningPods())
    if (refusal !== undefined) return void this.#reject(pod, refusal)
    this.#run(pod)
  }

  /** The pod is gone. */
  dropPod(pod: Pod): void {
    const { uid } = pod.metadata
    this.#pods.get(uid)?.drop()
    this.#pods.delete(uid)
    this.#rejected.delete(uid)
    if (this.#breakers.has(uid)) this.#heal(pod)
  }

  /** Goes silent, with its pods. */
  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    this.freezePods()
    this.#ports.onLifeChange(false)
  }

  /** Comes back, and finds the pods that were bound meanwhile. */
  revive(): void {
    if (this.#alive) return
    this.#alive = true
    for (const pod of this.#pods.values()) pod.thaw()
    for (const pod of this.#ports.pods.values()) if (pod.spec?.nodeName === this.#name()) this.takePod(pod)
    this.#ports.onLifeChange(true)
    void this.#postReady()
  }

  /** Stops the work of its pods until {@link Kubelet.revive}. */
  freezePods(): void {
    for (const pod of this.#pods.values()) pod.freeze()
  }

  /** The node is gone: it runs and reports nothing from now on. */
  remove(): void {
    this.#removed = true
    for (const pod of this.#pods.values()) pod.drop()
  }

  #runningPods(): readonly Pod[] {
    return [...this.#pods.keys()].flatMap((uid) => this.#ports.pods.get(uid) ?? []).filter((pod) => !isTerminal(pod))
  }

  #run(pod: Pod): void {
    const { uid } = pod.metadata
    const { client, clock, speed, hostIP, nextPodIP, lives, onError } = this.#ports
    const onNodeBroken = (): void => {
      this.#breakers.add(uid)
      void this.#postReady()
    }
    const events = this.#events
    const canPull = (): boolean => this.#node.metadata.annotations?.[NO_REGISTRY_ANNOTATION] !== 'true'
    const node = { hostIP, images: this.#images, canPull }
    const ports = { client, events, clock, speed, ...node, podIP: nextPodIP(), life: lives?.(pod), onNodeBroken, onError }
    this.#pods.set(uid, new KubeletPod(ports, pod))
  }

  async #reject(pod: Pod, { reason, message }: AdmissionRefusal): Promise<void> {
    const { name, namespace, uid } = pod.metadata
    this.#rejected.add(uid)
    const status = { phase: 'Failed', reason, message: `Pod was rejected: ${message}` }
    try {
      await this.client.patch(resources.pods, name, namespace, { metadata: { uid }, status }, 'status')
      this.#events.record(pod, 'Warning', reason, message)
    } catch (error) {
      this.#rejected.delete(uid)
      if (isStatus(error, 404)) return
      const { clock, pods, onPodDue, onError } = this.#ports
      onError(error, `${namespace}/${name}`)
      clock.setTimer(RETRY_MS, () => {
        const current = pods.get(uid)
        if (current !== undefined) onPodDue(current)
      })
    }
  }

  /** The node is fit again; its kubelet reports that with its next status. */
  #heal({ metadata }: Pod): void {
    const { clock, speed } = this.#ports
    const post = (): void => {
      this.#breakers.delete(metadata.uid)
      void this.#postReady()
    }
    const { nodeHealMs } = readPodSettings(metadata.annotations ?? {}, this.#name(), '')
    if (nodeHealMs === 0) post()
    else clock.setTimer(nodeHealMs / speed, post)
  }

  async #postReady(): Promise<void> {
    if (!this.#alive || this.#removed) return
    await this.#patchReady().catch((error: unknown) => {
      if (isStatus(error, 404)) return
      this.#ports.onError(error, this.#name())
      this.#ports.clock.setTimer(REPORT_RETRY_MS, () => void this.#postReady())
    })
  }

  #patchReady(): Promise<ApiObject> {
    const status = { conditions: nodeConditions(this.#ports.clock.nowMs(), this.#isFit()) }
    return this.client.strategicPatch(resources.nodes, this.#name(), undefined, { status }, 'status')
  }

  #isFit(): boolean {
    return this.#breakers.size === 0
  }

  #name(): string {
    return this.#node.metadata.name
  }
}

/** Whether the node is annotated as dead. */
function isDead({ metadata }: Node): boolean {
  return metadata.annotations?.[DEAD_ANNOTATION] === 'true'
}

/** Running pods are not admitted again. */
function hasBegun({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || (status?.phase ?? 'Pending') !== 'Pending' || status?.startTime !== undefined
}
