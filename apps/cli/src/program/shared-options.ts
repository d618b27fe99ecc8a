import type { Command } from 'commander'

/** The options that say whom a command asks, and where it looks, named as kubectl names them. */
export function withAccessOptions(command: Command, { allNamespaces = false }: { readonly allNamespaces?: boolean } = {}): Command {
  command
    .option('--kubeconfig <path>', 'kubeconfig of the cluster; else KUBECONFIG, ~/.kube/config, or the account of the pod')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', 'namespace; else that of the context')
    .option('--server <url>', 'ask the REST API of Tranche there, and not a cluster; else TRANCHE_SERVER')
    .option('--token <token>', 'with --server: who you are; else TRANCHE_TOKEN')
    .option('--token-file <path>', 'with --server: file of the token')
    .option('--request-timeout <time>', 'for each request, such as 10s; 0 waits for an hour', '15s')
  if (allNamespaces) command.option('-A, --all-namespaces', 'all namespaces')
  return command
}

/** @param formats as the help names them */
export function withOutputOptions(command: Command, formats: string): Command {
  return command.option('-o, --output <format>', formats).option('--no-color', 'no colours; NO_COLOR is honoured as well')
}
