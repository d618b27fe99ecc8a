import type { RolloutStep } from '@tranche/api-schema'
import { resolveSize, resolveSteps, validateRollout } from '@tranche/validation'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rolloutInSteps } from './rollouts.ts'

describe('a size resolves to nodes', () => {
  it.each<[string, number | string, number, number]>([
    ['a percentage rounds up', '10%', 15, 2],
    ['the smallest percentage is one node', '1%', 3, 1],
    ['100% is every node', '100%', 7, 7],
    ['a number stays', 3, 7, 3],
    ['a number above the fleet is clamped', 30, 7, 7],
    ['no desired node is no node', 3, 0, 0],
  ])('%s', (_, size, desired, nodes) => {
    expect(resolveSize(size, desired)).toBe(nodes)
  })

  it.each([0, -1, 1.5, '0%', '101%', '5', 'half', ''])('%j is refused', (size) => {
    expect(() => resolveSize(size, 10)).toThrow(expect.objectContaining({ code: 'BATCH_SIZE_INVALID' }))
  })
})

describe('steps resolve to sizes', () => {
  it('that are cumulative', () => {
    expect(resolveSteps([{ replicas: '10%' }, { replicas: 5 }, { replicas: '100%' }], 30)).toEqual([3, 5, 30])
  })

  it('that never shrink, although nodes have left since the plan was checked', () => {
    expect(resolveSteps([{ replicas: 5 }, { replicas: '10%' }], 20)).toEqual([5, 5])
  })

  it('only when each has a size', () => {
    expect(() => resolveSteps([{}], 10)).toThrow(expect.objectContaining({ code: 'BATCH_SIZE_INVALID' }))
  })
})

describe('properties', () => {
  const someSize = fc.oneof(
    fc.integer({ min: -2, max: 60 }),
    fc.integer({ min: -5, max: 130 }).map((percent) => `${percent}%`),
    fc.constantFrom('', '5', '1.5%', 'all', '100%', 1.5),
  )
  const someSteps = fc.array(fc.record({ replicas: someSize }), { maxLength: 6 })
  const growing = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 6 }).map((sizes) => sizes.toSorted((a, b) => a - b))
  const likelySteps = fc.oneof(
    someSteps,
    growing.map((sizes) => sizes.map((replicas) => ({ replicas }))),
    growing.map((sizes) => sizes.map((size) => ({ replicas: `${size}%` }))),
    growing.map((sizes) => sizes.map((size, index) => ({ replicas: index % 2 === 0 ? size : `${size}%` }))),
  )

  it('accepted steps resolve to sizes that never shrink, each in 1…desired', () => {
    let accepted = 0
    fc.assert(
      fc.property(likelySteps, fc.integer({ min: 1, max: 80 }), fc.boolean(), (steps, desired, isDesiredKnown) => {
        if (validateRollout(rolloutInSteps(...steps), { desired: isDesiredKnown ? desired : null }).length > 0) return
        accepted += 1
        const sizes = resolveSteps(steps, desired)
        expect(sizes).toHaveLength(steps.length)
        expect(sizes.every((size, index) => size >= (sizes[index - 1] ?? 1) && size <= desired)).toBe(true)
      }),
      { numRuns: 1000 },
    )
    expect(accepted).toBeGreaterThan(200)
  })

  it('with known desired nodes, accepted steps have exactly their stated sizes', () => {
    fc.assert(
      fc.property(likelySteps, fc.integer({ min: 1, max: 80 }), (steps, desired) => {
        if (validateRollout(rolloutInSteps(...steps), { desired }).length > 0) return
        expect(resolveSteps(steps, desired)).toEqual(steps.map(({ replicas }) => resolveSize(replicas, desired)))
      }),
      { numRuns: 1000 },
    )
  })

  it('every problem names a field, a rule and a fix', () => {
    fc.assert(
      fc.property(someSteps, fc.option(fc.integer({ min: 0, max: 80 })), (steps: RolloutStep[], desired) => {
        for (const problem of validateRollout(rolloutInSteps(...steps), { desired })) {
          expect(problem).toMatchObject({
            path: expect.stringMatching(/^spec\./),
            message: expect.stringMatching(/./),
            fix: expect.stringMatching(/./),
          })
        }
      }),
    )
  })
})
