import { type CommandIo, type ProgramParts, run } from '@tranche/cli'

/** Stands in for the launcher: one process command without an effect, no simulation, no Redis. */
export const alone: ProgramParts = {
  addProcessCommands: (program) => void program.command('dev').description('Run a simulated cluster.'),
  addProcessLists: () => {},
  forecastRelease: () => Promise.reject(new Error('there is no simulation')),
  prepareRedisCheck: () => Promise.resolve(null),
}

/** Runs one command line of the commands for people. @returns the exit code */
export function runAlone(args: readonly string[], io: CommandIo): Promise<number> {
  return run(args, io, alone)
}
