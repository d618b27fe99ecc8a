import type { Condition } from '@tranche/kube-types'
import type { Stage } from './life-cycles.ts'

/** What a kubelet remembers of a pod between two stages. */
export interface PodMemory {
  readonly restarts: number
  /** When the kubelet first saw the pod, RFC 3339. */
  readonly startTime: string
  /** When the containers last began to run. */
  readonly runningSince?: string
  readonly lastEnd?: { readonly reason: string; readonly exitCode: number; readonly startedAt: string; readonly finishedAt: string }
  /** The conditions as the kubelet last wrote them. */
  readonly conditions: readonly Condition[]
}

interface PodFacts {
  readonly containers: readonly { readonly name: string; readonly image: string }[]
  readonly hostIP: string
  readonly podIP: string
}

/** @returns what the kubelet remembers after a stage has begun */
export function enterStage(memory: PodMemory, stage: Stage, nowText: string): PodMemory {
  const startedAt = memory.runningSince ?? nowText
  const { runningSince: _, ...rest } = memory
  return {
    ...rest,
    ...(stage.ended && { restarts: memory.restarts + 1, lastEnd: { ...stage.ended, startedAt, finishedAt: nowText } }),
    ...(stage.state === 'running' && { runningSince: startedAt }),
    conditions: conditionsOf(memory.conditions, stage.ready, 'ContainersNotReady', nowText),
  }
}

/** @returns what the kubelet remembers once the pod is being stopped: it is not ready any more */
export function beginStop(memory: PodMemory, nowText: string): PodMemory {
  return { ...memory, conditions: conditionsOf(memory.conditions, false, 'PodTerminating', nowText) }
}

/** @returns `status` to write; the conditions of other writers are not in it */
export function podStatus(memory: PodMemory, stage: Stage, facts: PodFacts): Readonly<Record<string, unknown>> {
  return {
    phase: stage.phase,
    startTime: memory.startTime,
    hostIP: facts.hostIP,
    hostIPs: [{ ip: facts.hostIP }],
    podIP: facts.podIP,
    podIPs: [{ ip: facts.podIP }],
    conditions: memory.conditions,
    containerStatuses: facts.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready: stage.ready,
      started: stage.state === 'running',
      restartCount: memory.restarts,
      state: containerState(memory, stage, image),
      ...(memory.lastEnd && { lastState: { terminated: memory.lastEnd } }),
    })),
  }
}

function containerState(memory: PodMemory, { state }: Stage, image: string): unknown {
  if (state === 'running') return { running: { startedAt: memory.runningSince } }
  const { waiting: reason, message } = state
  return { waiting: { reason, ...(message !== undefined && { message: reason.startsWith('Image') ? `${message} "${image}"` : message }) } }
}

/** A condition keeps its time while its status stays. */
function conditionsOf(before: readonly Condition[], ready: boolean, notReadyReason: string, nowText: string): readonly Condition[] {
  const condition = (type: string, holds: boolean): Condition => {
    const status = holds ? 'True' : 'False'
    const old = before.find((one) => one.type === type)
    if (old?.status === status) return old
    return { type, status, ...(!holds && { reason: notReadyReason }), lastTransitionTime: nowText }
  }
  return [condition('Initialized', true), condition('Ready', ready), condition('ContainersReady', ready)]
}
