import { canonicalJson, isSameJson } from '@tranche/kube-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

const notNull = (_key: string, member: unknown): boolean => member !== null

describe('canonicalJson', () => {
  it.each([
    ['whatever the order of the members', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['where a member is undefined or absent', { a: 1, b: undefined }, { a: 1 }],
    ['within lists', [{ a: 1, b: 2 }], [{ b: 2, a: 1 }]],
    ['for undefined', undefined, undefined],
    ['for half a surrogate pair, and for what API servers store for it', { a: ['x\ud83d'] }, { a: ['x\uFFFD'] }],
  ])('is the same %s', (_name, a, b) => {
    expect(canonicalJson(a)).toBe(canonicalJson(b))
    expect(isSameJson(a, b)).toBe(true)
  })

  it.each([
    ['values', { a: 1 }, { a: 2 }],
    ['the order of lists', [1, 2], [2, 1]],
    ['a null that counts', { a: null }, {}],
    ['types', { a: '1' }, { a: 1 }],
  ])('distinguishes %s', (_name, a, b) => {
    expect(isSameJson(a, b)).toBe(false)
  })

  it('leaves out members that the filter rejects, at every depth', () => {
    expect(isSameJson({ a: { b: null, c: [{ d: null }] } }, { a: { c: [{}] } }, notNull)).toBe(true)
  })

  it('rejects values that nest more than 200 deep instead of overflowing the stack', () => {
    expect(canonicalJson(nested(200))).toHaveLength(2 * 200)
    for (const levels of [201, 10_000]) expect(() => canonicalJson(nested(levels))).toThrow('nested more than 200 deep')
  })

  it('treats values that nest more than 200 deep as different instead of overflowing the stack', () => {
    expect(isSameJson(nested(200), nested(200))).toBe(true)
    for (const levels of [201, 10_000]) expect(isSameJson(nested(levels), nested(levels))).toBe(false)
  })

  it('agrees with a comparison of the texts', () => {
    const keys = fc.constantFrom('a', 'b', '10', '2', 'toString', '__proto__')
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(null, undefined, 0, -0, 1, '', 'a', '1', Number.NaN, true, '\ud800', '\uFFFD'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .uniqueArray(fc.tuple(keys, tie('value')), { maxLength: 3, selector: ([key]) => key })
          .map((members) => Object.fromEntries(members)),
      ),
    }))
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(isSameJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b))
        expect(isSameJson(a, b, notNull)).toBe(canonicalJson(a, notNull) === canonicalJson(b, notNull))
      }),
      { numRuns: 1_000 },
    )
  })

  it('is JSON of an equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
