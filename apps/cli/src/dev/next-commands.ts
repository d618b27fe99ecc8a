import { DEMO_CONTAINER, demoImage, demoKey } from './demo-objects.ts'

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
  const approval = JSON.stringify({ status: { canaryStatus: { currentStepState: 'StepReady' } } })
  const commands = demo
    ? [
        `kubectl -n ${namespace} get rollouts,daemonsets,pods`,
        `kubectl -n ${namespace} set image daemonset/${name} ${DEMO_CONTAINER}=${demoImage(version)}`,
        `kubectl -n ${namespace} patch rollout ${name} --subresource=status --type=merge -p '${approval}'   # approves a paused step`,
        `kubectl -n ${namespace} set image daemonset/${name} ${DEMO_CONTAINER}=${demoImage(`${version}-bad-pull`)}   # a version that cannot be pulled`,
      ]
    : ['kubectl get nodes', 'kubectl apply -f examples/']
  return [
    'In another terminal:',
    '',
    `  export KUBECONFIG=${quoted(kubeconfig)}`,
    ...commands.map((command) => `  ${command}`),
    '',
    'Ctrl-C ends the cluster.',
  ].join('\n')
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
