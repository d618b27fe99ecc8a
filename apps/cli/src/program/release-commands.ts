import type { Outcome } from '@tranche/api-schema'
import type { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { parseChoice } from '../options/option-values.ts'
import { toAccessOptions, toOutputOptions } from '../options/access-options.ts'
import { textOf, type Values } from '../options/value-of.ts'
import { parseDurationOption } from '../options/duration-option.ts'
import type { Exit } from './program-parts.ts'
import { withAccessOptions, withOutputOptions } from '../options/shared-options.ts'

// Not imported from the schemas: loading them takes longer than running a command that needs none.
const outcomes = ['Done', 'Failed', 'RolledBack', 'Blocked', 'Waiting', 'Running'] as const satisfies readonly Outcome[]

/** Adds the commands that read Rollouts. */
export function addReleaseCommands(program: Command, io: CommandIo, exit: Exit): void {
  addList(program, io, exit)
  addGet(program, io, exit)
  addStatus(program, io, exit)
  addExplain(program, io, exit)
  addHistory(program, io, exit)
  addDiff(program, io, exit)
}

function addList(program: Command, io: CommandIo, exit: Exit): void {
  const command = program.command('list').description('List Rollouts with outcome, progress and what each waits for.')
  withOutputOptions(withAccessOptions(command, { choosing: true }), 'json, yaml, name or wide')
    .option('-w, --watch', 'watch for changes until Ctrl-C')
    .option('--outcome <outcome>', `only Rollouts with this outcome: ${outcomes.join(', ')}`)
    .addHelpText(
      'after',
      `
Examples:
  tranche list                      in the namespace of the context
  tranche list -A                   in all namespaces
  tranche list -w                   live, until Ctrl-C
  tranche list -A --outcome Waiting  that wait for a person
  tranche list -A -l team=storage   with a label
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
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; optional if the namespace has only one')
    .description('Show a Rollout as a tree: revisions, batches, zones and unhealthy nodes.')
  withOutputOptions(withAccessOptions(command, { choosing: true }), 'json, yaml, name or wide (every zone and every unhealthy node)')
    .option('-w, --watch', 'watch for changes until Ctrl-C')
    .addHelpText(
      'after',
      `
Examples:
  tranche get node-agent -n demo    progress, and what it waits for
  tranche get -w                    live, the only Rollout of the namespace
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
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; optional if the namespace has only one')
    .description('Wait until a release is over or waits for a person; the exit code says which.')
  withOutputOptions(withAccessOptions(command), 'json, yaml or name')
    .option('--timeout <time>', 'maximum time to wait, such as 10m; 0 checks once; no limit by default')
    .option('--through-pauses', 'keep waiting while the release waits for a person')
    .addHelpText(
      'after',
      `
Exit codes:
  0  done: every node that can be updated runs the requested version
  1  failed: the version failed or was rolled back, or the Rollout is blocked
  2  timed out: still in progress; with --through-pauses also in a pause
  3  waiting for a person; never with --through-pauses
  4  unknown: no such Rollout, no answer, or a wrong option

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
        timeoutMs: timeout === undefined ? null : parseDurationOption('--timeout', timeout),
        throughPauses: values['throughPauses'] === true,
      }
      exit(await (await import('../commands/status.ts')).status(options, io))
    })
}

function addExplain(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('explain')
    .argument('[subject]', 'NODE, node/NODE, or a Rollout as in get; optional if the namespace has only one')
    .description('Explain why a node is not updated, or what a release waits for: the rule, the facts and what would change it.')
  withOutputOptions(withAccessOptions(command), 'json or yaml')
    .option('--rollout <rollout>', 'Rollout to explain the node for, if the namespace has several')
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
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; optional if the namespace has only one')
    .description('Show the revisions of a Rollout, how each release ended, and who requested which action.')
  withOutputOptions(withAccessOptions(command), 'json, yaml or wide (no text is cut)')
    .addHelpText('after', '\nExamples:\n  tranche history node-agent\n  tranche history node-agent -o wide')
    .action(async (name: string | undefined, values: Values) => {
      const options = { access: toAccessOptions(values, io.env), output: toOutputOptions(values, ['json', 'yaml', 'wide']), name }
      exit(await (await import('../commands/history.ts')).history(options, io))
    })
}

function addDiff(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('diff')
    .argument('[rollout]', 'NAME, rollout/NAME or daemonset/NAME; optional if the namespace has only one')
    .argument('[from]', 'number or hash of the older revision; defaults to the second newest')
    .argument('[to]', 'number or hash of the newer revision; defaults to the newest')
    .description('Show the differences between the templates of two revisions.')
  withOutputOptions(withAccessOptions(command), 'json or yaml')
    .addHelpText(
      'after',
      '\nExamples:\n  tranche diff node-agent         the changes of the newest revision\n  tranche diff node-agent 3 5',
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
