import { Command } from 'commander'
import type { CommandIo } from './command-io.ts'
import { toLintOptions, toProcessOptions, toSimulationOptions } from './command-options.ts'
import { collect } from './program/collect.ts'
import { addPlanCommand } from './program/plan-command.ts'
import { addReleaseCommands } from './program/release-commands.ts'
import { accessOptionsLast } from './program/shared-options.ts'
import { addToolCommands } from './program/tool-commands.ts'
import { addActionCommands } from './program/action-commands.ts'
import { versionText } from './version.ts'

/**
 * The command line as a parser. What a command needs is loaded when it runs, so that `--help` is quick.
 *
 * @param exit takes the exit code of a command that ran; errors are thrown
 */
export function createProgram(io: CommandIo, exit: (code: number) => void): Command {
  const program = new Command('tranche')
    .description('Rolls new versions of Kubernetes DaemonSets out in batches.')
    .version(versionText(), '--version', 'print the version')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', '\nOptions of kubectl, such as -n and --context, may stand before the command\nas well: tranche -n demo get.')
    .showHelpAfterError('Try tranche --help.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(text),
      // What is shown after an error ends its line.
      outputError: (text, write) => write(`OPTION_INVALID: ${inOneLine(text)} `),
    })

  addReleaseCommands(program, io, exit)
  addActionCommands(program, io, exit)
  addToolCommands(program, io, exit)
  addPlanCommand(program, io, exit)
  addSimulationCommands(program, io, exit)
  addProcessCommands(program, io, exit)
  addLintCommand(program, io, exit)
  program
    .command('failpoints')
    .description('List where TRANCHE_FAILPOINT can end or hold up a process, and which commands pass there.')
    .action(async () => void io.out.write((await import('./failpoints.ts')).failpointsText()))
  program
    .command('version')
    .description('Print the version of tranche and of the Node.js it runs on.')
    .action(() => void io.out.write(`${versionText()}\n`))
  accessOptionsLast(program.commands)
  for (const command of program.commands) command.showHelpAfterError(`Try tranche ${command.name()} --help.`)
  return program
}

/** The parser puts what might have been meant on a line of its own, in brackets. */
function inOneLine(text: string): string {
  const [wrong = '', ...meant] = text
    .trim()
    .replace(/^error: /, '')
    .split('\n')
  return [`${wrong.replace(/\.$/, '')}.`, ...meant.map((line) => line.replace(/^\((.*)\)$/, '$1'))].join(' ')
}

function addSimulationCommands(program: Command, io: CommandIo, exit: (code: number) => void): void {
  const dev = program
    .command('dev')
    .description('Run a simulated cluster with controller and executor in one process, and watch a release.')
  withAllowHost(withSimulationOptions(dev))
    .option('--virtual', 'let time jump to the next event: a long release takes seconds; needs --demo')
    .option('--admission <mode>', 'who sees updates of DaemonSets before they are stored: in-process or none', 'in-process')
    .option('--api-port <p>', 'port of the REST API on 127.0.0.1; 0 takes a free one', '0')
    .option('--demo', 'perform a whole release of the demonstration DaemonSet demo/node-agent')
    .option('-o, --output <format>', 'with --demo: print the result as one JSON object (json)')
    .option('--log <file>', 'write the log of simulator, controller and executor there, as JSON lines')
    .action(async (values: Record<string, unknown>) => {
      const options = toSimulationOptions('dev', values)
      exit(await (await import('./commands/simulate.ts')).simulate(options, io))
    })

  const sim = program.command('sim').description('Run a simulated cluster alone, for controllers and executors that run elsewhere.')
  withSimulationOptions(sim)
    .option('--demo', 'perform a whole release of the DaemonSet demo/node-agent; needs a controller and an executor that run elsewhere')
    .option('-o, --output <format>', 'with --demo: print the result as one JSON object (json)')
    .option('--log <file>', 'write the log of the simulator there, as JSON lines')
    .action(async (values: Record<string, unknown>) => {
      const options = toSimulationOptions('sim', values)
      exit(await (await import('./commands/simulate.ts')).simulate(options, io))
    })
}

