import type { ReleasePolicy, Rollout } from '@tranche/api-schema'
import { type ObjectKey, rolloutAnnotations } from '@tranche/kube-types'

/** Key of the DaemonSet and of its Rollout. */
export const stageKey: ObjectKey = { namespace: 'demo', name: 'node-agent' }
/** Key of the ReleasePolicy of a stage that has one. */
export const policyKey: ObjectKey = { namespace: stageKey.namespace, name: 'careful' }

/** Options of the DaemonSet, its Rollout and its ReleasePolicy. */
export interface ReleaseOptions {
  /** @default 2 */
  readonly maxUnavailable?: number | string
  /** @default 20 % and a pause, then 100 % */
  readonly steps?: NonNullable<Rollout['spec']['strategy']['canary']>['steps']
  /** Annotations of the pod template. */
  readonly annotations?: Readonly<Record<string, string>>
  readonly minReadySeconds?: number
  /** A ReleasePolicy that the Rollout names. @default none */
  readonly policy?: ReleasePolicy['spec']
  /** @default RollingUpdate */
  readonly strategyType?: 'RollingUpdate' | 'OnDelete'
  /** Tolerations of the pod template. @default every taint, like an agent for every node: a NotReady node stays desired */
  readonly tolerations?: readonly object[]
  /** Affinity of the pod template. @default none */
  readonly affinity?: object
  /** CPUs that the container requests. @default none */
  readonly cpu?: string | undefined
  /** ConfigMaps that the container reads as environment variables. @default none */
  readonly configMaps?: readonly string[]
  /** Secrets that the container reads as environment variables. @default none */
  readonly secrets?: readonly string[]
}

/** The DaemonSet, with the image of this tag. */
export function daemonSetManifest(options: ReleaseOptions, tag = 'v1'): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: stageKey,
    spec: {
      selector: { matchLabels: { app: 'node-agent' } },
      minReadySeconds: options.minReadySeconds ?? 0,
      updateStrategy: { type: options.strategyType ?? 'RollingUpdate', rollingUpdate: { maxUnavailable: options.maxUnavailable ?? 2 } },
      template: {
        metadata: { labels: { app: 'node-agent' }, annotations: { 'sim.tranche.dev/jitter-ms': '500', ...options.annotations } },
        spec: {
          tolerations: options.tolerations ?? [{ operator: 'Exists' }],
          ...(options.affinity !== undefined && { affinity: options.affinity }),
          containers: [
            {
              name: 'agent',
              image: imageOf(tag),
              ...(options.cpu !== undefined && { resources: { requests: { cpu: options.cpu } } }),
              ...((options.configMaps !== undefined || options.secrets !== undefined) && {
                envFrom: [
                  ...(options.configMaps ?? []).map((name) => ({ configMapRef: { name, optional: true } })),
                  ...(options.secrets ?? []).map((name) => ({ secretRef: { name, optional: true } })),
                ],
              }),
            },
          ],
        },
      },
    },
  }
}

/** A Rollout on the DaemonSet. */
export function rolloutManifest(options: ReleaseOptions, name: string = stageKey.name): object {
  const steps = options.steps ?? [{ replicas: '20%', pause: {} }, { replicas: '100%' }]
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { namespace: stageKey.namespace, name, ...(options.policy !== undefined && { annotations: goesBy(policyKey.name) }) },
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name }, strategy: { canary: { steps } } },
  }
}

/** A ReleasePolicy. */
export function policyManifest(spec: ReleasePolicy['spec']): object {
  return { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: policyKey, spec }
}

/** Annotations of a Rollout that names a policy. */
export function goesBy(policy: string): Readonly<Record<string, string>> {
  return { [rolloutAnnotations.releasePolicy]: policy }
}

/** @returns the image of the DaemonSet's container with this tag */
export function imageOf(tag: string): string {
  return `registry.example/node-agent:${tag}`
}
