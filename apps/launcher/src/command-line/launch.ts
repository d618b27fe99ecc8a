import { type CommandIo, createProgram, type Exit, type ProgramParts, run } from '@tranche/cli'
import type { Command } from 'commander'
import { addDashboardCommand } from './dashboard-command.ts'
import { addFailpointCommand } from './failpoint-command.ts'
import { addProcessCommands } from './process-commands.ts'
import { addSimulationCommands } from './simulation-commands.ts'

/** Everything that the commands for people do not have by themselves; loaded by the command that needs it. */
const parts: ProgramParts = {
  addProcessCommands(program, io, exit) {
    addSimulationCommands(program, io, exit)
    addDashboardCommand(program, io, exit)
    addProcessCommands(program, io, exit)
  },
  addProcessLists: addFailpointCommand,
  forecastRelease: async (...args) => (await import('../forecast/run-forecast.ts')).runForecast(...args),
  prepareRedisCheck: async (...args) => (await import('../redis/prepare-redis-check.ts')).prepareRedisCheck(...args),
}

/**
 * Runs one command line with every command of `tranche`.
 *
 * @param args without the program name
 * @returns the exit code
 */
export function launch(args: readonly string[], io: CommandIo): Promise<number> {
  return run(args, io, parts)
}

/**
 * Every command of `tranche` as a parser, for help and documentation.
 *
 * @param exit receives the exit code of a command that ran
 */
export function createLauncher(io: CommandIo, exit: Exit): Command {
  return createProgram(io, exit, parts)
}
