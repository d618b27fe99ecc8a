import { type Command, Option } from 'commander'
import { collect } from './collect.ts'

const ACCESS_HEADING = 'Whom it asks, and where it looks:'

/**
 * The options that say whom a command asks, and where it looks, named as kubectl names them.
 *
 * @param choice `choosing`: the command chooses among Rollouts, by labels and of all namespaces too
 */
export function withAccessOptions(command: Command, { choosing = false }: { readonly choosing?: boolean } = {}): Command {
  command
    .optionsGroup(ACCESS_HEADING)
    .option('--kubeconfig <path>', 'kubeconfig of the cluster; else KUBECONFIG, ~/.kube/config, or the account of the pod')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--cluster <name>', 'cluster of the kubeconfig; else that of the context')
    .option('--user <name>', 'user of the kubeconfig; else that of the context')
    .option('-n, --namespace <name>', 'namespace; else that of the context')
    .option('--as <user>', 'act for this user, or for this account as system:serviceaccount:NAMESPACE:NAME')
    .option('--as-group <group>', 'with --as: and as of this group; may be given again', collect)
    .option('--as-uid <uid>', 'with --as: and with this uid')
    .option('--certificate-authority <path>', 'certificates that may sign that of the API server, as PEM')
    .option('--insecure-skip-tls-verify', 'take any certificate of the API server: whoever stands in between reads your token')
    .option('--server <url>', 'ask the REST API of Tranche there, not an API server as with kubectl; else TRANCHE_SERVER')
    .addOption(new Option('--token <token>', 'refused: every user of the machine reads it in the list of processes').hideHelp())
    .option('--token-file <path>', 'with --server: file of your token, read for each request; else the token in TRANCHE_TOKEN')
    .option('--allow-http', 'with --server: send the token over plain HTTP to another machine, too; else TRANCHE_ALLOW_HTTP=true')
    .option('-v, --v <level>', 'from 6 on: say each request to the API server, and its answer, on standard error')
    .option('--request-timeout <time>', 'for each request, such as 10s; 0 waits for an hour', '15s')
  if (choosing)
    command
      .option('-A, --all-namespaces', 'look in all namespaces')
      .option('-l, --selector <labels>', 'only Rollouts with these labels, such as team=storage,tier!=edge; not with --server')
  return command.optionsGroup('Options:')
}

/** Sorts the options of commands so that those that all of them have stand last in the help. */
export function accessOptionsLast(commands: readonly Command[]): void {
  const rank = ({ helpGroupHeading }: Command['options'][number]): number => (helpGroupHeading === ACCESS_HEADING ? 1 : 0)
  for (const { options } of commands) (options as Command['options'][number][]).sort((a, b) => rank(a) - rank(b))
}

/** @param formats as the help names them */
export function withOutputOptions(command: Command, formats: string): Command {
  return command.option('-o, --output <format>', formats).option('--no-color', 'no colours; NO_COLOR is honoured as well')
}
