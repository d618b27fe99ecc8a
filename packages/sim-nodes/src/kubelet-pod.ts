import type { Clock, Timer } from '@tranche/clock'
import type { Condition, Pod } from '@tranche/kube-types'
import { isStatus, resources, type SimClient } from '@tranche/sim-api'
import { delayMs, lifeCycleOf, lifeCycles, type Stage } from './life-cycles.ts'
import { readPodSettings } from './pod-settings.ts'
import { beginStop, enterStage, type PodMemory, podStatus, wholeSecond } from './pod-status.ts'

/** One pod on one node, as its kubelet runs it. */
export interface KubeletPod {
  /** The API shows the pod like this now. Only a beginning deletion and an end of the containers from outside matter. */
  observe(pod: Pod): void
  /** The kubelet goes silent: nothing is written, and what falls due waits. */
  freeze(): void
  /** The kubelet is back: what fell due happens now, and the pod's status is written again. */
  thaw(): void
  /** The pod is gone. */
  drop(): void
}

/** What a kubelet needs to run a pod. */
export interface KubeletPodPorts {
  /** Acts as the kubelet of the pod's node. */
  readonly client: SimClient
  readonly clock: Clock
  /** Divides durations (> 0). */
  readonly speed: number
  readonly hostIP: string
  readonly podIP: string
  readonly onError: (error: unknown, key: string) => void
}

const RETRY_MS = 500

interface PodShape {
  readonly containers: readonly { readonly name: string; readonly image: string }[]
  readonly hostNetwork?: boolean
}

/** Takes a pod that is bound to the kubelet's node through its life. Its timeline depends on nothing but the pod as first seen. */
export function runPod(ports: KubeletPodPorts, first: Pod): KubeletPod {
  const { client, clock, speed, onError } = ports
  const shape = first.spec as unknown as PodShape
  const settings = readPodSettings(first.metadata.annotations ?? {}, first.spec?.nodeName ?? '', shape.containers[0]?.image ?? '')
  const stages: readonly Stage[] =
    lifeCycles[
      lifeCycleOf(
        shape.containers.map(({ image }) => image),
        settings.mayFail,
      )
    ]
  let pod = first
  let memory: PodMemory = { restarts: 0, startTime: nowText(), conditions: [] }
  let stage: Stage = isRunning(first)
    ? { ...stages[0]!, phase: 'Running', state: 'running', ready: isReady(first.status?.conditions) }
    : stages[0]!
  let mode: 'living' | 'stopping' | 'ended' = 'living'
  let frozen = false
  let dropped = false
  let writing = false
  let unwritten = false
  let due: { readonly atMs: number; readonly act: () => void } | undefined
  let timer: Timer | undefined

  if (isEnded(first)) mode = 'ended'
  else if (isRunning(first)) memory = adopt(first, memory)
  else if (first.metadata.deletionTimestamp === undefined) enter(0)
  observe(first)

  function nowText(): string {
    return wholeSecond(clock.nowMs())
  }

  /** Stages that follow without delay are entered together and shown as one. */
  function enter(index: number): void {
    let at = index
    for (;;) {
      stage = stages[at]!
      memory = enterStage(memory, stage, nowText())
      const next = stage.repeats ? at : at + 1
      if (stages[next] === undefined) break
      const waitMs = delayMs(stages[next].after, settings, memory.restarts) / speed
      at = next
      if (waitMs === 0) continue
      schedule(waitMs, () => enter(next))
      break
    }
    void write()
  }

  function observe(seen: Pod): void {
    pod = seen
    if (seen.metadata.deletionTimestamp !== undefined && mode !== 'stopping') beginStopping()
    else if (mode === 'living' && isEnded(seen)) {
      mode = 'ended'
      cancel()
    }
  }

  function beginStopping(): void {
    const wasReady = mode === 'living' && isReady(memory.conditions)
    mode = 'stopping'
    cancel()
    if (frozen) return schedule(0, startStop)
    startStop()

    function startStop(): void {
      const graceMs = (pod.metadata as { readonly deletionGracePeriodSeconds?: number }).deletionGracePeriodSeconds ?? 30
      if (settings.termNotReady && wasReady) {
        memory = beginStop(memory, nowText())
        stage = { ...stage, ready: false }
        void write()
      }
      schedule(Math.min(settings.stopMs / speed, graceMs * 1000), () => void remove())
    }
  }

  async function remove(): Promise<void> {
    const { name, namespace, uid } = pod.metadata
    try {
      await client.delete(resources.pods, name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } })
    } catch (error) {
      if (isDone(error)) return
      report(error)
      schedule(RETRY_MS, () => void remove())
    }
  }

  /** One write at a time, and each says what is so when it is sent: none can overtake a later one. */
  async function write(): Promise<void> {
    unwritten = true
    if (writing) return
    writing = true
    while (unwritten && !frozen && !dropped && mode !== 'ended') {
      unwritten = false
      await patchStatus()
    }
    writing = false
  }

  async function patchStatus(): Promise<void> {
    const { name, namespace, uid } = pod.metadata
    const podIP = shape.hostNetwork === true ? ports.hostIP : ports.podIP
    const status = podStatus(memory, stage, { hostIP: ports.hostIP, podIP, containers: shape.containers })
    const body = { metadata: { uid }, status: { ...status, conditions: withForeign(pod, memory.conditions) } }
    try {
      await client.patch(resources.pods, name, namespace, body, 'status')
    } catch (error) {
      if (isDone(error)) return
      report(error)
      clock.setTimer(RETRY_MS, () => void write())
    }
  }

  /** A pod that is gone needs nothing more, nor one of which the watch has told so. */
  function isDone(error: unknown): boolean {
    return dropped || isStatus(error, 404)
  }

  function report(error: unknown): void {
    onError(error, `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`)
  }

  function schedule(afterMs: number, act: () => void): void {
    due = { atMs: clock.monotonicMs() + afterMs, act }
    arm()
  }

  function arm(): void {
    if (due === undefined || frozen) return
    const { atMs, act } = due
    timer = clock.setTimer(Math.max(0, atMs - clock.monotonicMs()), () => {
      due = undefined
      act()
    })
  }

  function cancel(): void {
    timer?.cancel()
    due = undefined
  }

  return {
    observe,
    freeze() {
      frozen = true
      timer?.cancel()
    },
    thaw() {
      frozen = false
      if (mode === 'living') void write()
      arm()
    },
    drop() {
      dropped = true
      cancel()
    },
  }
}

/** Started before this kubelet: it stays as it is until it is deleted. */
function isRunning(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && (pod.status.containerStatuses ?? []).length > 0
}

function adopt(pod: Pod, memory: PodMemory): PodMemory {
  const { startTime = memory.startTime, conditions = [], containerStatuses = [] } = pod.status ?? {}
  return { ...memory, startTime, conditions, restarts: containerStatuses[0]?.restartCount ?? 0, runningSince: startTime }
}

function isReady(conditions: readonly Condition[] = []): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

function isEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
}

/** Conditions of other writers stay as they are, in their order, before the kubelet's own. */
function withForeign(pod: Pod, own: readonly Condition[]): readonly Condition[] {
  return [...(pod.status?.conditions ?? []).filter(({ type }) => !own.some((one) => one.type === type)), ...own]
}
