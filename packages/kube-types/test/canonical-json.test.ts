import { canonicalJson, isSameJson } from '@tranche/kube-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const notNull = (_key: string, member: unknown): boolean => member !== null

describe('canonicalJson', () => {
  it.each([
    ['whatever the order of the members', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['where a member is undefined or absent', { a: 1, b: undefined }, { a: 1 }],
    ['within lists', [{ a: 1, b: 2 }], [{ b: 2, a: 1 }]],
    ['for undefined', undefined, undefined],
  ])('is the same %s', (_name, a, b) => {
    expect(canonicalJson(a)).toBe(canonicalJson(b))
    expect(isSameJson(a, b)).toBe(true)
  })

  it.each([
    ['values', { a: 1 }, { a: 2 }],
    ['the order of lists', [1, 2], [2, 1]],
    ['a null that counts', { a: null }, {}],
    ['types', { a: '1' }, { a: 1 }],
  ])('tells %s apart', (_name, a, b) => {
    expect(isSameJson(a, b)).toBe(false)
  })

  it('leaves out what does not count, at every depth', () => {
    expect(isSameJson({ a: { b: null, c: [{ d: null }] } }, { a: { c: [{}] } }, notNull)).toBe(true)
  })

  it('is JSON of an equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
