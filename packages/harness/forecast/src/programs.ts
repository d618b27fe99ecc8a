import type { Clock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'
import type { EgressClient } from '@tranche/egress'
import type { JobQueue } from '@tranche/queue'
import type { Exchange } from '@tranche/wire'

/**
 * The programs that a forecast runs in the copy of the cluster: the very ones that run in the cluster itself, as one process runs them.
 * `R` is the reflection that they read.
 */
export interface ForecastPrograms<R extends ClusterCache> {
  /** Builds what both programs read, so that nothing that happens is read twice. */
  readonly createSharedClusterCache: (ports: ClusterCachePorts) => R
  readonly startController: (ports: ControllerPorts<R>) => RunningProgram
  readonly startExecutor: (ports: ExecutorPorts<R>) => RunningProgram
}

/** What programs have seen of the cluster. */
export interface ClusterCache {
  /** Watches until `signal` aborts; `failed` hears what ends a watch before. */
  start(signal: AbortSignal, failed: (error: unknown) => void): void
}

/** What a reflection is made from. */
export interface ClusterCachePorts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
}

/** A program that runs until it is stopped. */
export interface RunningProgram {
  /** Resolves when its first lists have arrived. */
  readonly ready: Promise<void>
  /** Rejects with what ended it before its time. */
  readonly stopped: Promise<void>
  stop(): Promise<void>
}

interface ProgramPorts<R> {
  readonly exchange: Exchange
  /** Started already. */
  readonly clusterCache: R
  readonly clock: Clock
  readonly log: Logger
  readonly identity: string
}

/** What a controller is given. */
export interface ControllerPorts<R> extends ProgramPorts<R> {
  readonly admission: 'none' | 'inProcess'
  readonly leaderElection: false
  readonly egress: EgressClient
  /** Time between two passes that mere counting asks for, in milliseconds. */
  readonly countingEveryMs: number
}

/** What an executor is given. */
export interface ExecutorPorts<R> extends ProgramPorts<R> {
  readonly queue: JobQueue
}
