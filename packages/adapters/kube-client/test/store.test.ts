import { describe, expect, it } from 'vitest'
import { createStore } from '../src/cache/store.ts'

describe('a store', () => {
  it('returns the same list until something changes, and then a new one', () => {
    const { store, put, key } = setUp()
    put('a', 'x')
    const before = store.list()
    expect(store.list()).toBe(before)
    put('a', 'y')
    expect(store.list()).toEqual(['y'])
    put('b', 'z')
    expect(store.list()).toEqual(['y', 'z'])
    store.delete(key('a'))
    expect(store.list()).toEqual(['z'])
    store.delete(key('a'))
    expect([store.size, store.list()]).toEqual([1, ['z']])
  })

  it('finds a value under each of its index keys, and under none if it has none', () => {
    const { store, put } = setUp()
    put('a', 'red green')
    put('b', 'red')
    put('c', '')
    expect([store.byIndex('words', 'red'), store.byIndex('words', 'green'), store.byIndex('words', '')]).toEqual([
      ['red green', 'red'],
      ['red green'],
      [],
    ])
    expect(store.byIndex('whole', 'red')).toEqual(['red'])
  })

  it('still finds the other values of an index key after one was removed or changed', () => {
    const { store, put, key } = setUp()
    for (const name of ['a', 'b', 'c']) put(name, `red ${name}`)
    store.delete(key('a'))
    expect(store.byIndex('words', 'red')).toEqual(['red b', 'red c'])
    put('b', 'green')
    expect([store.byIndex('words', 'red'), store.byIndex('words', 'green'), store.byIndex('words', 'b')]).toEqual([
      ['red c'],
      ['green'],
      [],
    ])
  })
})

function setUp() {
  const store = createStore<string>({
    words: (text) => (text === '' ? undefined : text.split(' ')),
    whole: (text) => text,
  })
  const key = (name: string) => ({ namespace: 'demo', name })
  return { store, key, put: (name: string, value: string) => store.set({ key: key(name), uid: name, value }) }
}
