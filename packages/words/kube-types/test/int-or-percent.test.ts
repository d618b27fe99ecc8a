import { scaleIntOrPercent, type IntOrString } from '@tranche/kube-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('scaleIntOrPercent', () => {
  const cases: Record<string, { size: IntOrString; total: number; want: number | null }> = {
    'returns a whole number as it is': { size: 3, total: 10, want: 3 },
    'takes 0': { size: 0, total: 10, want: 0 },
    'does not clamp a number to the total': { size: 30, total: 10, want: 30 },
    'resolves a percentage of the total': { size: '30%', total: 10, want: 3 },
    'rounds a percentage up': { size: '1%', total: 10, want: 1 },
    'rounds up for the smallest remainder': { size: '34%', total: 3, want: 2 },
    'is exact where binary fractions are not': { size: '7%', total: 100, want: 7 },
    'is exact at 29% of 100': { size: '29%', total: 100, want: 29 },
    'resolves 100% to everything': { size: '100%', total: 7, want: 7 },
    'resolves 0% to nothing': { size: '0%', total: 7, want: 0 },
    'resolves any percentage of nothing to nothing': { size: '50%', total: 0, want: 0 },
    'accepts leading zeros': { size: '007%', total: 100, want: 7 },
    'refuses more than 100%': { size: '101%', total: 10, want: null },
    'refuses a negative number': { size: -1, total: 10, want: null },
    'refuses a fraction': { size: 1.5, total: 10, want: null },
    'refuses a text that is not a number': { size: Number.NaN, total: 10, want: null },
    'refuses a number in a string': { size: '3', total: 10, want: null },
    'refuses a fraction of a percent': { size: '0.5%', total: 10, want: null },
    'refuses a negative percentage': { size: '-5%', total: 10, want: null },
    'refuses space': { size: '5 %', total: 10, want: null },
    'refuses a line break at the end': { size: '5%\n', total: 10, want: null },
    'refuses the empty string': { size: '', total: 10, want: null },
    'refuses a percent sign alone': { size: '%', total: 10, want: null },
  }
  it.each(Object.entries(cases))('%s', (_title, { size, total, want }) => {
    expect(scaleIntOrPercent(size, total)).toBe(want)
  })

  it('returns the smallest whole number that is at least the percentage, never above the total, and 0 only for 0% or an empty total', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.nat(100_000), (percent, total) => {
        const nodes = scaleIntOrPercent(`${percent}%`, total)!
        expect(nodes * 100).toBeGreaterThanOrEqual(percent * total)
        expect((nodes - 1) * 100).toBeLessThan(Math.max(percent * total, 1))
        expect(nodes).toBeLessThanOrEqual(total)
        if (percent > 0 && total > 0) expect(nodes).toBeGreaterThan(0)
      }),
    )
  })
})
