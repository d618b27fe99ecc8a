import { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { addLintCommand } from './lint-command.ts'
import { addPlanCommand } from './plan-command.ts'
import type { Exit, ProgramParts } from './program-parts.ts'
import { addReleaseCommands } from './release-commands.ts'
import { accessOptionsLast } from '../options/shared-options.ts'
import { addToolCommands } from './tool-commands.ts'
import { addActionCommands } from './action-commands.ts'
import { versionText } from '../process/version.ts'

/**
 * The command line as a parser. Commands load their modules when they run, so that `--help` is quick.
 *
 * @param exit receives the exit code of a command that ran; errors are thrown
 * @param parts commands and functions from outside this package
 */
export function createProgram(io: CommandIo, exit: Exit, parts: ProgramParts): Command {
  const program = new Command('tranche')
    .description('Roll out new versions of Kubernetes DaemonSets in batches.')
    .version(versionText(), '--version', 'print the version')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', '\nOptions of kubectl, such as -n and --context, also work before the command:\ntranche -n demo get.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(text),
      // The caller prints the error, which the parser also throws.
      outputError: () => {},
    })

  addReleaseCommands(program, io, exit)
  addActionCommands(program, io, exit)
  addToolCommands(program, io, exit, parts)
  addPlanCommand(program, io, exit, parts)
  parts.addProcessCommands(program, io, exit)
  addLintCommand(program, io, exit)
  parts.addProcessLists(program, io, exit)
  program
    .command('version')
    .description('Print the version of tranche and of its Node.js.')
    .action(() => void io.out.write(`${versionText()}\n`))
  accessOptionsLast(program.commands)
  return program
}
