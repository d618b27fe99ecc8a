import type { DaemonSet, IntOrString } from '@tranche/kube-types'
import { problemText, validateDaemonSetBudget } from '@tranche/validation'
import { describe, expect, it } from 'vitest'

interface RollingUpdate {
  readonly maxUnavailable?: IntOrString
  readonly maxSurge?: IntOrString
}

function daemonSet(rollingUpdate?: RollingUpdate): DaemonSet {
  const updateStrategy = { type: 'OnDelete', ...(rollingUpdate && { rollingUpdate }) }
  return { metadata: { name: 'node-agent', uid: 'd1', resourceVersion: '1' }, spec: { template: {}, updateStrategy } }
}

describe('a DaemonSet leaves a budget', () => {
  it.each<[string, RollingUpdate | undefined, number]>([
    ['by default, with one node', undefined, 10],
    ['with one node', { maxUnavailable: 1, maxSurge: 0 }, 10],
    ['with a percentage that rounds up to one node', { maxUnavailable: '1%', maxSurge: '0%' }, 3],
    ['with no nodes to release on', { maxUnavailable: 0 }, 0],
  ])('%s', (_, rollingUpdate, desired) => {
    expect(validateDaemonSetBudget(daemonSet(rollingUpdate), desired)).toEqual([])
  })
})

describe('a DaemonSet leaves no budget', () => {
  const path = 'spec.updateStrategy.rollingUpdate'
  it.each<[string, RollingUpdate, string]>([
    [
      'with maxUnavailable 0',
      { maxUnavailable: 0 },
      `${path}.maxUnavailable is 0: the budget is zero nodes, so no pod can be replaced; set it to 1 or more, or to a percentage such as "10%"`,
    ],
    [
      'with maxUnavailable 0%',
      { maxUnavailable: '0%' },
      `${path}.maxUnavailable is "0%": the budget is zero nodes, so no pod can be replaced; set it to 1 or more, or to a percentage such as "10%"`,
    ],
    [
      'with surge, which is reported instead of the zero that it needs',
      { maxUnavailable: 0, maxSurge: 1 },
      `${path}.maxSurge is 1: OnDelete has no surge: a release in steps replaces pods in place; set maxSurge to 0 and maxUnavailable to 1 or more`,
    ],
    [
      'with an invalid value',
      { maxUnavailable: 'some' },
      `${path}.maxUnavailable is "some": it must be a whole number or a percentage up to 100%; until then no pod can be replaced; set it to 1 or more, or to a percentage such as "10%"`,
    ],
  ])('%s', (_, rollingUpdate, text) => {
    const problems = validateDaemonSetBudget(daemonSet(rollingUpdate), 10)
    expect(problems.map(problemText)).toEqual([text])
    expect(problems[0]?.reason).toBe('BudgetZero')
  })
})
