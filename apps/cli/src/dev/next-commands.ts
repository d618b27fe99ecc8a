import { DEMO_CONTAINER, demoImage, demoKey } from './demo-objects.ts'

const MOST_COLUMNS = 80

/** What the lines depend on. */
export interface NextCommandsOptions {
  readonly kubeconfig: string
  /** Without the demonstration's objects there is nothing to change yet. */
  readonly demo: boolean
  /** Version to propose. */
  readonly version: string
}

/** @returns what a person can type now, in a second terminal */
export function nextCommands({ kubeconfig, demo, version }: NextCommandsOptions): string {
  const { namespace, name } = demoKey
  const setImage = (image: string): readonly string[] => [
    `kubectl -n ${namespace} set image daemonset/${name}`,
    `${DEMO_CONTAINER}=${image}`,
  ]
  const commands = demo
    ? [
        [`tranche get ${name} -n ${namespace} -w`],
        setImage(demoImage(version)),
        ['# approve a paused step'],
        [`tranche approve ${name} -n ${namespace}`],
        ['# an image that cannot be pulled'],
        setImage(demoImage(`${version}-bad-pull`)),
      ]
    : [['kubectl get nodes'], ['kubectl apply -f examples/']]
  return ['In another terminal:', '', `  ${exportCommand(kubeconfig)}`, ...commands.map(continued), '', 'Ctrl-C stops the cluster.'].join(
    '\n',
  )
}

/** @returns the programs that a cluster on its own is waiting for, as a person can start them */
export function programCommands(kubeconfig: string): string {
  const commands = ['controller', 'executor'].map((name) => continued([`tranche ${name}`, `--kubeconfig ${quoted(kubeconfig)}`]))
  return ['To release something, start a controller and an executor, each in its own terminal:', '', ...commands].join('\n')
}

/** One command in pieces: on one line where that fits into 80 columns, else with a continuation before each piece, so that it can be copied. */
function continued(pieces: readonly string[]): string {
  const whole = `  ${pieces.join(' ')}`
  return whole.length <= MOST_COLUMNS ? whole : `  ${pieces.join(' \\\n    ')}`
}

/** @returns the command that lets kubectl find the cluster */
export function exportCommand(kubeconfig: string): string {
  return `export KUBECONFIG=${quoted(kubeconfig)}`
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
