import { isAppError } from '@tranche/errors'
import { CommanderError } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { errorText } from '../release-client/error-line.ts'
import { exitCodes, statusExitCodes } from '../process/exit-codes.ts'
import { commandFirst } from '../options/command-first.ts'
import { createProgram } from './create-program.ts'
import type { ProgramParts } from './program-parts.ts'
import { printable } from '../view/printable.ts'

/**
 * Runs one command line. The only place that turns errors into text and exit codes.
 *
 * @param args without the program name
 * @param parts commands and functions from outside this package
 * @returns the exit code: {@link exitCodes}, of `status` {@link statusExitCodes}
 */
export async function run(args: readonly string[], io: CommandIo, parts: ProgramParts): Promise<number> {
  let code: number = exitCodes.done
  let words = args
  const choose = (chosen: number): void => {
    code = chosen
  }
  const program = createProgram(io, choose, parts)
  try {
    words = commandFirst(args)
    const [word, asked] = words
    // The parser would print the full help, and no error.
    if (word === 'help' && asked !== undefined && !program.commands.some((command) => command.name() === asked))
      program.error(`error: unknown command '${asked}'`)
    await program.parseAsync([...words], { from: 'user' })
    return code
  } catch (error) {
    const failed = await explain(error, io)
    // A failure of `status` itself must differ from the outcome of a release.
    return words[0] === 'status' && failed !== exitCodes.done ? statusExitCodes.unknown : failed
  }
}

async function explain(error: unknown, io: CommandIo): Promise<number> {
  // The parser has already printed the error; help and version are not errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  // Commands load their modules when they run. bin/tranche.mjs reports a missing one, without further imports.
  if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') throw error
  if (!isAppError(error)) {
    const lines = (error instanceof Error ? (error.stack ?? error.message) : String(error)).split('\n')
    io.err.write(`tranche: unexpected error: ${lines.map(printable).join('\n')}\n`)
    return exitCodes.failed
  }
  const { sayLines } = await import('../output/say-lines.ts')
  sayLines(io.err, errorText(error))
  return error.code === 'OPTION_INVALID' ? exitCodes.usage : exitCodes.failed
}
