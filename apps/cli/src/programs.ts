import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/log'
import type { JobQueue } from '@tranche/queue'
import type { Exchange } from '@tranche/wire'
import type { AdmissionMode } from './command-options.ts'

/** A controller or an executor at work. */
export interface RunningProgram {
  /** Resolves when its caches are filled and it works (or waits for the Lease). */
  readonly ready: Promise<void>
  /** Resolves after `stop`; rejects when it cannot go on. */
  readonly stopped: Promise<void>
  stop(): Promise<void>
}

/** What both programs need. They share nothing else, in one process neither. */
interface ProgramOptions {
  readonly exchange: Exchange
  readonly watchExchange?: Exchange
  readonly clock: Clock
  readonly log: Logger
  readonly identity: string
  readonly seed?: number
}

/** @see ProgramOptions */
export interface ControllerProgramOptions extends ProgramOptions {
  readonly admission: AdmissionMode
  readonly leaderElection: boolean
  readonly queue?: JobQueue
}

/** @see ProgramOptions */
export interface ExecutorProgramOptions extends ProgramOptions {
  readonly queue: JobQueue
  readonly workers?: number
}

interface ControllerModule {
  startController(options: ControllerProgramOptions): Promise<RunningProgram>
}

interface ExecutorModule {
  startExecutor(options: ExecutorProgramOptions): Promise<RunningProgram>
}

/** Starts a controller; loaded only when one is wanted. */
export async function startController(options: ControllerProgramOptions): Promise<RunningProgram> {
  const controller = (await import('@tranche/controller')) as unknown as ControllerModule
  return controller.startController(options)
}

/** Starts an executor; loaded only when one is wanted. */
export async function startExecutor(options: ExecutorProgramOptions): Promise<RunningProgram> {
  const executor = (await import('@tranche/executor')) as unknown as ExecutorModule
  return executor.startExecutor(options)
}
