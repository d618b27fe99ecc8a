import type { DevStage } from './dev-stage.ts'

/** Settings of an agent. */
export interface AgentOptions {
  readonly namespace?: string
  /** @default two steps: one node, then approval; all nodes */
  readonly steps?: readonly object[]
  /** Annotations of the DaemonSet. */
  readonly annotations?: Readonly<Record<string, string>>
  /** Annotations of the Rollout. */
  readonly rolloutAnnotations?: Readonly<Record<string, string>>
  /** @default not paused */
  readonly disabled?: boolean
}

/** Namespace of agents. */
export const AGENTS = 'agents'

/** @returns an image of an agent: `v1` */
export function agentImage(name: string, version: string): string {
  return `registry.example/${name}:${version}`
}

/** A DaemonSet in version v1, and its Rollout. */
export function agentObjects(name: string, options: AgentOptions = {}): readonly object[] {
  const {
    namespace = AGENTS,
    steps = [{ replicas: 1, pause: {} }, { replicas: '100%' }],
    annotations,
    rolloutAnnotations,
    disabled,
  } = options
  const labels = { app: name }
  const template = {
    metadata: { labels, annotations: { 'sim.tranche.dev/start-ms': '200', 'sim.tranche.dev/stop-ms': '100' } },
    spec: { tolerations: [{ operator: 'Exists' }], containers: [{ name: 'agent', image: agentImage(name, 'v1') }] },
  }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { namespace, name, annotations },
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
        template,
      },
    },
    {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { namespace, name, annotations: rolloutAnnotations },
      spec: {
        workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
        strategy: { canary: { steps } },
        ...(disabled && { disabled }),
      },
    },
  ]
}

/** A DaemonSet whose Rollout was deleted while no controller ran. */
export function leftBehind(name: string, namespace: string): object {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'agent', image: agentImage(name, 'v1') }] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace, name, annotations: { 'tranche.dev/rollout': name } },
    spec: { selector: { matchLabels: labels }, updateStrategy: { type: 'OnDelete' }, template },
  }
}

/** Creates agents, and waits until their Rollouts are ready for a release. */
export function createAgents(stage: DevStage, agents: Readonly<Record<string, AgentOptions>>): void {
  stage.apply(...Object.entries(agents).flatMap(([name, options]) => agentObjects(name, options)))
  for (const [name, { namespace = AGENTS, disabled }] of Object.entries(agents))
    waitFor(stage, `rollout/${name}`, disabled === true ? '{.status.phase}=Disabled' : '{.status.phase}=Healthy', namespace)
}

/** Begins the release of another version. */
export function setVersion(stage: DevStage, name: string, version: string, namespace = AGENTS): void {
  stage.kubectl('-n', namespace, 'set', 'image', `daemonset/${name}`, `agent=${agentImage(name, version)}`)
}

/** Begins a release, and waits until its first step waits for approval. */
export function releaseToPause(stage: DevStage, name: string, version: string, namespace = AGENTS): void {
  setVersion(stage, name, version, namespace)
  waitFor(stage, `rollout/${name}`, '{.status.canaryStatus.currentStepState}=StepPaused', namespace)
}

/** Waits for a value of an object. @param path `{.status.phase}=Healthy` */
export function waitFor(stage: DevStage, object: string, path: string, namespace = AGENTS): void {
  stage.kubectl('-n', namespace, 'wait', object, `--for=jsonpath=${path}`, '--timeout=60s')
}
