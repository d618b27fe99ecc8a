import type { EventEmitter } from 'node:events'
import { createLauncher } from '../../apps/launcher/src/index.ts'
import { code, MADE, page, prose, table } from './markdown.ts'

type Command = ReturnType<typeof createLauncher>

/** @returns the page of the command line: every command with its arguments, options and examples, from its parser */
export function commandLinePage(): string {
  const out = { write: () => true }
  const program = createLauncher({ out, err: out } as never, () => {})
  const helper = program.createHelp()
  const commands = helper.visibleCommands(program).filter((command) => command.name() !== 'help')
  return page([
    '# Commands',
    MADE,
    `${prose(program.description())} For their use, see [the command line](../guides/cli.md).`,
    table(
      ['command', 'does'],
      commands.map((command) => [`[${code(command.name())}](#tranche-${command.name()})`, prose(command.description())]),
    ),
    'Each command supports `--help`. Exit codes are in [the command line](../guides/cli.md#wait-exit-codes), errors in [errors](error-codes.md).',
    ...commands.flatMap((command) => sectionOf(command)),
  ])
}

function sectionOf(command: Command): readonly string[] {
  const helper = command.createHelp()
  const args = command.registeredArguments.map((arg) => [
    code(arg.required ? `<${arg.name()}>` : `[${arg.name()}]`),
    prose(arg.description),
  ])
  const options = helper
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => [code(option.flags), option.negate ? '' : defaultText(option.defaultValue), prose(option.description)])
  return [
    `## tranche ${command.name()}`,
    prose(command.description()),
    `\`\`\`\n${helper.commandUsage(command)}\n\`\`\``,
    args.length === 0 ? '' : table(['argument', 'is'], args),
    options.length === 0 ? '' : table(['option', 'default', 'means'], options),
    afterOptions(command),
  ]
}

function defaultText(value: unknown): string {
  return value === undefined || value === false || value === '' ? '' : code(String(value))
}

/** Additional help text of a command, from the parser. */
function afterOptions(command: Command): string {
  let text = ''
  const emitter: unknown = command
  ;(emitter as EventEmitter).emit('afterHelp', { error: false, command, write: (part: string) => (text += part) })
  const lines = text.trim()
  return lines === '' ? '' : `\`\`\`\n${lines}\n\`\`\``
}
