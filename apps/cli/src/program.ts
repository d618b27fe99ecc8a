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
 * The command line as a parser. Commands load their modules when they run, so that `--help` is quick.
 *
 * @param exit receives the exit code of a command that ran; errors are thrown
 */
export function createProgram(io: CommandIo, exit: (code: number) => void): Command {
  const program = new Command('tranche')
    .description('Roll out new versions of Kubernetes DaemonSets in batches.')
    .version(versionText(), '--version', 'print the version')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', '\nOptions of kubectl, such as -n and --context, also work before the command:\ntranche -n demo get.')
    .showHelpAfterError('Try tranche --help.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(text),
      // The help hint that follows an error ends the line.
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
    .description('List the failpoints that TRANCHE_FAILPOINT can arm, and the commands that reach each.')
    .action(async () => void io.out.write((await import('./failpoints.ts')).failpointsText()))
  program
    .command('version')
    .description('Print the version of tranche and of its Node.js.')
    .action(() => void io.out.write(`${versionText()}\n`))
  accessOptionsLast(program.commands)
  for (const command of program.commands) command.showHelpAfterError(`Try tranche ${command.name()} --help.`)
  return program
}

/** Joins the message and the parser's suggestion, which the parser prints in brackets on a second line. */
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
    .description('Run a simulated cluster with a controller and an executor in one process, and watch a release.')
  withAllowHost(withSimulationOptions(dev))
    .option('--virtual', 'use virtual time, which jumps to the next event: a long release takes seconds; requires --demo')
    .option('--admission <mode>', 'admission of DaemonSet updates: in-process or none', 'in-process')
    .option('--api-port <p>', 'port of the REST API on 127.0.0.1; 0 picks a free port', '0')
    .option('--demo', 'run a complete release of the demo DaemonSet demo/node-agent')
    .option('-o, --output <format>', 'with --demo: print the result as one JSON object (json)')
    .option('--log <file>', 'write the logs of the simulator, the controller and the executor to this file, as JSON lines')
    .action(async (values: Record<string, unknown>) => {
      const options = toSimulationOptions('dev', values)
      exit(await (await import('./commands/simulate.ts')).simulate(options, io))
    })

  const sim = program.command('sim').description('Run only a simulated cluster, for controllers and executors that run elsewhere.')
  withSimulationOptions(sim)
    .option('--demo', 'run a complete release of the DaemonSet demo/node-agent; requires a controller and an executor that run elsewhere')
    .option('-o, --output <format>', 'with --demo: print the result as one JSON object (json)')
    .option('--log <file>', 'write the log of the simulator to this file, as JSON lines')
    .action(async (values: Record<string, unknown>) => {
      const options = toSimulationOptions('sim', values)
      exit(await (await import('./commands/simulate.ts')).simulate(options, io))
    })
}

