import type { RolloutStep } from '@tranche/api-schema'
import { adviseRollout, validateRollout } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { rolloutInSteps } from './rollouts.ts'

const a = { matchLabels: { pool: 'a' } }
const b = { matchLabels: { pool: 'b' } }

describe('steps by selector', () => {
  it.each<[string, readonly RolloutStep[]]>([
    ['need no size: they select all matching nodes', [{ nodes: a }, { nodes: b }, { replicas: '100%' }]],
    ['may grow among the same nodes', [{ nodes: a, replicas: 1 }, { nodes: a, replicas: 3 }, { nodes: a }, {}].slice(0, 3)],
    ['may be smaller than a step of fewer nodes', [{ nodes: a, replicas: '100%' }, { nodes: b, replicas: '10%' }, { replicas: 5 }]],
    ['are sizes of all nodes after an empty selector', [{ nodes: a, replicas: 5 }, { nodes: {}, replicas: 1 }, { replicas: '100%' }]],
    [
      'do not compare numbers of their nodes with percentages of all',
      [
        { nodes: a, replicas: 50 },
        { nodes: a, replicas: '10%' },
      ],
    ],
  ])('%s', (_name, steps) => expect(validateRollout(rolloutInSteps(...steps), { desired: 100 })).toEqual([]))

  it.each<[string, readonly RolloutStep[], string, string]>([
    ['shrink among the same nodes', [{ nodes: a }, { nodes: a, replicas: '50%' }], 'StepShrinks', 'spec.strategy.canary.steps[1].replicas'],
    [
      'shrink when the selector was used before',
      [{ nodes: a }, { nodes: b, replicas: 3 }, { nodes: a, replicas: 2 }],
      'StepShrinks',
      'spec.strategy.canary.steps[2].replicas',
    ],
    [
      'shrink after a step of every node',
      [{ replicas: '50%' }, { nodes: a, replicas: '10%' }],
      'StepShrinks',
      'spec.strategy.canary.steps[1].replicas',
    ],
    ['have an invalid size', [{ nodes: a, replicas: 0 }], 'StepSize', 'spec.strategy.canary.steps[0].replicas'],
    [
      'have an invalid selector',
      [{ nodes: { matchLabels: { 'a b': 'x' } } }],
      'StepNodes',
      'spec.strategy.canary.steps[0].nodes.matchLabels',
    ],
  ])('may not %s', (_name, steps, rule, path) =>
    expect(validateRollout(rolloutInSteps(...steps), { desired: 100 })).toMatchObject([{ rule, path }]),
  )

  it.each<[string, readonly RolloutStep[], readonly string[]]>([
    ['are followed by the other nodes', [{ nodes: a }, { nodes: b }], ['spec.strategy.canary.steps[1].nodes']],
    ['are complete after a step of every node', [{ replicas: '50%' }, { nodes: a }], []],
  ])('%s, which advice says', (_name, steps, paths) =>
    expect(adviseRollout(rolloutInSteps(...steps)).map(({ path }) => path)).toEqual(paths),
  )
})
