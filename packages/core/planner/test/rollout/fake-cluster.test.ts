import { daemonSetAnnotations } from '@tranche/kube-types'
import { strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

describe('a release on the fake cluster', () => {
  it.each(['binding', 'release'] as const)('goes from a new image to Healthy, restores everything, and becomes quiet (%s)', (scope) => {
    const fake = new FakeCluster({ scope })
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Healthy')
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status?.canaryStatus?.currentStepState).toBe('StepPaused')
    expect(fake.oldPods()).toHaveLength(3)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Healthy')
    expect(fake.oldPods()).toEqual([])
    expect(fake.release).toBeUndefined()
    expect(strategyOf(fake.daemonSet)).toBe(scope === 'binding' ? 'OnDelete' : 'RollingUpdate')
    expect(fake.daemonSet.metadata.annotations).toEqual({
      [daemonSetAnnotations.rollout]: 'agent',
      ...(scope === 'binding' && { [daemonSetAnnotations.originalUpdateStrategy]: 'RollingUpdate' }),
    })
  })
})
