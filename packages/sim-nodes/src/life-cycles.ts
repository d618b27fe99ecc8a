import type { PodSettings } from './pod-settings.ts'

/** What becomes of a pod, decided by its images' tags. */
export type LifeCycleName = 'ok' | 'bad-pull' | 'bad-config' | 'bad-ready' | 'bad-crash' | 'bad-oom' | 'bad-flap'

/** What passes before a stage begins. `now`: nothing. */
export type Delay = 'now' | 'start' | 'readiness' | 'flap' | 'backOff'

/** One stage of a life: after `after`, the pod shows this. */
export interface Stage {
  readonly after: Delay
  readonly phase: 'Pending' | 'Running'
  /** Every container's state. */
  readonly state: 'running' | { readonly waiting: string; readonly message?: string }
  /** The readiness probe passes. */
  readonly ready: boolean
  /** The readiness probe fails from now on, and never passes. */
  readonly probeFails?: true
  /** The containers have ended just now and count one more restart. */
  readonly ended?: { readonly reason: string; readonly exitCode: number }
  /** The stage comes again and again, each time after `after`. */
  readonly repeats?: true
}

const creating: Stage = { after: 'now', phase: 'Pending', state: { waiting: 'ContainerCreating' }, ready: false }
const running: Stage = { after: 'start', phase: 'Running', state: 'running', ready: false }
const ready: Stage = { after: 'readiness', phase: 'Running', state: 'running', ready: true }
const error = { reason: 'Error', exitCode: 1 }
const outOfMemory = { reason: 'OOMKilled', exitCode: 137 }

/** Every life, stage by stage. What stands here is all that a kubelet of the simulator knows. */
export const lifeCycles = {
  ok: [creating, running, ready],
  'bad-pull': [creating, waiting('start', 'Pending', 'ImagePullBackOff', 'Back-off pulling image')],
  'bad-config': [creating, waiting('start', 'Pending', 'CreateContainerConfigError', "couldn't find key in ConfigMap")],
  'bad-ready': [creating, { ...running, probeFails: true }],
  'bad-crash': [creating, crash('start', error), { ...crash('backOff', error), repeats: true }],
  'bad-oom': [creating, crash('start', outOfMemory), { ...crash('backOff', outOfMemory), repeats: true }],
  'bad-flap': [creating, running, ready, crash('flap', error), { ...crash('backOff', error), repeats: true }],
} as const satisfies Record<LifeCycleName, readonly Stage[]>

function waiting(after: Delay, phase: Stage['phase'], reason: string, message: string): Stage {
  return { after, phase, state: { waiting: reason, message }, ready: false }
}

function crash(after: Delay, ended: { readonly reason: string; readonly exitCode: number }): Stage {
  return { ...waiting(after, 'Running', 'CrashLoopBackOff', 'back-off restarting failed container'), ended }
}

const badNames = ['bad-pull', 'bad-config', 'bad-crash', 'bad-oom', 'bad-ready', 'bad-flap'] as const

/**
 * @param images of all containers; one bad tag decides, the worst first
 * @param mayFail false where `bad-nodes` leaves this node out
 */
export function lifeCycleOf(images: readonly string[], mayFail: boolean): LifeCycleName {
  if (!mayFail) return 'ok'
  const tags = images.map((image) => /:([^/]*)$/.exec(image)?.[1] ?? '')
  return badNames.find((name) => tags.some((tag) => tag.includes(name))) ?? 'ok'
}

const FIRST_BACK_OFF_MS = 10_000
const MAX_BACK_OFF_MS = 300_000

/**
 * @param restarts of the containers before the stage
 * @returns how long the stage before lasts, in milliseconds
 */
export function delayMs(delay: Delay, settings: PodSettings, restarts: number): number {
  switch (delay) {
    case 'now':
      return 0
    case 'start':
      return settings.startMs
    case 'readiness':
      return settings.readinessMs
    case 'flap':
      return settings.flapMs
    case 'backOff':
      return Math.min(FIRST_BACK_OFF_MS * 2 ** Math.max(0, restarts - 1), MAX_BACK_OFF_MS)
    default:
      return delay satisfies never
  }
}
