import type { Rollout } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'

/** Fields of a DaemonSet that a test sets. */
export interface Traits {
  readonly image?: string
  readonly type?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly maxUnavailable?: number
}

/** @returns the DaemonSet demo/node-agent */
export function daemonSet({ image = 'agent:v1', type = 'RollingUpdate', annotations, labels, maxUnavailable = 1 }: Traits = {}): DaemonSet {
  return {
    metadata: {
      name: 'node-agent',
      namespace: 'demo',
      uid: 'd1',
      resourceVersion: '1',
      ...(annotations && { annotations }),
      ...(labels && { labels }),
    },
    spec: {
      template: { metadata: { labels: { app: 'node-agent' } }, spec: { containers: [{ name: 'agent', image }] } },
      updateStrategy: { type, rollingUpdate: { maxUnavailable } },
    },
  }
}

/** @returns the Rollout demo/node-agent for the DaemonSet demo/node-agent, with the given changes */
export function rollout(metadata: Partial<Rollout['metadata']> = {}, spec: Partial<Rollout['spec']> = {}): Rollout {
  return {
    metadata: { name: 'node-agent', namespace: 'demo', uid: 'r1', resourceVersion: '1', ...metadata },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' },
      strategy: { canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] } },
      ...spec,
    },
  }
}

/** The keys of a running release on its DaemonSet. */
export const releaseKeys = {
  'rollouts.kruise.io/daemonset-canary-revision': '5d4f',
  'rollouts.kruise.io/daemonset-stable-revision': '77aa',
  'rollouts.kruise.io/daemonset-partition': '27',
  'batchrelease.rollouts.kruise.io/control-info': '{"kind":"BatchRelease"}',
  'rollouts.kruise.io/in-progressing': '{"rolloutName":"node-agent"}',
  'rollouts.kruise.io/daemonset-original-update-strategy': 'RollingUpdate',
  'tranche.dev/rollout': 'node-agent',
} as const
