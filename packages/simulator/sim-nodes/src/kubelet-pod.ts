import type { Clock, Timer } from '@tranche/clock'
import type { Condition, Pod } from '@tranche/kube-types'
import { isStatus, isTerminal, resources, type SimClient, timestamp } from '@tranche/sim-api'
import type { EventRecorder } from '@tranche/sim-controllers'
import type { ImageStore } from './image-store.ts'
import { delayMs, lifeCycleOf, type LifeCycleName, lifeCycles, type Stage } from './life-cycles.ts'
import { podEvents } from './pod-events.ts'
import { type PodSettings, readPodSettings } from './pod-settings.ts'
import { beginStop, enterStage, type PodMemory, podStatus } from './pod-status.ts'

/** Dependencies of a kubelet that runs a pod. */
export interface KubeletPodPorts {
  /** Client of the kubelet of the pod's node. */
  readonly client: SimClient
  readonly events: EventRecorder
  readonly clock: Clock
  /** Divides durations (> 0). */
  readonly speed: number
  readonly hostIP: string
  readonly podIP: string
  /** Images of the node. */
  readonly images: ImageStore
  /** Whether the node reaches the registry now. */
  readonly canPull: () => boolean
  /** Life cycle of the pod. @default as its template says */
  readonly life?: PodLife | undefined
  /** Called while the pod makes its node unfit, until it is gone. */
  readonly onNodeBroken: () => void
  readonly onError: (error: unknown, key: string) => void
}

/** Life cycle of one pod that overrides its template. */
export interface PodLife {
  /** `stays`: it does not change until it is deleted. `prompt`: it becomes Ready, without status writes before. */
  readonly name: LifeCycleName | 'stays' | 'prompt'
  readonly settings: PodSettings
}

const RETRY_MS = 500

interface PodShape {
  readonly containers: readonly ContainerShape[]
  readonly initContainers?: readonly ContainerShape[]
  readonly hostNetwork?: boolean
}

interface ContainerShape {
  readonly name: string
  readonly image: string
  readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly runAsUser?: number }
}

/**
 * One pod on one node, run by its kubelet. Its timeline depends only on the pod as first seen. Later only the start of its deletion, an
 * external end of its containers, and the return of a registry matter.
 */
export class KubeletPod {
  readonly #ports: KubeletPodPorts
  readonly #settings: PodSettings
  #stages: readonly Stage[]
  /** Life cycle that begins once the node reaches the registry; undefined if that does not keep the pod from starting. */
  #awaited: LifeCycleName | undefined
  /** Time to pull the images before the containers start. */
  #pullMs = 0
  #pod: Pod
  #memory: PodMemory
  #stage: Stage
  #mode: 'living' | 'stopping' | 'ended' | 'gone' = 'living'
  #frozen = false
  #write: 'none' | 'sent' | 'sentAndStale' = 'none'
  #due: { readonly atMs: number; readonly act: () => void } | undefined
  #timer: Timer | undefined

