import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { chartValuesTables } from './chart-values.ts'
import { MADE, page } from './markdown.ts'

const folder = 'charts/tranche'

/** @returns path and text of the chart's README: how to install it, from Chart.yaml, and its values, from values.yaml */
export function writtenChartReadme(): { readonly path: string; readonly text: string } {
  const chart = parse(readFileSync(`${folder}/Chart.yaml`, 'utf8')) as ChartFile
  const text = page([
    `# ${chart.name}`,
    MADE,
    chart.description,
    `Version ${chart.version} of the chart installs Tranche ${chart.appVersion} on Kubernetes ${chart.kubeVersion.replace('>=', '').replace(/\.0-0$/, '')} or later, with Helm 4, or Helm 3.17 or later.`,
    ...instructions,
    '## Values',
    'Every value, with its default. Unknown values, and values without effect in combination with the others, are rejected, each with its path. [install.md](../../docs/operations/install.md) describes their use.',
    ...chartValuesTables('###'),
  ])
  return { path: `${folder}/README.md`, text }
}

interface ChartFile {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly appVersion: string
  readonly kubeVersion: string
}

const instructions = [
  '## Install',
  'You need the rights of a cluster administrator. No registry publishes the image yet: [build it and push it, or load it into the nodes](../../docs/operations/install.md#the-image).',
  shell('helm install tranche charts/tranche --namespace tranche-system --create-namespace', 'helm test tranche -n tranche-system'),
  'Helm prints the next steps. Nothing in the cluster changes until a Rollout names one of your DaemonSets. Replicas that share the work need a Redis:',
  shell(
    'helm install tranche charts/tranche --namespace tranche-system --create-namespace --set mode=distributed --set redis.url=redis://redis.example:6379',
  ),
  '## Upgrade and uninstall',
  'An upgrade also updates the CustomResourceDefinitions. Uninstalling keeps them, and with them all Rollouts, unless `crds.keep` is false. For releases in progress, and for the way back to an older version, see [upgrade.md](../../docs/operations/upgrade.md).',
  shell('helm upgrade tranche charts/tranche -n tranche-system --reset-then-reuse-values', 'helm uninstall tranche -n tranche-system'),
]

function shell(...commands: readonly string[]): string {
  return ['```sh', ...commands, '```'].join('\n')
}
