import { VirtualClock } from '@tranche/clock'
import { createKubeClient, type KubeClient } from '@tranche/kube-client'
import { createSimulator, type SimulatorOptions } from '@tranche/sim'
import type { FaultInjector } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'

/** A simulated cluster in virtual time. */
export interface SimStage {
  readonly clock: VirtualClock
  clientOf(user: string): KubeClient
  /** Lets time pass until the promise has settled. */
  drive<T>(promise: Promise<T>): Promise<T>
  stop(): void
}

/** @param onRequest called for every request @param options two nodes, if they do not say otherwise */
export async function startSimStage(
  onRequest: NonNullable<FaultInjector['onRequest']>,
  options: Partial<Pick<SimulatorOptions, 'actors' | 'nodes' | 'watchDelayMs'>> = {},
): Promise<SimStage> {
  const clock = new VirtualClock()
  const simulator = createSimulator({ clock, nodes: 2, faults: { onRequest }, ...options })
  await driveOn(clock, simulator.start())
  return {
    clock,
    clientOf: (user) => createKubeClient({ exchange: simulator.exchangeFor(user), clock, userAgent: 'test/1', log: silentLogger, seed: 1 }),
    drive: (promise) => driveOn(clock, promise),
    stop: () => simulator.stop(),
  }
}

/** Lets time pass on the clock until the promise has settled. */
export async function driveOn<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = (): void => void (settled = true)
  promise.then(mark, mark)
  await clock.run({ done: () => settled })
  return promise
}