function addLintCommand(program: Command, io: CommandIo, exit: (code: number) => void): void {
  program
    .command('lint')
    .description('Check manifests of Rollouts, their policies, BatchReleases and DaemonSets, without a cluster.')
    .option(
      '-f, --filename <path>',
      'file of YAML or JSON documents, folder of such files, or - for standard input; may be given again',
      collect,
    )
    .option('-R, --recursive', 'look into the folders in a folder too')
    .option('--allow-host <host>', 'host that the controller is started with: policies are held against these; may be given again', collect)
    .option('-o, --output <format>', 'print the findings as one JSON list (json)')
    .option('--no-color', 'no colours; NO_COLOR is honoured as well')
    .addHelpText(
      'after',
      `
All files are checked together: a Rollout finds its DaemonSet in another file.
Ends with 0 when there are no problems, with 1 when there are. Advice does not
count.

Examples:
  tranche lint -f rollout.yaml -f daemonset.yaml
  tranche lint -R -f manifests/
  helm template ./chart | tranche lint -f -
  kubectl kustomize overlays/production | tranche lint -f - -o json
  tranche lint -f policy.yaml --allow-host prometheus.monitoring`,
    )
    .action(async (values: Record<string, unknown>) => {
      const options = toLintOptions(values)
      exit(await (await import('./commands/lint.ts')).lint(options, io))
    })
}

function withAllowHost(command: Command): Command {
  const hint =
    'host that policies may have asked for metrics or told of releases: NAME, *.DOMAIN or address, with :PORT; may be given again'
  return command.option('--allow-host <host>', hint, collect)
}

function withSimulationOptions(command: Command): Command {
  noteBoth(command)
  return command
    .option('--nodes <n>', 'nodes of the cluster', '30')
    .option('--speed <f>', 'how many times faster pods start and stop', '1')
    .option('--seed <s>', 'decides everything that looks like chance', '1')
    .option('--port <p>', 'port of the API server on 127.0.0.1; 0 takes a free one', '0')
    .option('--kubeconfig <path>', 'write the kubeconfig there instead of into a new temporary folder')
    .option(
      '--ready-file <path>',
      'write {kubeconfig, apiServer, caFile, token, faults} as JSON once the API answers; dev adds {api, apiToken}',
    )
    .option('--record <file>', 'write every accepted write, one JSON object a line')
    .option('--watch-delay-ms <range>', 'delay of each watch, as MAX or MIN-MAX', '0-20')
    .option('--faults <file>', 'faults to begin with, as YAML or JSON')
    .option('--faults-port <p>', 'port on 127.0.0.1 that takes faults over HTTP; 0 takes a free one', '0')
    .option('--no-demo', 'begin with an empty cluster, without the DaemonSet demo/node-agent and its Rollout')
    .option('--exit', 'with --demo: end when the release is over, with 0 when it succeeded')
    .option('--no-color', 'no colours; NO_COLOR is honoured as well')
}

/** The parser keeps only the last of `--demo` and `--no-demo`. */
function noteBoth(command: Command): void {
  command.on('option:demo', () => command.setOptionValue('demoAsked', true))
  command.on('option:no-demo', () => command.setOptionValue('demoRefused', true))
}

function addProcessCommands(program: Command, io: CommandIo, exit: (code: number) => void): void {
  const commands = [
    ['all-in-one', 'Run controller and executor in one process against a cluster.'],
    ['controller', 'Run the controller against a cluster.'],
    ['executor', 'Run an executor against a cluster.'],
    ['api', 'Serve the REST API of a cluster.'],
  ] as const
  for (const [name, description] of commands) {
    const command = program
      .command(name)
      .description(description)
      .option('--kubeconfig <path>', 'kubeconfig of the cluster; else KUBECONFIG, ~/.kube/config, or the account of the pod')
      .option('--context <name>', 'context of the kubeconfig')
      .option('--identity <name>', 'begin of the name of this process in leases and records; else the host name')
      .option('--log-level <level>', 'debug, info, warn or error', 'info')
    if (name === 'controller' || name === 'all-in-one')
      command.option(
        '--admission <mode>',
        'how updates of DaemonSets are seen before they are stored: policy (by the API server, as the chart installs it), webhook (by this process) or none',
        'none',
      )
    if (name === 'controller' || name === 'all-in-one') addWebhookOptions(command)
    if (name === 'controller' || name === 'all-in-one')
      withAllowHost(command)
        .option('--no-leader-election', 'do not take the Lease; only where no other controller runs')
        .option('--lease-namespace <name>', 'namespace of the Lease; kube-system if left out')
    command.option('--watch-namespace <name>', 'work on this namespace alone; may be given again; all if left out', collect)
    if (name !== 'api') addHealthOptions(command)
    if (name === 'executor' || name === 'all-in-one') command.option('--workers <n>', 'DaemonSets worked on at a time', '4')
    if (name === 'executor') command.option('--queue <kind>', 'where jobs come from: in-process, unless --redis is given')
    if (name === 'controller' || name === 'executor') addRedisOptions(command)
    if (name === 'api' || name === 'all-in-one') addApiOptions(command, name)
    command.action(async (values: Record<string, unknown>) => {
      const options = toProcessOptions(name, values)
      exit(await (await import('./commands/serve.ts')).serve(options, io))
    })
  }
}