function addLintCommand(program: Command, io: CommandIo, exit: (code: number) => void): void {
  program
    .command('lint')
    .description('Check manifests of Rollouts, ReleasePolicies, BatchReleases and DaemonSets without a cluster.')
    .option('-f, --filename <path>', 'file of YAML or JSON documents, folder of such files, or - for standard input; repeatable', collect)
    .option('-R, --recursive', 'include subfolders')
    .option(
      '--allow-host <host>',
      'host that the controller is started with; policies are checked against these hosts; repeatable',
      collect,
    )
    .option('-o, --output <format>', 'print the findings as one JSON array (json)')
    .option('--no-color', 'disable colours; so does NO_COLOR')
    .addHelpText(
      'after',
      `
All files are checked together, so a Rollout and its DaemonSet may be in
different files. Exits with 0 when there are no problems, with 1 when there are.
Advice does not change the exit code.

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
  const hint = 'host that policies may query for metrics or notify: NAME, *.DOMAIN or address, optionally with :PORT; repeatable'
  return command.option('--allow-host <host>', hint, collect)
}

function withSimulationOptions(command: Command): Command {
  noteBoth(command)
  return command
    .option('--nodes <n>', 'number of nodes', '30')
    .option('--speed <f>', 'factor by which pods start and stop faster', '1')
    .option('--seed <s>', 'seed of all random choices', '1')
    .option('--port <p>', 'port of the API server on 127.0.0.1; 0 picks a free port', '0')
    .option('--kubeconfig <path>', 'write the kubeconfig to this file; defaults to a new temporary folder')
    .option(
      '--ready-file <path>',
      'write {kubeconfig, apiServer, caFile, token, faults} as JSON once the API server is ready; dev adds {api, apiToken}',
    )
    .option('--record <file>', 'record every accepted write to this file, as JSON lines')
    .option('--watch-delay-ms <range>', 'delay of watch events in milliseconds, as MAX or MIN-MAX', '0-20')
    .option('--faults <file>', 'file of faults to inject from the start, as YAML or JSON')
    .option('--faults-port <p>', 'port on 127.0.0.1 for fault injection over HTTP; 0 picks a free port', '0')
    .option('--no-demo', 'start with an empty cluster, without the DaemonSet demo/node-agent and its Rollout')
    .option('--exit', 'with --demo: exit when the release is over, with 0 when it succeeded')
    .option('--no-color', 'disable colours; so does NO_COLOR')
}

/** The parser keeps only the last of `--demo` and `--no-demo`. */
function noteBoth(command: Command): void {
  command.on('option:demo', () => command.setOptionValue('demoAsked', true))
  command.on('option:no-demo', () => command.setOptionValue('demoRefused', true))
}

function addProcessCommands(program: Command, io: CommandIo, exit: (code: number) => void): void {
  const commands = [
    ['all-in-one', 'Run the controller and an executor in one process against a cluster.'],
    ['controller', 'Run the controller against a cluster.'],
    ['executor', 'Run an executor against a cluster.'],
    ['api', 'Serve the REST API of a cluster.'],
  ] as const
  for (const [name, description] of commands) {
    const command = program
      .command(name)
      .description(description)
      .option('--kubeconfig <path>', 'path to the kubeconfig; defaults to KUBECONFIG, ~/.kube/config, or the service account of the pod')
      .option('--context <name>', 'context of the kubeconfig')
      .option('--identity <name>', 'identity prefix in leases and records; defaults to the host name')
      .option('--log-level <level>', 'minimum level of log lines: debug, info, warn or error', 'info')
    if (name === 'controller' || name === 'all-in-one')
      command.option(
        '--admission <mode>',
        'how DaemonSet updates are admitted: policy (by the API server, as the chart installs it), webhook (by this process) or none',
        'none',
      )
    if (name === 'controller' || name === 'all-in-one') addWebhookOptions(command)
    if (name === 'controller' || name === 'all-in-one')
      withAllowHost(command)
        .option('--no-leader-election', 'run without the Lease; only where no other controller runs')
        .option('--lease-namespace <name>', 'namespace of the Lease; defaults to kube-system')
    command.option('--watch-namespace <name>', 'namespace to watch; repeatable; defaults to all', collect)
    if (name !== 'api') addHealthOptions(command)
    if (name === 'executor' || name === 'all-in-one') command.option('--workers <n>', 'number of DaemonSets processed concurrently', '4')
    if (name === 'executor') command.option('--queue <kind>', 'source of jobs: in-process, unless --redis is given')
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
    name === 'api'
      ? 'port of the REST API; 0 picks a free port; defaults to 8080'
      : 'also serve the REST API on this port; 0 picks a free port'
  command
    .option('--api-port <p>', port)
    .option('--host <address>', 'listen address of the REST API; 0.0.0.0 for all', '127.0.0.1')
    .option('--tls-cert-file <path>', 'PEM certificate with its chain; reloaded on change; defaults to plain HTTP')
    .option('--tls-key-file <path>', 'PEM key of that certificate')
    .option('--audience <name>', 'audience that tokens must have; repeatable; defaults to that of the API server', collect)
    .option('--cors-origin <origin>', 'origin of pages that may read responses; repeatable', collect)
    .option('--trust-proxy <address>', 'address or range of a proxy whose X-Forwarded-For is trusted; repeatable', collect)
    .option('--hooks', 'accept signed webhooks of pipelines, by Secrets labelled tranche.dev/hook; requires permission to read Secrets')
    .option('--oidc-issuer <url>', 'enable browser login by this OpenID Connect provider')
    .option('--oidc-client-id <id>', 'client id of the API at the provider')
    .option('--oidc-client-secret-file <path>', 'file with the client secret; without it the API is a public client')
    .option('--oidc-username-claim <name>', 'claim that holds the user name', 'sub')
    .option('--oidc-username-prefix <text>', 'prefix of user names; - for none; defaults to ISSUER#, and to none for the claim email')
    .option('--oidc-groups-claim <name>', 'claim that holds the groups; without it users have no groups')
    .option('--oidc-groups-prefix <text>', 'prefix of group names')
    .option('--external-url <origin>', 'origin by which browsers reach the API, such as https://tranche.example.com')
    .option('--session-key-file <path>', 'file of session keys, one a line: the first encrypts, all of them decrypt')
    .option('--requests-per-second <n>', 'maximum requests per second of one client', '200')
}

function addWebhookOptions(command: Command): void {
  command
    .option('--webhook-port <p>', 'with --admission webhook: port of the webhooks; 0 picks a free port; defaults to 9443')
    .option('--webhook-host <address>', 'listen address of the webhooks; 0.0.0.0 for all; defaults to 127.0.0.1')
    .option('--webhook-secret <namespace/name>', 'Secret for the certificate of the webhooks; the leader creates and renews it')
    .option('--webhook-service <namespace/name>', 'Service by which the API server reaches the webhooks; the certificate is issued for it')
    .option('--webhook-configuration <name>', 'name of the webhook configurations that trust the certificate; defaults to tranche')
    .option('--webhook-cert-file <path>', 'PEM certificate issued elsewhere; reloaded on change')
    .option('--webhook-key-file <path>', 'PEM key of that certificate')
}

function addHealthOptions(command: Command): void {
  command
    .option('--health-port <p>', 'serve /healthz and /readyz on this port; 0 picks a free port; off by default')
    .option('--health-host <address>', 'listen address of the health probes; 0.0.0.0 for all', '127.0.0.1')
    .option('--metrics-port <p>', 'serve /metrics on this port; 0 picks a free port; off by default')
    .option('--metrics-host <address>', 'listen address of the metrics; 0.0.0.0 for all', '127.0.0.1')
}

function addRedisOptions(command: Command): void {
  command
    .option(
      '--redis <url>',
      'share work over Redis: redis://HOST, rediss://HOST or redis+sentinel://HOST,HOST/NAME; defaults to TRANCHE_REDIS_URL',
    )
    .option('--redis-password-file <path>', 'file with the password of Redis; defaults to TRANCHE_REDIS_PASSWORD')
    .option('--redis-ca <path>', 'PEM certificates to trust with rediss://')
    .option('--redis-prefix <name>', 'prefix of all keys in Redis, for installations that share one; defaults to tranche')
}
