import { canonicalJson, cutDeepJson, JSON_LEVELS_MAX, nestsDeeperThan } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const objects = (levels: number, inner = '{}'): unknown => JSON.parse(`${'{"a":'.repeat(levels - 1)}${inner}${'}'.repeat(levels - 1)}`)
const lists = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

describe('a nested value', () => {
  it.each([
    ['a text', 'a', 0],
    ['null', null, 0],
    ['an empty object', {}, 1],
    ['objects', objects(100), 100],
    ['lists', lists(100), 100],
    ['a deep member beside shallow ones', { a: 1, b: [], c: objects(99), d: {} }, 100],
  ])('of %s has as many levels as objects and lists within each other', (_what, value, levels) => {
    expect(nestsDeeperThan(levels, value)).toBe(false)
    if (levels > 0) expect(nestsDeeperThan(levels - 1, value)).toBe(true)
  })

  it.each([objects(10_000), lists(10_000)])('is measured and cut at any depth without overflowing the stack', (value) => {
    expect(nestsDeeperThan(JSON_LEVELS_MAX, value)).toBe(true)
    expect(cutDeepJson(value)).toBe(true)
    expect(nestsDeeperThan(JSON_LEVELS_MAX, value)).toBe(false)
    expect(nestsDeeperThan(JSON_LEVELS_MAX - 1, value)).toBe(true)
  })

  it('of at most 100 levels stays as it is', () => {
    const value = { text: 'a', list: [1, null, objects(98)], number: 1 }
    expect(cutDeepJson(value)).toBe(false)
    expect(value).toEqual({ text: 'a', list: [1, null, objects(98)], number: 1 })
  })

  it('keeps its shallow members when it is cut, and its texts and numbers at every depth', () => {
    const value = JSON.parse('{"a":{"b":{"c":{"d":1},"text":"x"}},"n":[1]}') as unknown
    expect(cutDeepJson(value, 3)).toBe(true)
    expect(value).toEqual({ a: { b: { c: null, text: 'x' } }, n: [1] })
  })

  it('never becomes equal to a value of fewer levels', () => {
    const deep = objects(101)
    cutDeepJson(deep)
    expect(canonicalJson(deep)).not.toBe(canonicalJson(objects(99)))
    expect(canonicalJson(deep, (_key, member) => member !== null)).toBe(canonicalJson(objects(100)))
  })

  it('may have a member named __proto__', () => {
    const value = JSON.parse('{"__proto__":{"a":{}}}') as object
    expect(cutDeepJson(value, 2)).toBe(true)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":null}}')
  })
})
