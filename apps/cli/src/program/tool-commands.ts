import { AppError } from '@tranche/errors'
import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { textOf, toAccessOptions, toOutputOptions, type Values } from '../options/access-options.ts'
import { toLeaseNamespace } from '../options/scope-options.ts'
import { shells } from '../completion/completion-script.ts'
import { parseChoice } from '../option-values.ts'
import type { Exit } from './release-commands.ts'
import { withAccessOptions, withOutputOptions } from './shared-options.ts'

/** The commands that help with the command line and with the cluster. */
export function addToolCommands(program: Command, io: CommandIo, exit: Exit): void {
  addDoctor(program, io, exit)
  addCompletion(program, io, exit)
  addSet(program)
}

/** What a template holds is written by the tools of its owner, as the DaemonSet's: people look for it here all the same. */
function addSet(program: Command): void {
  program
    .command('set', { hidden: true })
    .allowUnknownOption()
    .argument('[words...]')
    .action((words: readonly string[]) => {
      const images = words.filter((word) => /^[^-=][^=]*=.+/.test(word)).join(' ') || 'CONTAINER=IMAGE'
      throw new AppError('OPTION_INVALID', 'tranche sets no image: the template is that of the DaemonSet', {
        hint: `Run kubectl set image daemonset/NAME ${images}, which begins a release; tranche plan ROLLOUT --image ${images.split(' ', 1)[0]} plays it first.`,
      })
    })
}

function addDoctor(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('doctor')
    .description('Check that a cluster has what Tranche needs, and say how to fix what is missing. Changes nothing.')
  withOutputOptions(withAccessOptions(command), 'json or yaml')
    .option('--redis <url>', 'look at the Redis that executors share, too; else TRANCHE_REDIS_URL')
    .option('--redis-password-file <path>', 'file with the password of Redis; else TRANCHE_REDIS_PASSWORD')
    .option('--redis-ca <path>', 'certificates to trust with rediss://, as PEM')
    .option('--redis-prefix <name>', 'begin of all keys in Redis; tranche if left out')
    .option('--lease-namespace <name>', 'where controllers have their Lease; kube-system if left out')
    .addHelpText(
      'after',
      `
Ends with 1 where there is a problem.

Examples:
  tranche doctor
  tranche doctor --context production -o json
  tranche doctor --redis rediss://redis.example:6379`,
    )
    .action(async (values: Values) => {
      const options = {
        access: toAccessOptions(values, io.env),
        output: toOutputOptions(values, ['json', 'yaml']),
        redis: {
          url: textOf(values, 'redis'),
          passwordFile: textOf(values, 'redisPasswordFile'),
          ca: textOf(values, 'redisCa'),
          prefix: textOf(values, 'redisPrefix'),
        },
        leaseNamespace: toLeaseNamespace(values['leaseNamespace']),
      }
      exit(await (await import('../commands/doctor.ts')).doctor(options, io))
    })
}

function addCompletion(program: Command, io: CommandIo, exit: Exit): void {
  program
    .command('completion')
    .argument('<shell>', shells.join(', '))
    .description('Print what makes a shell complete commands, options and the names of Rollouts.')
    .addHelpText(
      'after',
      `
Examples:
  source <(tranche completion bash)     in ~/.bashrc
  source <(tranche completion zsh)      in ~/.zshrc, below compinit
  tranche completion fish > ~/.config/fish/completions/tranche.fish`,
    )
    .action(async (shell: string) => {
      const { completionScript } = await import('../completion/completion-script.ts')
      io.out.write(completionScript(parseChoice('completion', shell, shells)))
    })
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .option('--directive', 'end with a line that tells kubectl what to do where there are no words')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: readonly string[], values: Values) => {
      const { complete } = await import('../commands/complete.ts')
      exit(await complete(program, { words, directive: values['directive'] === true }, io))
    })
}
