import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { invalid } from '../option-values.ts'
import { textOf, toAccessOptions, toOutputOptions, type Values } from '../options/access-options.ts'
import { parseDuration } from '../options/duration-option.ts'
import { collect } from './collect.ts'
import type { Exit } from './release-commands.ts'
import { withAccessOptions, withOutputOptions } from './shared-options.ts'

const LONGEST_APPROVAL_SECONDS = 86_400

/** The command that tells what a release would do. */
export function addPlanCommand(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('plan')
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; may be left out where the namespace has only one')
    .description('Tell what a release would do: which node when and why, how long it takes, what would stop it. Nothing is changed.')
  withOutputOptions(withAccessOptions(command), 'json, yaml or wide (node by node)')
    .option('--image <image>', 'plan this image: CONTAINER=IMAGE, or IMAGE where there is one container')
    .option(
      '-f, --filename <path>',
      'plan what these manifests would change: file, folder, or - for standard input; may be given again',
      collect,
    )
    .option('-R, --recursive', 'look into the folders in a folder too')
    .option('--if <fault>', "what goes wrong, such as 'node-7 fails' or '5% crash'; may be given again", collect)
    .option('--approve-after <time>', 'how long a person takes to approve a step, such as 10m', '0s')
    .addHelpText(
      'after',
      `
Without --image and -f it plans what is under way. Ends with 0 when the release
would complete, with 1 when it would not. Whether a new version runs well is not
known before it runs: --if plays one that fails.

What can go wrong, behind --if:
  NODE fails        the machine dies as soon as the new version is up there
  NODE is NotReady  it is dead from the beginning
  NODE crashes      the new version crashes there
  ZONE fails        all nodes of it, as of a node: zone-a is NotReady
  3 crash, 5% fail  on so many nodes, the same ones each time

Examples:
  tranche plan node-agent --image registry.example/node-agent:v3
  tranche plan -f daemonset.yaml --approve-after 15m -o wide
  tranche plan --image agent=registry.example/node-agent:v3 --if '5% crash'`,
    )
    .action(async (name: string | undefined, values: Values) => {
      const image = textOf(values, 'image')
      const injectedFaults = listOf(values, 'if')
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml', 'wide']),
        name,
        files: listOf(values, 'filename'),
        recursive: values['recursive'] === true,
        request: {
          ...(image !== undefined && { image }),
          ...(injectedFaults.length > 0 && { if: injectedFaults }),
          approveAfterSeconds: toSeconds(textOf(values, 'approveAfter') ?? '0s'),
        },
      }
      exit(await (await import('../commands/plan.ts')).plan(options, io))
    })
}

function toSeconds(value: string): number {
  const seconds = Math.round(parseDuration('--approve-after', value) / 1000)
  if (seconds > LONGEST_APPROVAL_SECONDS) throw invalid('--approve-after', value, 'give at most a day')
  return seconds
}

function listOf(values: Values, name: string): readonly string[] {
  const value = values[name]
  return Array.isArray(value) ? (value as readonly string[]) : []
}
