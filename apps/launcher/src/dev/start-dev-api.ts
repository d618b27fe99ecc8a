import { startApi } from '@tranche/api'
import { VERSION } from '@tranche/cli'
import type { Clock } from '@tranche/clock'
import { fieldManagers } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { findDashboard } from '../dashboard/find-dashboard.ts'
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
  /** Whether the dashboard is built; otherwise no link opens it. */
  readonly hasDashboard: boolean
  /** @returns a link that opens the dashboard as that administrator; works once, for ten minutes */
  newLink(): string
  stop(): Promise<void>
}

/** User name of the token. */
const USER = 'dev'
/** Group of the user; RBAC grants it all rights. */
const ADMINISTRATORS = 'system:masters'

/**
 * Serves the REST API of a simulated cluster on 127.0.0.1; resolves after its first lists of the cluster.
 *
 * @throws {AppError} PORT_IN_USE
 */
export async function startDevApi({ simulation, clock, log, port, seed }: DevApiParts): Promise<DevApi> {
  const exchange = simulation.exchangeFor(fieldManagers.api)
  const token = simulation.simulator.tokenFor(USER)
  const link = { caller: { username: USER, groups: [ADMINISTRATORS] }, hint: 'Sign in with the token that tranche dev has printed.' }
  const dashboard = findDashboard()
  const api = await startApi({ exchange, clock, log, port, seed, dashboard, link, version: VERSION })
  await api.ready
  return { url: api.url, token, hasDashboard: dashboard !== undefined, newLink: () => api.newLink() ?? '', stop: () => api.stop() }
}
