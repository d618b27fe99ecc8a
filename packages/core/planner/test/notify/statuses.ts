import type { Receiver, Rollout, RolloutStatus } from '@tranche/api-schema'

/** Time of every write below, in epoch milliseconds. */
export const T0 = Date.parse('2026-01-01T00:00:00Z')

/** @returns a Rollout that pauses indefinitely after its first step and for a minute after its second */
export function aRollout(status: RolloutStatus | undefined, resourceVersion = '7'): Rollout {
  return {
    metadata: { namespace: 'demo', name: 'agent', uid: 'uid', resourceVersion, generation: 1 },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: 2, pause: { duration: 60 } }, { replicas: '100%' }] } },
    },
    ...(status !== undefined && { status }),
  }
}

/** @returns the status of a release in this state of this step */
export function aStatus(
  currentStepState: NonNullable<RolloutStatus['canaryStatus']>['currentStepState'],
  { step = 1, reason = 'InRolling', stalled = '' }: { readonly step?: number; readonly reason?: string; readonly stalled?: string } = {},
): RolloutStatus {
  const at = new Date(T0).toISOString()
  const phase = reason === 'Completed' ? 'Healthy' : 'Progressing'
  const canary = { podTemplateHash: 'new', canaryRevision: 'new', canaryReplicas: 0, canaryReadyReplicas: 0 } as const
  return {
    phase,
    message: `step ${step} is ${currentStepState}`,
    currentStepIndex: step,
    currentStepState,
    conditions: [
      { type: 'Progressing', status: 'True', reason, message: '', lastUpdateTime: at, lastTransitionTime: at },
      {
        type: 'Stalled',
        status: stalled === '' ? 'False' : 'True',
        reason: stalled || 'NotStalled',
        message: stalled,
        lastTransitionTime: at,
      },
    ],
    canaryStatus: { ...canary, currentStepIndex: step, nextStepIndex: step + 1, finalisingStep: '', currentStepState, lastUpdateTime: at },
  }
}

/** @returns a receiver of these events; of all events without any */
export function aReceiver(name: string, fields: Partial<Receiver> = {}): Receiver {
  return { name, webhook: { url: 'https://hooks.example.com/' }, ...fields }
}
