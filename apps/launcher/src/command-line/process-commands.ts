import { collect, type CommandIo, type Exit } from '@tranche/cli'
import type { Command } from 'commander'
import { toProcessOptions } from '../options/process-options.ts'
import { withAllowHost } from './allow-host-option.ts'

/** Adds `all-in-one`, `controller`, `executor` and `api`, which run against a cluster. */
export function addProcessCommands(program: Command, io: CommandIo, exit: Exit): void {
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
        .option('--read-config', 'read which ConfigMaps of templates are immutable; requires permission to get ConfigMaps')
        .option('--group-namespace <name>', 'namespace of the Leases of groups; without it, policies may not name a group')
        .option('--shared-group-namespace <name>', 'namespace whose groups are one with those of the others named; repeatable', collect)
        .option('--pin-config', 'let policies pin config; requires the policy for pods, and permission to write ConfigMaps')
        .option(
          '--pin-secret-namespace <name>',
          'namespace whose Secrets policies pin too; * for all; repeatable; defaults to none',
          collect,
        )
        .option('--pod-policy <name>', 'name of the policy for pods, and of its binding; defaults to tranche-pods')
    if (name === 'api') command.option('--lease-namespace <name>', 'namespace of the Lease of controllers; defaults to kube-system')
    command.option('--watch-namespace <name>', 'namespace to watch; repeatable; defaults to all', collect)
    if (name !== 'api') addHealthOptions(command)
    if (name === 'executor' || name === 'all-in-one') addExecutorOptions(command)
    if (name === 'controller') addExecutorFacts(command)
    if (name !== 'api') command.option('--room', roomHelp(name)).option('--pre-pull', prePullHelp(name))
    if (name === 'executor') command.option('--queue <kind>', 'source of jobs: in-process, unless --redis is given')
    if (name === 'controller' || name === 'executor') addRedisOptions(command)
    if (name === 'api' || name === 'all-in-one') addApiOptions(command, name)
    command.action(async (values: Record<string, unknown>) => {
      const options = toProcessOptions(name, values)
      exit(await (await import('../processes/serve.ts')).serve(options, io))
    })
  }
}

function roomHelp(name: 'controller' | 'executor' | 'all-in-one'): string {
  if (name === 'controller') return 'executors have --room; without it, policies with nodes.room: Check are reported as not usable'
  return 'check that nodes have room, for policies with nodes.room: Check; requires permission to list pods of all namespaces'
}

function prePullHelp(name: 'controller' | 'executor' | 'all-in-one'): string {
  if (name === 'controller') return 'executors have --pre-pull; without it, policies with prePull are reported as not usable'
  return 'create helper pods that pull images, for policies with prePull; requires permission to create pods'
}

/** Options of executors that the controller has to know, to report policies that ask for more. */
function addExecutorFacts(command: Command): void {
  command
    .option('--drain-namespace <name>', namespaceHelp('may drain nodes', 'with drain'), collect)
    .option('--lock-namespace <name>', namespaceHelp('may lock nodes', 'that locks nodes'), collect)
    .option(
      '--downtime-namespace <name>',
      'namespace of the Leases that remember downtime; give the same as to executors; without it, a policy that limits downtime is reported as not usable',
    )
}

function namespaceHelp(may: string, ofPolicy: string): string {
  const reported = `elsewhere a policy ${ofPolicy} is reported as not usable`
  return `namespace whose policies ${may}; give the same as to executors; ${reported}; * for all; repeatable; defaults to none`
}

function addExecutorOptions(command: Command): void {
  command
    .option('--workers <n>', 'number of DaemonSets processed concurrently', '4')
    .option('--drain-namespace <name>', 'namespace whose policies may drain nodes; * for all; repeatable; defaults to none', collect)
    .option('--drain-conditions', 'set the condition DrainInProgress on nodes while they are drained; requires --drain-namespace')
    .option('--lock-namespace <name>', 'namespace whose policies may lock nodes; * for all; repeatable; defaults to none', collect)
    .option('--lock-lease-namespace <name>', 'namespace of the Leases of nodes; defaults to medik8s-leases')
    .option('--downtime-namespace <name>', 'namespace of the Leases that remember downtime; without it, policies may not limit it')
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
    .option('--session-key-file <path>', 'file of session keys, one per line: the first encrypts, all of them decrypt')
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