  constructor(ports: KubeletPodPorts, pod: Pod) {
    const images = imagesOf(pod)
    this.#ports = ports
    this.#pod = pod
    const { life } = ports
    this.#settings = life?.settings ?? readPodSettings(pod.metadata.annotations ?? {}, pod.spec?.nodeName ?? '', images[0] ?? '')
    const own = life?.name ?? lifeOf(shapeOf(pod), images, this.#settings.mayFail)
    const isCutOff = life === undefined && !ports.canPull() && !ports.images.has(images)
    if (isCutOff && own !== 'bad-pull') this.#awaited = own as LifeCycleName
    const name = isCutOff ? 'bad-pull' : own
    this.#stages = stagesOf(name)
    this.#stage = this.#stages[0]!
    this.#memory = { restarts: 0, failures: 0, startTime: this.#nowText(), conditions: [] }
    if (isTerminal(pod)) this.#mode = 'ended'
    else if (isRunning(pod) || name === 'stays') this.#adopt(pod)
    else if (pod.metadata.deletionTimestamp === undefined) this.#begin(name, images)
    this.observe(pod)
  }

  /** Updates to the pod as the API now shows it. */
  observe(pod: Pod): void {
    this.#pod = pod
    if (pod.metadata.deletionTimestamp !== undefined && this.#mode !== 'stopping') this.#beginStopping()
    else if (this.#mode === 'living' && isTerminal(pod)) {
      this.#mode = 'ended'
      this.#cancel()
    } else if (this.#mode === 'living' && this.#isTakenForDead(pod)) this.#writeStatus()
  }

  /** The node controller marked the pod as not ready before it noticed the kubelet's return; a write may be in progress. */
  #isTakenForDead({ status }: Pod): boolean {
    if (this.#frozen || !isReady(this.#memory.conditions)) return false
    return (
      status?.conditions?.some(({ type, status: value, reason }) => type === 'Ready' && value !== 'True' && reason === 'NodeNotReady') ===
      true
    )
  }

  /** The kubelet goes silent: it writes nothing, and due work waits. */
  freeze(): void {
    this.#frozen = true
    this.#timer?.cancel()
  }

  /** The kubelet is back: due work happens now, and the pod's status is written again. */
  thaw(): void {
    this.#frozen = false
    if (this.#mode === 'living') this.#writeStatus()
    this.#arm()
  }

  /** The pod is gone. */
  drop(): void {
    this.#mode = 'gone'
    this.#cancel()
  }

  #begin(name: PodLife['name'], images: readonly string[]): void {
    if (name !== 'bad-pull') this.#pullMs = this.#ports.images.pull(images, this.#ports.clock.monotonicMs())
    if (name === 'prompt') this.#schedule((this.#settings.startMs + this.#settings.readinessMs) / this.#ports.speed, () => this.#enter(0))
    else this.#enter(0)
  }

  /** An attempt to pull succeeds once the node reaches the registry; the waiting reason stays until the containers start. */
  #pullsNow(index: number): boolean {
    const name = this.#awaited
    if (name === undefined || this.#stages[index]?.failed !== true || !this.#ports.canPull()) return false
    this.#awaited = undefined
    this.#stages = stagesOf(name)
    const pullMs = this.#ports.images.pull(imagesOf(this.#pod), this.#ports.clock.monotonicMs())
    this.#schedule((this.#settings.startMs + pullMs) / this.#ports.speed, () => this.#enter(1))
    return true
  }

  /** Consecutive stages without delay are entered together and written as one. */
  #enter(index: number): void {
    if (this.#pullsNow(index)) return
    let at = index
    for (;;) {
      this.#stage = this.#stages[at]!
      this.#memory = enterStage(this.#memory, this.#stage, this.#nowText())
      const next = at + 1 - (this.#stage.repeats ?? 0)
      const following = this.#stages[next]
      if (following === undefined) break
      const pullMs = following.after === 'start' ? this.#pullMs : 0
      const waitMs = (delayMs(following.after, this.#settings, this.#memory.failures) + pullMs) / this.#ports.speed
      at = next
      if (waitMs === 0) continue
      this.#schedule(waitMs, () => this.#enter(next))
      break
    }
    this.#writeStatus()
    if (this.#stage.breaksNode) this.#ports.onNodeBroken()
    for (const { type, reason, message } of podEvents(this.#stage, this.#pod)) this.#ports.events.record(this.#pod, type, reason, message)
  }

  /** A pod started before this kubelet does not change until it is deleted. */
  #adopt(pod: Pod): void {
    const { startTime = this.#memory.startTime, conditions = [], containerStatuses = [] } = pod.status ?? {}
    const restarts = containerStatuses[0]?.restartCount ?? 0
    this.#memory = { startTime, conditions, restarts, failures: restarts, runningSince: startTime }
    this.#stage = { ...this.#stage, phase: 'Running', state: 'running', ready: isReady(conditions) }
    this.#ports.images.add(imagesOf(pod))
  }

  #beginStopping(): void {
    const wasReady = this.#mode === 'living' && isReady(this.#memory.conditions)
    this.#mode = 'stopping'
    this.#cancel()
    if (this.#frozen) this.#schedule(0, () => this.#stop(wasReady))
    else this.#stop(wasReady)
  }

  #stop(wasReady: boolean): void {
    const { deletionGracePeriodSeconds = 30 } = this.#pod.metadata as { readonly deletionGracePeriodSeconds?: number }
    if (this.#settings.termNotReady && wasReady) {
      this.#memory = beginStop(this.#memory, this.#nowText())
      this.#stage = { ...this.#stage, ready: false }
      this.#writeStatus()
    }
    const stopMs = Math.min(this.#settings.stopMs / this.#ports.speed, deletionGracePeriodSeconds * 1000)
    this.#schedule(stopMs, () => void this.#remove())
  }

  async #remove(): Promise<void> {
    const { name, namespace, uid } = this.#pod.metadata
    try {
      await this.#ports.client.delete(resources.pods, name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } })
    } catch (error) {
      if (this.#isOver(error)) return
      this.#report(error)
      this.#schedule(RETRY_MS, () => void this.#remove())
    }
  }

  /** Sends one write at a time with the current state, so that none can overtake a later one. */
  #writeStatus(): void {
    if (this.#write !== 'none') this.#write = 'sentAndStale'
    else void this.#sendStatus()
  }

  async #sendStatus(): Promise<void> {
    do {
      this.#write = 'sent'
      await this.#patchStatus()
    } while (this.#isStale() && !this.#isSilent())
    this.#write = 'none'
  }

  #isStale(): boolean {
    return this.#write === 'sentAndStale'
  }

  async #patchStatus(): Promise<void> {
    const { client, clock, hostIP, podIP } = this.#ports
    const { name, namespace, uid } = this.#pod.metadata
    const { containers, initContainers, hostNetwork } = shapeOf(this.#pod)
    const facts = { hostIP, podIP: hostNetwork === true ? hostIP : podIP, containers, initContainers }
    const status = podStatus(this.#memory, this.#stage, facts)
    const body = { metadata: { uid }, status: { ...status, conditions: withForeign(this.#pod, this.#memory.conditions) } }
    try {
      await client.patch(resources.pods, name, namespace, body, 'status')
    } catch (error) {
      if (this.#isOver(error)) return
      this.#report(error)
      clock.setTimer(RETRY_MS, () => {
        if (!this.#isSilent()) this.#writeStatus()
      })
    }
  }

  #isSilent(): boolean {
    return this.#frozen || this.#mode === 'ended' || this.#mode === 'gone'
  }

  /** A pod that is gone, or was reported as gone by the watch, needs no more writes. */
  #isOver(error: unknown): boolean {
    return this.#mode === 'gone' || isStatus(error, 404)
  }

  #report(error: unknown): void {
    this.#ports.onError(error, `${this.#pod.metadata.namespace ?? ''}/${this.#pod.metadata.name}`)
  }

  #schedule(afterMs: number, act: () => void): void {
    this.#due = { atMs: this.#ports.clock.monotonicMs() + afterMs, act }
    this.#arm()
  }

  #arm(): void {
    if (this.#due === undefined || this.#frozen) return
    const { clock } = this.#ports
    const { atMs, act } = this.#due
    this.#timer = clock.setTimer(Math.max(0, atMs - clock.monotonicMs()), () => {
      this.#due = undefined
      act()
    })
  }

  #cancel(): void {
    this.#timer?.cancel()
    this.#due = undefined
  }

  #nowText(): string {
    return timestamp(this.#ports.clock.nowMs())
  }
}

function stagesOf(name: PodLife['name']): readonly Stage[] {
  return name === 'prompt' ? lifeCycles.ok.slice(-1) : lifeCycles[name === 'stays' ? 'ok' : name]
}

/** Without init containers that can fail, a failure planned there happens at once. */
function lifeOf(shape: PodShape, images: readonly string[], mayFail: boolean): LifeCycleName {
  const name = lifeCycleOf(images, mayFail)
  if (name !== 'bad-pull' && shape.containers.some(isRefusedAsRoot)) return 'non-root'
  return name === 'bad-init' && (shape.initContainers ?? []).length === 0 ? 'bad-crash' : name
}

/** Kubelets create no container that must not run as root and would. */
function isRefusedAsRoot({ securityContext }: ContainerShape): boolean {
  return securityContext?.runAsNonRoot === true && securityContext.runAsUser === 0
}

/** Read from the pod each time: only image tags may change, and their effect was decided when the pod was first seen. */
function shapeOf(pod: Pod): PodShape {
  return pod.spec as unknown as PodShape
}

function imagesOf(pod: Pod): readonly string[] {
  const { containers, initContainers = [] } = shapeOf(pod)
  return [...containers, ...initContainers].map(({ image }) => image)
}

function isRunning(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && (pod.status.containerStatuses ?? []).length > 0
}

function isReady(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** Conditions of other writers stay unchanged and in order, before the kubelet's own. */
function withForeign(pod: Pod, own: readonly Condition[]): readonly Condition[] {
  return [...(pod.status?.conditions ?? []).filter(({ type }) => !own.some((one) => one.type === type)), ...own]
}
