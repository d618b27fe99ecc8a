import type { Condition } from '@tranche/kube-types'
import type { Stage } from './life-cycles.ts'

/** State of a pod that a kubelet keeps between two stages. */
export interface PodMemory {
  readonly restarts: number
  /** Number of failed attempts to start. */
  readonly failures: number
  /** Time at which the kubelet first saw the pod, RFC 3339. */
  readonly startTime: string
  /** Time at which the containers last started. */
  readonly runningSince?: string
  readonly lastEnd?: { readonly reason: string; readonly exitCode: number; readonly startedAt: string; readonly finishedAt: string }
  /** Conditions as the kubelet last wrote them. */
  readonly conditions: readonly Condition[]
}

interface PodFacts {
  readonly containers: readonly Container[]
  /** @default none */
  readonly initContainers?: readonly Container[] | undefined
  readonly hostIP: string
  readonly podIP: string
}

interface Container {
  readonly name: string
  readonly image: string
}

/** @returns state after a stage has started */
export function enterStage(memory: PodMemory, stage: Stage, nowText: string): PodMemory {
  const startedAt = memory.runningSince ?? nowText
  const { runningSince: _, ...rest } = memory
  return {
    ...rest,
    ...(stage.ended && { restarts: memory.restarts + 1, lastEnd: { ...stage.ended, startedAt, finishedAt: nowText } }),
    ...(stage.failed && { failures: memory.failures + 1 }),
    ...(stage.state === 'running' && { runningSince: stage.ended ? nowText : startedAt }),
    conditions: conditionsOf(memory.conditions, { ...stage, notReadyReason: 'ContainersNotReady' }, nowText),
  }
}

/** @returns state once the pod is being stopped: it is not ready any longer */
export function beginStop(memory: PodMemory, nowText: string): PodMemory {
  return { ...memory, conditions: conditionsOf(memory.conditions, { ready: false, notReadyReason: 'PodTerminating' }, nowText) }
}

/** @returns `status` to write, without the conditions of other writers */
export function podStatus(memory: PodMemory, stage: Stage, facts: PodFacts): Readonly<Record<string, unknown>> {
  const { initContainers = [] } = facts
  const hasInit = initContainers.length > 0
  return {
    phase: stage.phase,
    startTime: memory.startTime,
    hostIP: facts.hostIP,
    hostIPs: [{ ip: facts.hostIP }],
    podIP: facts.podIP,
    podIPs: [{ ip: facts.podIP }],
    conditions: memory.conditions,
    ...(hasInit && { initContainerStatuses: initContainers.map((container, at) => initStatus(memory, stage, { container, at })) }),
    containerStatuses: facts.containers.map((container) => {
      if (hasInit && isInitializing(stage)) return waitingForInit(container)
      return statusOf(container, {
        ready: stage.ready,
        started: stage.state === 'running',
        restartCount: memory.restarts,
        state: containerState(memory, stage, container.image),
        ...(memory.lastEnd && { lastState: { terminated: memory.lastEnd } }),
      })
    }),
  }
}

/**
 * Init containers that have not started wait; a failing stage affects the first of them. Once the other containers start, all init
 * containers have completed.
 */
function initStatus(
  memory: PodMemory,
  stage: Stage,
  { container, at }: { readonly container: Container; readonly at: number },
): Readonly<Record<string, unknown>> {
  if (stage.inInit && at === 0) {
    const lastState = memory.lastEnd && { lastState: { terminated: memory.lastEnd } }
    const state = containerState(memory, stage, container.image)
    return statusOf(container, { ready: false, started: false, restartCount: memory.restarts, state, ...lastState })
  }
  if (isInitializing(stage)) return waitingForInit(container)
  const ended = { reason: 'Completed', exitCode: 0, startedAt: memory.startTime, finishedAt: memory.startTime }
  return statusOf(container, { ready: true, started: false, restartCount: 0, state: { terminated: ended } })
}

function isInitializing({ inInit, state }: Stage): boolean {
  return inInit === true || (state !== 'running' && state.waiting === 'ContainerCreating')
}

function waitingForInit(container: Container): Readonly<Record<string, unknown>> {
  return statusOf(container, { ready: false, started: false, restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } })
}

function statusOf({ name, image }: Container, rest: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { name, image, imageID: '', ...rest }
}

function containerState(memory: PodMemory, { state }: Stage, image: string): unknown {
  if (state === 'running') return { running: { startedAt: memory.runningSince } }
  const { waiting: reason, message } = state
  return { waiting: { reason, ...(message !== undefined && { message: reason.includes('Image') ? `${message} "${image}"` : message }) } }
}

/** A condition keeps its transition time while its status is unchanged. */
function conditionsOf(
  before: readonly Condition[],
  { ready, inInit, notReadyReason }: Pick<Stage, 'ready' | 'inInit'> & { readonly notReadyReason: string },
  nowText: string,
): readonly Condition[] {
  const condition = (type: string, holds: boolean, reason: string): Condition => {
    const status = holds ? 'True' : 'False'
    const old = before.find((one) => one.type === type)
    if (old?.status === status) return old
    return { type, status, ...(!holds && { reason }), lastTransitionTime: nowText }
  }
  return [
    condition('Initialized', inInit !== true, 'ContainersNotInitialized'),
    condition('Ready', ready, notReadyReason),
    condition('ContainersReady', ready, notReadyReason),
  ]
}
