import { compareResourceVersions, newerResourceVersion } from '@tranche/kube-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('compareResourceVersions', () => {
  it.each([
    { title: 'orders by value, not by text', a: '9', b: '10', want: -1 },
    { title: 'is 0 for the same version', a: '42', b: '42', want: 0 },
    { title: 'tells apart what a number cannot', a: '9007199254740993', b: '9007199254740992', want: 1 },
    { title: 'takes an empty version for older than any', a: '', b: '0', want: -1 },
    { title: 'takes two empty versions for equal', a: '', b: '', want: 0 },
  ])('$title', ({ a, b, want }) => {
    expect(Math.sign(compareResourceVersions(a, b))).toBe(want)
  })

  it('orders as the integers do', () => {
    fc.assert(
      fc.property(versionArbitrary, versionArbitrary, (a, b) => {
        expect(Math.sign(compareResourceVersions(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })
})

describe('newerResourceVersion', () => {
  it('returns the greater of two, in either order', () => {
    fc.assert(
      fc.property(versionArbitrary, versionArbitrary, (a, b) => {
        const newer = String([a, b].toSorted((x, y) => (x < y ? -1 : 1))[1])
        expect([newerResourceVersion(String(a), String(b)), newerResourceVersion(String(b), String(a))]).toEqual([newer, newer])
      }),
    )
  })

  it('returns the other version if one is empty', () => {
    expect([newerResourceVersion('', '7'), newerResourceVersion('7', '')]).toEqual(['7', '7'])
  })
})

const versionArbitrary = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 20n }))
