import type { Rollout, RolloutSpec, RolloutStep } from '@tranche/api-schema'

/** Changes that a test makes to a valid Rollout. */
export interface Changes {
  readonly metadata?: Partial<Rollout['metadata']>
  readonly spec?: Partial<RolloutSpec>
  readonly status?: Rollout['status']
}

/** @returns a valid Rollout with `changes` */
export function rolloutWith({ metadata, spec, status }: Changes = {}): Rollout {
  return {
    metadata: { name: 'node-agent', namespace: 'demo', uid: 'r1', resourceVersion: '1', ...metadata },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' },
      strategy: { canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] } },
      ...spec,
    },
    status,
  }
}

/** @returns a Rollout with these steps */
export function rolloutInSteps(...steps: readonly RolloutStep[]): Rollout {
  return rolloutWith({ spec: { strategy: { canary: { steps } } } })
}

/** @returns a Rollout with these annotations */
export function rolloutAnnotated(annotations: Readonly<Record<string, string>>): Rollout {
  return rolloutWith({ metadata: { annotations } })
}
