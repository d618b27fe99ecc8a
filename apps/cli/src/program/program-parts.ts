import type { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import type { PrepareRedisCheck } from '@tranche/doctor'
import type { ForecastRelease } from '../plan/forecast-release.ts'

/** Receives the exit code of a command. */
export type Exit = (code: number) => void

/** Adds commands to the command line. */
export type AddCommands = (program: Command, io: CommandIo, exit: Exit) => void

/** Parts of the command line that need the controller, the executor or Redis. The launcher supplies them. */
export interface ProgramParts {
  /** Adds the commands that start a process, between those that act on releases and `lint`. */
  readonly addProcessCommands: AddCommands
  /** Adds the commands that describe these processes, before `version`. */
  readonly addProcessLists: AddCommands
  readonly forecastRelease: ForecastRelease
  readonly prepareRedisCheck: PrepareRedisCheck
}
