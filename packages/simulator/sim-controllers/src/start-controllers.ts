import type { Clock } from '@tranche/clock'
import type { Actor, SimClient } from '@tranche/sim-api'
import { startDaemonSetController } from './daemonset/daemon-set-controller.ts'
import { startDisruptionController } from './disruption/disruption-controller.ts'
import { startGarbageCollector } from './garbage/garbage-collector.ts'
import { startNamespaceController } from './garbage/namespace-controller.ts'
import { startPodCollector } from './garbage/pod-collector.ts'
import type { RunningController } from './machinery/running-controller.ts'
import { startQuotaController } from './quota/quota-controller.ts'
import { startScheduler } from './scheduler/scheduler.ts'
import { startTaintEvictionController } from './taints/taint-eviction-controller.ts'

/** Dependencies of the native controllers of a cluster. */
export interface StartControllersOptions {
  readonly clientFor: (actor: Actor) => SimClient
  readonly clock: Clock
  /** Random numbers, which select among equal pods of an update. */
  readonly seed: string
  /** Controllers to run. @default all */
  readonly only?: readonly ControllerName[]
  /** Called for every failed pass with the controller's name; the controller retries by itself. */
  readonly onError: (error: unknown, controller: string, key: string) => void
}

const starts = {
  'daemonset-controller': startDaemonSetController,
  'default-scheduler': startScheduler,
  'garbage-collector': startGarbageCollector,
  'pod-garbage-collector': startPodCollector,
  'taint-eviction-controller': startTaintEvictionController,
  'namespace-controller': startNamespaceController,
  'disruption-controller': startDisruptionController,
  'resourcequota-controller': startQuotaController,
} as const

/** Native controller of Kubernetes, by the name it acts under. */
export type ControllerName = keyof typeof starts

/** Starts the native controllers of a Kubernetes cluster, each under its own name. */
export function startControllers({ clientFor, clock, seed, only, onError }: StartControllersOptions): RunningController {
  const chosen = Object.entries(starts).filter(([name]) => only === undefined || only.includes(name as ControllerName))
  const running = chosen.map(([name, start]) =>
    start({ client: clientFor({ name }), clock, seed, onError: (error, key) => onError(error, name, key) }),
  )
  return {
    stop() {
      for (const controller of running) controller.stop()
    },
  }
}
