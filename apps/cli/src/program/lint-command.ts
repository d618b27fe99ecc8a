import type { Command } from 'commander'
import type { CommandIo } from '../process/command-io.ts'
import { toLintOptions } from '../options/lint-options.ts'
import { collect } from '../options/collect.ts'
import type { Exit } from './program-parts.ts'

/** Adds `lint`, which checks manifests. */
export function addLintCommand(program: Command, io: CommandIo, exit: Exit): void {
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
      exit(await (await import('../commands/lint.ts')).lint(options, io))
    })
}
