import type { Rollout } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { rolloutHash } from '../../src/rollout/view/rollout-hash.ts'

type Canary = NonNullable<Rollout['spec']['strategy']['canary']>

/** Computed by a program in Go with OpenKruise's types and Kubernetes' encoder. */
const THREE_STEPS = '7d48b7dd45x654v8zdfb5v7vc8cf7zv8bc95wxc2vwzcf6c4bz5b8fbxxxcvx795'

describe('the hash of the steps', () => {
  const steps = [{ replicas: '20%' }, { replicas: 5 }, { replicas: '100%' }]
  it.each<[string, Canary, string]>([
    ['steps without pauses', { steps }, THREE_STEPS],
    [
      'whatever the pauses and the failureThreshold are',
      { steps: [{ replicas: '20%', pause: {} }, { replicas: 5, pause: { duration: 60 } }, { replicas: '100%' }], failureThreshold: '10%' },
      THREE_STEPS,
    ],
    [
      'members with default values',
      { steps: [{ replicas: 1 }], enableExtraWorkloadForCanary: false },
      'b2dw296ff94fb6x75cbv7dbbw4xc9655ddbxxw6vdz9496d4wc5v4c6w25cwzdxw',
    ],
  ])('is the one that OpenKruise computes: %s', (_what, canary, hash) => {
    expect(rolloutHash(rolloutOf(canary))).toBe(hash)
  })

  it.each<Canary>([
    { steps: [{ replicas: 1, traffic: '5%' }] },
    { steps, trafficRoutings: [{ service: 's' }] },
    { trafficRoutingRef: 't' },
  ])('is null for members that do not apply to DaemonSets: %j', (canary) => expect(rolloutHash(rolloutOf(canary))).toBeNull())
})

function rolloutOf(canary: Canary): Rollout {
  const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }
  return { metadata: { name: 'agent', uid: 'u', resourceVersion: '1' }, spec: { workloadRef, strategy: { canary } } }
}
