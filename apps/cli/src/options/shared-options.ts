import { type Command, Option } from 'commander'
import { collect } from './collect.ts'

const ACCESS_HEADING = 'Cluster and access options:'

/**
 * Adds the options for cluster, credentials and namespace, with the names that kubectl uses.
 *
 * @param choice `choosing`: the command selects Rollouts, also by label and across namespaces
 */
export function withAccessOptions(command: Command, { choosing = false }: { readonly choosing?: boolean } = {}): Command {
  command
    .optionsGroup(ACCESS_HEADING)
    .option('--kubeconfig <path>', 'path to the kubeconfig; defaults to KUBECONFIG, ~/.kube/config, or the service account of the pod')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--cluster <name>', 'cluster of the kubeconfig; defaults to that of the context')
    .option('--user <name>', 'user of the kubeconfig; defaults to that of the context')
    .option('-n, --namespace <name>', 'namespace; defaults to that of the context')
    .option('--as <user>', 'user to impersonate, or service account as system:serviceaccount:NAMESPACE:NAME')
    .option('--as-group <group>', 'with --as: group to impersonate; repeatable', collect)
    .option('--as-uid <uid>', 'with --as: uid to impersonate')
    .option('--certificate-authority <path>', 'PEM file of certificate authorities for the API server')
    .option('--insecure-skip-tls-verify', 'accept any certificate of the API server; insecure: a man in the middle can read your token')
    .option('--server <url>', 'use the Tranche REST API at this URL, not an API server as kubectl does; defaults to TRANCHE_SERVER')
    .addOption(new Option('--token <token>', 'refused: every user of the machine can read it in the process list').hideHelp())
    .option('--token-file <path>', 'with --server: file with your token, read for each request; defaults to the token in TRANCHE_TOKEN')
    .option('--allow-http', 'with --server: allow plain HTTP to another machine; so does TRANCHE_ALLOW_HTTP=true')
    .option(
      '-v, --v <level>',
      'verbosity; from 6, print a line for each request to the API server to standard error: method, address, status and time',
    )
    .option('--request-timeout <time>', 'timeout of each request, such as 10s; 0 means one hour', '15s')
  if (choosing)
    command
      .option('-A, --all-namespaces', 'include all namespaces')
      .option('-l, --selector <labels>', 'only Rollouts with these labels, such as team=storage,tier!=edge; not with --server')
  return command.optionsGroup('Options:')
}

/** Sorts the options of commands, so that the help lists the shared access options last. */
export function accessOptionsLast(commands: readonly Command[]): void {
  const rank = ({ helpGroupHeading }: Command['options'][number]): number => (helpGroupHeading === ACCESS_HEADING ? 1 : 0)
  for (const { options } of commands) (options as Command['options'][number][]).sort((a, b) => rank(a) - rank(b))
}

/** @param formats list of formats for the help */
export function withOutputOptions(command: Command, formats: string): Command {
  return command.option('-o, --output <format>', formats).option('--no-color', 'disable colours; so does NO_COLOR')
}
