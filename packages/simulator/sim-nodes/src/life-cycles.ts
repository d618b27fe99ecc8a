import type { PodSettings } from './pod-settings.ts'

/** Behaviour of a pod, selected by its images' tags. */
export type LifeCycleName = 'ok' | 'non-root' | (typeof badNames)[number]

/** Delay before a stage. `now`: none. `sync`: the kubelet's sync period. */
export type Delay = 'now' | 'start' | 'readiness' | 'flap' | 'late' | 'heal' | 'sync' | 'backOff'

/** Stage of a life cycle: the pod's state after the delay `after`. */
export interface Stage {
  readonly after: Delay
  readonly phase: 'Pending' | 'Running'
  /** State of every container; of the first init container when `inInit` is set. */
  readonly state: 'running' | { readonly waiting: string; readonly message?: string }
  /** Whether the readiness probe passes. */
  readonly ready: boolean
  /** Init containers are still running, and the others wait for them. */
  readonly inInit?: true
  /** The readiness probe fails from now on. */
  readonly probeFails?: true
  /** The containers have just ended and count one more restart. */
  readonly ended?: { readonly reason: string; readonly exitCode: number }
  /** An attempt to start has just failed: the next one waits longer. */
  readonly failed?: true
  /** Effect on the node: its kubelet reports that it is not Ready, until the pod is gone. */
  readonly breaksNode?: true
  /** Number of stages that repeat after this one, which is the last of them. */
  readonly repeats?: number
}

const creating: Stage = { after: 'now', phase: 'Pending', state: { waiting: 'ContainerCreating' }, ready: false }
const running: Stage = { after: 'start', phase: 'Running', state: 'running', ready: false }
const ready: Stage = { after: 'readiness', phase: 'Running', state: 'running', ready: true }
const error = { reason: 'Error', exitCode: 1 }
const outOfMemory = { reason: 'OOMKilled', exitCode: 137 }
const startError = { reason: 'StartError', exitCode: 128 }
const missingKey = "couldn't find key in ConfigMap"
const missingProgram = 'exec: "agent": executable file not found in $PATH'
const asRoot = "container's runAsUser breaks non-root policy"
const nameInUse = 'the container name is in use by another container'

/** All life cycles, stage by stage: the complete behaviour of the simulator's kubelets. */
export const lifeCycles = {
  ok: [creating, running, ready],
  'non-root': [creating, waiting('start', 'Pending', 'CreateContainerConfigError', asRoot)],
  'bad-pull': [
    creating,
    { ...waiting('start', 'Pending', 'ErrImagePull', 'failed to pull image'), failed: true },
    waiting('sync', 'Pending', 'ImagePullBackOff', 'Back-off pulling image'),
    { ...waiting('backOff', 'Pending', 'ErrImagePull', 'failed to pull image'), failed: true, repeats: 2 },
  ],
  'bad-config': [creating, waiting('start', 'Pending', 'CreateContainerConfigError', missingKey)],
  'bad-heals': [creating, waiting('start', 'Pending', 'CreateContainerConfigError', missingKey), { ...running, after: 'heal' }, ready],
  'bad-create': [creating, waiting('start', 'Pending', 'CreateContainerError', nameInUse)],
  'bad-start': [
    creating,
    waiting('start', 'Running', 'RunContainerError', missingProgram),
    crash('sync', startError),
    { ...crash('backOff', startError), repeats: 1 },
  ],
  'bad-init': [creating, inInit(crash('start', error)), { ...inInit(crash('backOff', error)), repeats: 1 }],
  'bad-crash': [creating, crash('start', error), { ...crash('backOff', error), repeats: 1 }],
  'bad-oom': [creating, crash('start', outOfMemory), { ...crash('backOff', outOfMemory), repeats: 1 }],
  'bad-ready': [creating, { ...running, probeFails: true }],
  'bad-probe': [creating, running, ready, { ...running, after: 'flap', probeFails: true }, { ...ready, after: 'flap', repeats: 2 }],
  'bad-flap': [creating, running, ready, crash('flap', error), { ...crash('backOff', error), repeats: 1 }],
  'bad-late': [creating, running, ready, crash('late', error), { ...running, after: 'backOff' }, { ...ready, repeats: 3 }],
  'bad-restart': [creating, running, ready, { ...running, after: 'late', ended: error }, { ...ready, repeats: 2 }],
  'bad-node': [creating, running, ready, { ...ready, after: 'flap', breaksNode: true }],
} as const satisfies Record<LifeCycleName, readonly Stage[]>

function waiting(after: Delay, phase: Stage['phase'], reason: string, message: string): Stage {
  return { after, phase, state: { waiting: reason, message }, ready: false }
}

function crash(after: Delay, ended: { readonly reason: string; readonly exitCode: number }): Stage {
  return { ...waiting(after, 'Running', 'CrashLoopBackOff', 'back-off restarting failed container'), ended, failed: true }
}

function inInit(stage: Stage): Stage {
  return { ...stage, phase: 'Pending', inInit: true }
}

const badNames = [
  'bad-init',
  'bad-pull',
  'bad-config',
  'bad-heals',
  'bad-create',
  'bad-start',
  'bad-crash',
  'bad-oom',
  'bad-ready',
  'bad-flap',
  'bad-late',
  'bad-restart',
  'bad-probe',
  'bad-node',
] as const

/**
 * @param images of all containers, including init containers; the worst tag decides
 * @param mayFail false when `bad-nodes` excludes this node
 */
export function lifeCycleOf(images: readonly string[], mayFail: boolean): LifeCycleName {
  if (!mayFail) return 'ok'
  const tags = images.map((image) => /:([^/]*)$/.exec(image)?.[1] ?? '')
  return badNames.find((name) => tags.some((tag) => tag.includes(name))) ?? 'ok'
}

const FIRST_BACK_OFF_MS = 10_000
const MAX_BACK_OFF_MS = 300_000
const SYNC_MS = 1_000

/**
 * @param failures number of failed attempts to start before the stage
 * @returns duration of the stage before, in milliseconds
 */
export function delayMs(delay: Delay, settings: PodSettings, failures: number): number {
  switch (delay) {
    case 'now':
      return 0
    case 'start':
      return settings.startMs
    case 'readiness':
      return settings.readinessMs
    case 'flap':
      return settings.flapMs
    case 'late':
      return settings.lateMs
    case 'heal':
      return settings.healMs
    case 'sync':
      return SYNC_MS
    case 'backOff':
      return Math.min(FIRST_BACK_OFF_MS * 2 ** Math.max(0, failures - 1), MAX_BACK_OFF_MS)
    default:
      return delay satisfies never
  }
}
