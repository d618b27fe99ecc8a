import { AppError, isAppError } from '@tranche/errors'
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
    const named = program.commands.find((command) => command.name() === words[0])
    const failed = await explain(error instanceof CommanderError ? parserError(error, named?.name()) : error, io)
    // A failure of `status` itself must differ from the outcome of a release.
    return words[0] === 'status' && failed !== exitCodes.done ? statusExitCodes.unknown : failed
  }
}

/** @returns a wrong command line as an error with a hint; help and version unchanged, since they are not errors */
function parserError(error: CommanderError, command: string | undefined): CommanderError | AppError {
  if (error.exitCode === 0 || error.code === 'commander.help') return error
  const hint = `Try tranche ${command === undefined ? '' : `${command} `}--help.`
  return new AppError('OPTION_INVALID', inOneLine(error.message), { hint, cause: error })
}

/** Joins the message and the parser's suggestion, which the parser prints in brackets on a second line. */
function inOneLine(text: string): string {
  const [wrong = '', ...meant] = text
    .trim()
    .replace(/^error: /, '')
    .split('\n')
  return [`${wrong.replace(/\.$/, '')}.`, ...meant.map((line) => line.replace(/^\((.*)\)$/, '$1'))].join(' ')
}

async function explain(error: unknown, io: CommandIo): Promise<number> {
  // The parser has already printed help or the version.
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
