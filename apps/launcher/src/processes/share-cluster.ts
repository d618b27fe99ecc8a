import { userAgent } from '@tranche/cli'
import type { Clock } from '@tranche/clock'
import { type SharedClusterCache, createSharedClusterCache } from '@tranche/cluster'
import { createKubeClient, onServerClock } from '@tranche/kube-client'
import { fieldManagers } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { createMeter, type Metrics } from '@tranche/metrics'
import type { Exchange } from '@tranche/wire'

/** Connections and settings of the shared cluster cache. */
export interface ShareOptions {
  readonly exchange: Exchange
  /** Carries watches. */
  readonly watchExchange: Exchange
  readonly clock: Clock
  readonly log: Logger
  /** Identity of the controller of this process. */
  readonly identity: string
  readonly seed: number
  readonly namespaces?: readonly string[]
  readonly metrics?: Metrics
}

/**
 * Creates the cluster cache that all programs of a process share. Its lists and watches are sent, counted and logged as those of the
 * controller, which reads most objects.
 */
export function shareCluster({ identity, metrics, namespaces, ...given }: ShareOptions): SharedClusterCache {
  const options = onServerClock(given)
  const { clock, seed } = options
  const log = options.log.child({ program: fieldManagers.controller, identity })
  const meter = createMeter({ metrics, clock, program: 'controller' })
  const client = createKubeClient({
    exchange: meter(options.exchange),
    watchExchange: meter(options.watchExchange),
    clock,
    userAgent: userAgent(fieldManagers.controller),
    log,
    seed,
  })
  return createSharedClusterCache({ client, clock, log, seed, ...(namespaces !== undefined && { namespaces }) })
}
