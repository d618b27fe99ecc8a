import { AppError } from '@tranche/errors'
import type { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { toAccessOptions, toOutputOptions } from '../options/access-options.ts'
import { textOf, type Values } from '../options/value-of.ts'
import { toLeaseNamespace } from '../options/namespace-options.ts'
import { shells } from '../completion/completion-script.ts'
import { parseChoice } from '../options/option-values.ts'
import type { Exit, ProgramParts } from './program-parts.ts'
import { withAccessOptions, withOutputOptions } from '../options/shared-options.ts'

/** Adds `doctor`, `completion`, and the hidden `set` and `__complete`. */
export function addToolCommands(program: Command, io: CommandIo, exit: Exit, parts: ProgramParts): void {
  addDoctor(program, io, exit, parts)
  addCompletion(program, io, exit)
  addSet(program)
}

/** Users try `tranche set image`, but the template belongs to the DaemonSet: the error names the kubectl command. */
function addSet(program: Command): void {
  program
    .command('set', { hidden: true })
    .allowUnknownOption()
    .argument('[words...]')
    .action((words: readonly string[]) => {
      const images = words.filter((word) => /^[^-=][^=]*=.+/.test(word)).join(' ') || 'CONTAINER=IMAGE'
      throw new AppError('OPTION_INVALID', 'tranche does not set images: the template belongs to the DaemonSet', {
        hint: `Run kubectl set image daemonset/NAME ${images}, which starts a release; tranche plan ROLLOUT --image ${images.split(' ', 1)[0]} simulates it first.`,
      })
    })
}

function addDoctor(program: Command, io: CommandIo, exit: Exit, { prepareRedisCheck }: ProgramParts): void {
  const command = program.command('doctor').description("Check the cluster's prerequisites and suggest fixes. Changes nothing.")
  withOutputOptions(withAccessOptions(command), 'json or yaml')
    .option('--redis <url>', 'also check the Redis that executors share; defaults to TRANCHE_REDIS_URL')
    .option('--redis-password-file <path>', 'file with the password of Redis; defaults to TRANCHE_REDIS_PASSWORD')
    .option('--redis-ca <path>', 'PEM certificates to trust with rediss://')
    .option('--redis-prefix <name>', 'prefix of all keys in Redis; defaults to tranche')
    .option('--lease-namespace <name>', 'namespace of the Lease of controllers; defaults to kube-system')
    .addHelpText(
      'after',
      `
Exits with 1 if there is a problem.

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
      exit(await (await import('../commands/doctor.ts')).doctor(options, io, prepareRedisCheck))
    })
}

function addCompletion(program: Command, io: CommandIo, exit: Exit): void {
  program
    .command('completion')
    .argument('<shell>', shells.join(', '))
    .description('Print a completion script for commands, options and names of Rollouts.')
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
    .option('--directive', 'end with a line that directs kubectl when there are no candidates')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: readonly string[], values: Values) => {
      const { complete } = await import('../commands/complete.ts')
      exit(await complete(program, { words, directive: values['directive'] === true }, io))
    })
}
