import type { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { invalid } from '../options/option-values.ts'
import { toAccessOptions, toOutputOptions } from '../options/access-options.ts'
import { textOf, textsOf, type Values } from '../options/value-of.ts'
import { parseDurationOption } from '../options/duration-option.ts'
import { collect } from '../options/collect.ts'
import type { Exit, ProgramParts } from './program-parts.ts'
import { withAccessOptions, withOutputOptions } from '../options/shared-options.ts'

const LONGEST_APPROVAL_SECONDS = 86_400

/** Adds `plan`, which simulates a release. */
export function addPlanCommand(program: Command, io: CommandIo, exit: Exit, { forecastRelease }: ProgramParts): void {
  const command = program
    .command('plan')
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; optional if the namespace has only one')
    .description('Simulate a release: when and why each node is updated, the duration, what would stop it. Changes nothing.')
  withOutputOptions(withAccessOptions(command), 'json, yaml or wide (node by node)')
    .option('--image <image>', 'plan this image: CONTAINER=IMAGE, or IMAGE if there is one container')
    .option('-f, --filename <path>', 'plan these manifests: file, folder, or - for standard input; repeatable', collect)
    .option('-R, --recursive', 'include subfolders')
    .option('--if <fault>', "fault to simulate, such as 'node-7 fails' or '5% crash'; repeatable", collect)
    .option('--approve-after <time>', 'time until a person approves a step, such as 10m', '0s')
    .addHelpText(
      'after',
      `
Without --image and -f, plans the release in progress. Exits with 0 if the
release would complete, with 1 if it would not. The plan assumes that the new
version works; --if simulates faults.

Faults for --if:
  NODE fails        the node dies as soon as the new version is up on it
  NODE is NotReady  the node is dead from the start
  NODE crashes      the new version crashes on the node
  ZONE fails        all nodes of the zone; also: zone-a is NotReady,
                    zone-a crashes
  3 crash, 5% fail  that many nodes, the same ones in every run

Examples:
  tranche plan node-agent --image registry.example/node-agent:v3
  tranche plan -f daemonset.yaml --approve-after 15m -o wide
  tranche plan --image agent=registry.example/node-agent:v3 --if '5% crash'`,
    )
    .action(async (name: string | undefined, values: Values) => {
      const image = textOf(values, 'image')
      const injectedFaults = textsOf(values, 'if')
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml', 'wide']),
        name,
        files: textsOf(values, 'filename'),
        recursive: values['recursive'] === true,
        request: {
          ...(image !== undefined && { image }),
          ...(injectedFaults.length > 0 && { if: injectedFaults }),
          approveAfterSeconds: toSeconds(textOf(values, 'approveAfter') ?? '0s'),
        },
      }
      exit(await (await import('../commands/plan.ts')).plan(options, io, forecastRelease))
    })
}

function toSeconds(value: string): number {
  const seconds = Math.round(parseDurationOption('--approve-after', value) / 1000)
  if (seconds > LONGEST_APPROVAL_SECONDS) throw invalid('--approve-after', value, 'give at most a day')
  return seconds
}
