import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/log'
import type { Outgoing } from '@tranche/outgoing'
import type { JobQueue } from '@tranche/queue'
import type { Exchange } from '@tranche/wire'

/** The programs that a forecast runs in the copy of the cluster: the very ones that run in the cluster itself. */
export interface ForecastPrograms {
  readonly startController: (ports: ControllerPorts) => RunningProgram
  readonly startExecutor: (ports: ExecutorPorts) => RunningProgram
}

/** A program that runs until it is stopped. */
export interface RunningProgram {
  /** Resolves when its first lists have arrived. */
  readonly ready: Promise<void>
  /** Rejects with what ended it before its time. */
  readonly stopped: Promise<void>
  stop(): Promise<void>
}

interface ProgramPorts {
  readonly exchange: Exchange
  readonly clock: Clock
  readonly log: Logger
  readonly identity: string
}

/** What a controller is given. */
export interface ControllerPorts extends ProgramPorts {
  readonly admission: 'none' | 'inProcess'
  readonly leaderElection: false
  readonly outgoing: Outgoing
  /** Time between two passes that mere counting asks for, in milliseconds. */
  readonly countingEveryMs: number
}

/** What an executor is given. */
export interface ExecutorPorts extends ProgramPorts {
  readonly queue: JobQueue
}
