import { startApi } from '@tranche/api'
import type { Clock } from '@tranche/clock'
import { fieldManagers } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { Simulation } from './simulation.ts'

/** Settings of the REST API of a simulated cluster. */
export interface DevApiParts {
  readonly simulation: Simulation
  readonly clock: Clock
  readonly log: Logger
  /** 0 picks a free port. */
  readonly port: number
  readonly seed: number
}

/** The REST API beside a simulated cluster. */
export interface DevApi {
  readonly url: string
  /** Random token of an administrator; invalid after the cluster has stopped. */
  readonly token: string
  stop(): Promise<void>
}

/** User name of the token. */
const USER = 'dev'

/**
 * Serves the REST API of a simulated cluster on 127.0.0.1; resolves after its first lists of the cluster.
 *
 * @throws {AppError} PORT_IN_USE
 */
export async function startDevApi({ simulation, clock, log, port, seed }: DevApiParts): Promise<DevApi> {
  const api = await startApi({ exchange: simulation.exchangeFor(fieldManagers.api), clock, log, port, seed })
  await api.ready
  return { url: api.url, token: simulation.simulator.tokenFor(USER), stop: () => api.stop() }
}
