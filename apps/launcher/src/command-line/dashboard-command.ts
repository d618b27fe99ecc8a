import { type CommandIo, type Exit, withAccessOptions } from '@tranche/cli'
import type { Command } from 'commander'
import { toDashboardOptions } from '../options/dashboard-options.ts'

/** Adds `dashboard`, which serves the web page for the user of the kubeconfig. */
export function addDashboardCommand(program: Command, io: CommandIo, exit: Exit): void {
  const command = program
    .command('dashboard')
    .description('Open the dashboard in a browser, served from this machine with your own rights on the cluster.')
  withAccessOptions(command)
    .option('--port <p>', 'port of the dashboard on 127.0.0.1; 0 picks a free port', '0')
    .option('--no-open', 'only print the link, and open no browser')
    .addHelpText(
      'after',
      `
Shows all namespaces, unless -n names one. With --server it opens the dashboard
of that server.

Examples:
  tranche dashboard           the cluster of the current context
  tranche dashboard -n demo   if you may not list all namespaces
  tranche dashboard --context production --no-open
  tranche dashboard --server https://tranche.example.com`,
    )
    .action(async (values: Record<string, unknown>) => {
      const options = toDashboardOptions(values, io.env)
      exit(await (await import('../dashboard/open-dashboard.ts')).openDashboard(options, io))
    })
}
