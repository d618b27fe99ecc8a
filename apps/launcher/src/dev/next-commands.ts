import { BUILD_DASHBOARD } from '../dashboard/find-dashboard.ts'
import { DEMO_CONTAINER, demoImage, demoKey } from './demo-objects.ts'

const MOST_COLUMNS = 80

/** Kubeconfig, link, version and state of the demo. */
export interface NextCommandsOptions {
  /** Link to the dashboard; null if the dashboard is not built, undefined if no REST API serves one. */
  readonly dashboard: string | null | undefined
  readonly kubeconfig: string
  /** Whether the demo objects exist. */
  readonly demo: boolean
  /** Version in the suggested command. */
  readonly version: string
  /** Words that start this program. */
  readonly program: string
}

/** @returns the link to the dashboard, and commands to try in a second terminal */
export function nextCommands({ dashboard, kubeconfig, demo, version, program }: NextCommandsOptions): string {
  const { namespace, name } = demoKey
  const setImage = (image: string): readonly string[] => [
    `kubectl -n ${namespace} set image daemonset/${name}`,
    `${DEMO_CONTAINER}=${image}`,
  ]
  const commands = demo
    ? [
        [`${program} get ${name} -n ${namespace} -w`],
        setImage(demoImage(version)),
        ['# approve a paused step'],
        [`${program} approve ${name} -n ${namespace}`],
        ['# an image that cannot be pulled'],
        setImage(demoImage(`${version}-bad-pull`)),
      ]
    : [['kubectl get nodes'], ['kubectl apply -f examples/']]
  const link = dashboard === undefined ? [] : [dashboardText(dashboard), '']
  const lines = ['In another terminal:', '', `  ${exportCommand(kubeconfig)}`, ...commands.map(continued), '', 'Ctrl-C stops the cluster.']
  return [...link, ...lines].join('\n')
}

/**
 * @param link null if the dashboard is not built
 * @returns the link to the dashboard, or the command that builds it, on a line of its own
 */
export function dashboardText(link: string | null): string {
  if (link === null) return `The dashboard is not built. Build it in the checkout, and start this command again:\n\n  ${BUILD_DASHBOARD}`
  return `Open the dashboard; the link works once, for ten minutes:\n\n  ${link}`
}

/**
 * Formats the commands that start a controller and an executor for a cluster of `tranche sim`.
 *
 * @param program words that start this program
 */
export function programCommands(kubeconfig: string, program: string): string {
  const commands = ['controller', 'executor'].map((name) => continued([`${program} ${name}`, `--kubeconfig ${quoted(kubeconfig)}`]))
  return ['To release something, start a controller and an executor, each in its own terminal:', '', ...commands].join('\n')
}

/** Formats a command so that it can be copied: on one line of up to 80 columns, else with line continuations between its pieces. */
function continued(pieces: readonly string[]): string {
  const whole = `  ${pieces.join(' ')}`
  return whole.length <= MOST_COLUMNS ? whole : `  ${pieces.join(' \\\n    ')}`
}

/** @returns the command that selects the kubeconfig */
export function exportCommand(kubeconfig: string): string {
  return `export KUBECONFIG=${quoted(kubeconfig)}`
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
