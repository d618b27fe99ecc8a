import { daemonSetAnnotations } from '@tranche/kube-types'
import { strategyOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

describe('a release on the toy cluster', () => {
  it.each(['binding', 'release'] as const)('goes from a new image to Healthy, gives everything back and is quiet (%s)', (scope) => {
    const toy = new ToyCluster({ scope })
    settle(toy)
    expect(toy.rollout?.status?.phase).toBe('Healthy')
    toy.setImage('v2')
    settle(toy)
    expect(toy.rollout?.status?.canaryStatus?.currentStepState).toBe('StepPaused')
    expect(toy.oldPods()).toHaveLength(3)
    toy.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(toy)
    expect(toy.rollout?.status?.phase).toBe('Healthy')
    expect(toy.oldPods()).toEqual([])
    expect(toy.release).toBeUndefined()
    expect(strategyOf(toy.daemonSet)).toBe(scope === 'binding' ? 'OnDelete' : 'RollingUpdate')
    expect(toy.daemonSet.metadata.annotations).toEqual({
      [daemonSetAnnotations.rollout]: 'agent',
      ...(scope === 'binding' && { [daemonSetAnnotations.originalUpdateStrategy]: 'RollingUpdate' }),
    })
  })
})
