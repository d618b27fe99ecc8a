import type { ActionBody, ActionType } from '@tranche/api-schema'
import type { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { invalid, misplaced, parseWhole } from '../options/option-values.ts'
import { toAccessOptions, toOutputOptions } from '../options/access-options.ts'
import { textOf, type Values } from '../options/value-of.ts'
import { parseDurationOption } from '../options/duration-option.ts'
import type { Exit } from './program-parts.ts'
import { withAccessOptions, withOutputOptions } from '../options/shared-options.ts'

interface ActionCommand {
  readonly type: ActionType
  readonly description: string
  readonly examples: readonly string[]
}

const commands: readonly ActionCommand[] = [
  {
    type: 'approve',
    description: 'Approve the current step: end its pause and start the next step.',
    examples: ['tranche approve node-agent --reason "looks good"', 'tranche approve node-agent --expected-step 2 --wait'],
  },
  {
    type: 'pause',
    description: 'Pause a release at once, in mid-batch too.',
    examples: ['tranche pause node-agent --reason INC-4711 --wait'],
  },
  {
    type: 'resume',
    description: 'Resume a release after a pause, or after a failure that paused it.',
    examples: ['tranche resume node-agent'],
  },
  {
    type: 'promote',
    description: 'Skip this pause and all later ones, within the budget. To advance one step, use approve.',
    examples: [
      'tranche promote node-agent',
      'tranche promote node-agent --yes    without a prompt',
      'tranche promote node-agent --full    skips soak and analysis too',
    ],
  },
  {
    type: 'abort',
    description: 'Roll back, and block the version: applying it again releases nothing.',
    examples: ['tranche abort node-agent --reason "errors in the log"', 'tranche abort node-agent --yes --wait=2m'],
  },
  {
    type: 'retry',
    description: 'Release a blocked version after all, or continue after failures.',
    examples: ['tranche retry node-agent', 'tranche retry node-agent --revision 6b7f9c4d85'],
  },
  {
    type: 'undo',
    description: 'Restore the template of an older revision, as kubectl rollout undo does.',
    examples: [
      'tranche undo node-agent',
      'tranche undo node-agent --to-revision 3 --dry-run',
      'tranche undo node-agent --yes --revision 6b7f9c4d85',
    ],
  },
  {
    type: 'jump',
    description: 'Go to another step, forward or back; updated nodes stay updated.',
    examples: ['tranche jump node-agent --step 3'],
  },
  {
    type: 'restart',
    description: 'Replace every pod in steps, as kubectl rollout restart does.',
    examples: ['tranche restart node-agent --reason "new certificates"'],
  },
]

const LONGEST_WAIT_MS = 3_600_000
const DEFAULT_WAIT = '30s'
/** A healthy controller answers sooner, and the answer then shows the state of the release after the action. */
const SHORT_WAIT = '5s'

/** The commands that act on a release, one for each type of action. */
export function addActionCommands(program: Command, io: CommandIo, exit: Exit): void {
  for (const { type, description, examples } of commands) {
    const command = program.command(type).argument('<rollout>', 'NAME, rollout/NAME or daemonset/NAME').description(description)
    withOwnOptions(withSharedOptions(command), type)
      .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`)
      .action(async (name: string, values: Values) => {
        const options = {
          access: toAccessOptions(values, io.env),
          output: toOutputOptions(values, ['json', 'yaml', 'name']),
          name,
          type,
          body: toBody(type, values),
          waitMs: toWaitMs(values),
          idempotencyKey: textOf(values, 'idempotencyKey'),
          dryRun: values['dryRun'] === true,
          yes: values['yes'] === true,
        }
        exit(await (await import('../commands/action.ts')).act(options, io))
      })
  }
}

function withSharedOptions(command: Command): Command {
  return withOutputOptions(withAccessOptions(command), 'json, yaml or name')
    .option('--reason <text>', 'reason, kept in the history')
    .option(
      '--wait [time]',
      `maximum time to wait until the controller has acted; 0 does not wait; ${SHORT_WAIT} without the option, ${DEFAULT_WAIT} without a time`,
    )
    .option('--idempotency-key <key>', 'an action with the same key and user is carried out once')
    .option('--dry-run', 'print what would be written, and write nothing')
}

function withOwnOptions(command: Command, type: ActionType): Command {
  if (type !== 'undo' && type !== 'restart') {
    command.option('--expected-step <step>', stepHint(type)).option('--revision <hash>', 'expected canary revision; refused if it differs')
  }
  if (type === 'undo') command.option('--revision <hash>', 'expected current revision of the template; refused if it differs')
  if (type === 'promote') command.option('--full', 'skip soak and analysis too')
  if (type === 'jump') command.requiredOption('--step <step>', 'step to go to, from 1')
  if (type === 'undo')
    command.option(
      '--to-revision <revision>',
      'number or hash as in tranche history; defaults to the newest earlier revision that is not blocked',
    )
  if (type === 'abort' || type === 'undo' || type === 'promote') command.option('-y, --yes', 'do not prompt for confirmation')
  return command
}

function stepHint(type: ActionType): string {
  const otherwise = type === 'approve' || type === 'jump' ? '; defaults to the current step' : ''
  return `expected current step, from 1; refused if it differs${otherwise}`
}

function toBody(type: ActionType, values: Values): ActionBody {
  const reason = textOf(values, 'reason')
  const revision = textOf(values, 'revision')
  const toRevision = textOf(values, 'toRevision')
  if (revision === '' || toRevision === '')
    throw invalid(revision === '' ? '--revision' : '--to-revision', '', 'give the number or hash of a revision')
  const expectedStep = stepOf('--expected-step', textOf(values, 'expectedStep'))
  const step = stepOf('--step', textOf(values, 'step'))
  return {
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(expectedStep !== undefined && { expectedStep }),
    ...(revision !== undefined && { revision }),
    ...(type === 'jump' && step !== undefined && { step }),
    ...(values['full'] === true && { full: true }),
    ...(toRevision !== undefined && { toRevision }),
  }
}

function stepOf(option: string, value: string | undefined): number | undefined {
  return value === undefined ? undefined : parseWhole(option, value, { min: 1, max: 1_000 })
}

function toWaitMs(values: Values): number {
  const wait = values['wait']
  if (values['dryRun'] === true) return 0
  const text = wait === undefined ? SHORT_WAIT : typeof wait === 'string' ? wait : DEFAULT_WAIT
  const ms = parseDurationOption('--wait', text)
  if (ms > LONGEST_WAIT_MS)
    throw misplaced('--wait', `is limited to an hour, but is ${text}`, 'use tranche status --timeout to wait longer')
  return ms
}
