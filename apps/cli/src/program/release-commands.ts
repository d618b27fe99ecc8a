import type { Outcome } from '@tranche/api-schema'
import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { parseChoice } from '../option-values.ts'
import { textOf, toAccessOptions, toOutputOptions, type Values } from '../options/access-options.ts'
import { parseDuration } from '../options/duration-option.ts'
import { withAccessOptions, withOutputOptions } from './shared-options.ts'

// Not read from the schemas: they take longer to load than a command that needs none of them takes to run.
const outcomes = ['Done', 'Failed', 'RolledBack', 'Blocked', 'Waiting', 'Running'] as const satisfies readonly Outcome[]

/** How a command hands back its exit code. */
export type Exit = (code: number) => void

/** The commands that look at Rollouts. */
export function addReleaseCommands(program: Command, io: CommandIo, exit: Exit): void {
  addList(program, io, exit)
  addGet(program, io, exit)
  addStatus(program, io, exit)
  addExplain(program, io, exit)
  addHistory(program, io, exit)
  addDiff(program, io, exit)
}

function addList(program: Command, io: CommandIo, exit: Exit): void {
  const command = program.command('list').description('List Rollouts: what each comes to, how far it is, what it waits for.')
  withOutputOptions(withAccessOptions(command, { choosing: true }), 'json, yaml, name or wide')
    .option('-w, --watch', 'go on showing them until Ctrl-C')
    .option('--outcome <outcome>', `only Rollouts that are ${outcomes.join(', ')}`)
    .addHelpText(
      'after',
      `
Examples:
  tranche list                      those of the namespace of the context
  tranche list -A                   those of all namespaces
  tranche list -w                   live, until Ctrl-C
  tranche list -A --outcome Waiting  those that wait for a person
  tranche list -A -l team=storage   those with a label
  tranche list -o json              for programs`,
    )
    .action(async (values: Values) => {
      const outcome = textOf(values, 'outcome')
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml', 'name', 'wide']),
        outcome: outcome === undefined ? undefined : parseChoice('--outcome', capital(outcome), outcomes),
        watch: values['watch'] === true,
      }
      exit(await (await import('../commands/list.ts')).list(options, io))
    })
}

function addGet(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('get')
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; may be left out where the namespace has only one')
    .description('Show a Rollout as a tree: revisions, batches, zones, and the nodes that are not well.')
  withOutputOptions(withAccessOptions(command, { choosing: true }), 'json, yaml, name or wide (every zone and node that is not well)')
    .option('-w, --watch', 'go on showing it until Ctrl-C')
    .addHelpText(
      'after',
      `
Examples:
  tranche get node-agent -n demo    where it stands, and what it waits for
  tranche get -w                    live, of the only Rollout of the namespace
  tranche get daemonset/node-agent  the Rollout of a DaemonSet
  tranche get node-agent -A         in any namespace
  tranche get node-agent -o json    for programs`,
    )
    .action(async (name: string | undefined, values: Values) => {
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml', 'name', 'wide']),
        name,
        watch: values['watch'] === true,
      }
      exit(await (await import('../commands/get.ts')).get(options, io))
    })
}

function addStatus(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('status')
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; may be left out where the namespace has only one')
    .description('Wait until a release is over or a person has to decide; the exit code says which.')
  withOutputOptions(withAccessOptions(command), 'json, yaml or name')
    .option('--timeout <time>', 'the longest to wait, such as 10m; 0 looks once; without it as long as it takes')
    .option('--through-pauses', 'wait on where a person has to decide')
    .addHelpText(
      'after',
      `
Ends with
  0  done: every node that can be is on the version that was asked for
  1  failed: the version was taken back, or cannot go on by itself
  2  timed out: it was still going on, with --through-pauses in a pause too
  3  waiting for a person; never with --through-pauses
  4  it could not be found out: no such Rollout, no answer, a wrong option

Examples:
  tranche status node-agent --timeout 30m
  tranche status node-agent --timeout 0 -o json
  until tranche status node-agent
  do test $? = 3 && tranche approve node-agent || exit 1; done`,
    )
    .action(async (name: string | undefined, values: Values) => {
      const timeout = textOf(values, 'timeout')
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml', 'name']),
        name,
        timeoutMs: timeout === undefined ? null : parseDuration('--timeout', timeout),
        throughPauses: values['throughPauses'] === true,
      }
      exit(await (await import('../commands/status.ts')).status(options, io))
    })
}

function addExplain(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('explain')
    .argument('[subject]', 'NODE, node/NODE, or a Rollout as in get; may be left out where the namespace has only one')
    .description('Say why a node is not updated, or what a release waits for: which rule, which facts, what would change it.')
  withOutputOptions(withAccessOptions(command), 'json or yaml')
    .option('--rollout <rollout>', 'Rollout of which the node is looked at, where the namespace has several')
    .addHelpText(
      'after',
      `
Examples:
  tranche explain node-7            why the pod on node-7 is not replaced
  tranche explain node-7 --rollout node-agent
  tranche explain rollout/node-agent`,
    )
    .action(async (subject: string | undefined, values: Values) => {
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml']),
        subject,
        rollout: textOf(values, 'rollout'),
      }
      exit(await (await import('../commands/explain.ts')).explain(options, io))
    })
}

function addHistory(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('history')
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; may be left out where the namespace has only one')
    .description('Show the revisions of a Rollout, how each release ended, and who asked for what.')
  withOutputOptions(withAccessOptions(command), 'json or yaml')
    .addHelpText('after', '\nExamples:\n  tranche history node-agent\n  tranche history node-agent -o json')
    .action(async (name: string | undefined, values: Values) => {
      const options = { access: toAccessOptions(values, io.env), output: toOutputOptions(values, ['json', 'yaml']), name }
      exit(await (await import('../commands/history.ts')).history(options, io))
    })
}

function addDiff(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('diff')
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; may be left out where the namespace has only one')
    .argument('[from]', 'older revision: its number or hash; else the one before the newest')
    .argument('[to]', 'newer revision; else the newest')
    .description('Show what differs between the templates of two revisions.')
  withOutputOptions(withAccessOptions(command), 'json or yaml')
    .addHelpText(
      'after',
      '\nExamples:\n  tranche diff node-agent         what the newest revision has changed\n  tranche diff node-agent 3 5',
    )
    .action(async (name: string | undefined, from: string | undefined, to: string | undefined, values: Values) => {
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml']),
        name,
        revisions: [from, to].filter((one) => one !== undefined),
      }
      exit(await (await import('../commands/diff.ts')).diff(options, io))
    })
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`
}