function addApiOptions(command: Command, name: 'api' | 'all-in-one'): void {
  const port =
    name === 'api' ? 'port of the REST API; 0 takes a free one; 8080 if left out' : 'serve the REST API there, too; 0 takes a free one'
  command
    .option('--api-port <p>', port)
    .option('--host <address>', 'address that the REST API listens on; 0.0.0.0 for all', '127.0.0.1')
    .option('--tls-cert-file <path>', 'certificate with its chain, as PEM; read again when it changes; plain HTTP if left out')
    .option('--tls-key-file <path>', 'its key, as PEM')
    .option('--audience <name>', 'for which tokens must be meant, instead of the API server; may be given again', collect)
    .option('--cors-origin <origin>', 'origin of pages that may read answers; may be given again', collect)
    .option('--trust-proxy <address>', 'proxy, or range, whose X-Forwarded-For is believed; may be given again', collect)
    .option('--hooks', 'let pipelines in by Secrets with the label tranche.dev/hook; needs the right to read Secrets')
    .option('--oidc-issuer <url>', 'let people log in with a browser, by this OpenID provider')
    .option('--oidc-client-id <id>', 'as what the provider knows the API')
    .option('--oidc-client-secret-file <path>', 'what the API proves that with; without it: a public client')
    .option('--oidc-username-claim <name>', 'claim that is the user', 'sub')
    .option('--oidc-username-prefix <text>', 'stands before each user; - for none; ISSUER# if left out, and none for email')
    .option('--oidc-groups-claim <name>', 'claim that is the groups; without it nobody has any')
    .option('--oidc-groups-prefix <text>', 'stands before each group')
    .option('--external-url <origin>', 'where browsers reach the API, as https://tranche.example.com')
    .option('--session-key-file <path>', 'keys that seal sessions, one a line: the first seals, all of them open')
    .option('--requests-per-second <n>', 'requests that are taken from one sender', '200')
}

function addWebhookOptions(command: Command): void {
  command
    .option('--webhook-port <p>', 'with --admission webhook: port of the webhooks; 0 takes a free one; 9443 if left out')
    .option('--webhook-host <address>', 'address for that; 0.0.0.0 for all; 127.0.0.1 if left out')
    .option('--webhook-secret <namespace/name>', 'Secret in which their certificate is kept; made and renewed by the leader')
    .option('--webhook-service <namespace/name>', 'Service by which the API server reaches them; the certificate is for it')
    .option('--webhook-configuration <name>', 'webhook configurations that are to trust it; tranche if left out')
    .option('--webhook-cert-file <path>', 'certificate that somebody else makes, as PEM; read again when it changes')
    .option('--webhook-key-file <path>', 'its key, as PEM')
}

function addHealthOptions(command: Command): void {
  command
    .option('--health-port <p>', 'answer /healthz and /readyz there; 0 takes a free one; nowhere if left out')
    .option('--health-host <address>', 'address for that; 0.0.0.0 for all', '127.0.0.1')
    .option('--metrics-port <p>', 'answer /metrics there; 0 takes a free one; nowhere if left out')
    .option('--metrics-host <address>', 'address for that; 0.0.0.0 for all', '127.0.0.1')
}

function addRedisOptions(command: Command): void {
  command
    .option(
      '--redis <url>',
      'share work over Redis: redis://HOST, rediss://HOST or redis+sentinel://HOST,HOST/NAME; else TRANCHE_REDIS_URL',
    )
    .option('--redis-password-file <path>', 'file with the password of Redis; else TRANCHE_REDIS_PASSWORD')
    .option('--redis-ca <path>', 'certificates to trust with rediss://, as PEM')
    .option('--redis-prefix <name>', 'begin of all keys in Redis, for installations that share one; tranche if left out')
}
