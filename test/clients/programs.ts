import { systemClock } from '@tranche/clock'
import { startController } from '@tranche/controller'
import { startExecutor } from '@tranche/executor'
import { silentLogger } from '@tranche/telemetry'
import { createInProcessQueue } from '@tranche/queue'
import type { Cluster } from './cluster.ts'

/** Tranche's programs that run on a cluster. */
export interface Programs {
  stop(): Promise<void>
}

/** Starts a controller and an executor, and waits until both are ready. */
export async function startPrograms({ simulator }: Pick<Cluster, 'simulator'>): Promise<Programs> {
  const shared = { clock: systemClock, log: silentLogger }
  const controller = startController({
    ...shared,
    exchange: simulator.exchangeFor('controller-1'),
    identity: 'controller-1',
    admission: 'none',
    leaderElection: false,
  })
  const executor = startExecutor({
    ...shared,
    exchange: simulator.exchangeFor('executor-1'),
    identity: 'executor-1',
    queue: createInProcessQueue(shared),
  })
  await Promise.all([controller.ready, executor.ready])
  return { stop: async () => void (await Promise.all([controller.stop(), executor.stop()])) }
}
