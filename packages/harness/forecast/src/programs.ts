import type { Clock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import type { Logger } from '@tranche/telemetry'
import type { EgressClient } from '@tranche/egress'
import type { JobQueue } from '@tranche/queue'
import type { Exchange } from '@tranche/wire'

/**
 * Programs that a forecast runs in the copy of the cluster: the same ones as in the cluster, in one process. `R` is the cluster cache that
 * they share.
 */
export interface ForecastPrograms<R extends ForecastCache> {
  /** Builds the cluster cache for both programs, so that every event is read once. */
  readonly createSharedClusterCache: (ports: ForecastCachePorts) => R
  readonly startController: (ports: ControllerPorts<R>) => RunningProgram
  readonly startExecutor: (ports: ExecutorPorts<R>) => RunningProgram
}

/** Cluster cache of the programs. */
export interface ForecastCache {
  /** Watches until `signal` aborts; calls `failed` with an error that ends a watch early. */
  start(signal: AbortSignal, failed: (error: unknown) => void): void
}

/** Dependencies of a cluster cache. */
export interface ForecastCachePorts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
}

/** Program that runs until it is stopped. */
export interface RunningProgram {
  /** Resolves when its first lists have arrived. */
  readonly ready: Promise<void>
  /** Rejects with the error that ended it early. */
  readonly stopped: Promise<void>
  stop(): Promise<void>
}

interface ProgramPorts<R> {
  readonly exchange: Exchange
  /** Already started. */
  readonly clusterCache: R
  readonly clock: Clock
  readonly log: Logger
  readonly identity: string
}

/** Dependencies of a controller. */
export interface ControllerPorts<R> extends ProgramPorts<R> {
  readonly admission: 'none' | 'inProcess'
  readonly leaderElection: false
  readonly egress: EgressClient
  /** Where the Leases of groups are; undefined where policies may name none. */
  readonly groups: { readonly namespace: string; readonly shared: readonly string[] } | undefined
  /** Minimum interval between two passes that only count pods, in milliseconds. */
  readonly countingEveryMs: number
}

/** Dependencies of an executor. */
export interface ExecutorPorts<R> extends ProgramPorts<R> {
  readonly queue: JobQueue
  /** Whether policies may check that nodes have room. */
  readonly room: boolean
  /** Whether executors may create helper pods. */
  readonly prePull: boolean
}
