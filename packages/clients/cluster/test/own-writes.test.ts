import { beforeEach, describe, expect, it } from 'vitest'
import { createOwnWrites, type OwnWrites } from '../src/own-writes.ts'

interface Thing {
  readonly name: string
  readonly resourceVersion: string
}

let position: string
let lists: { begun: number; done: number }
let own: OwnWrites<Thing>

beforeEach(() => {
  position = '10'
  lists = { begun: 1, done: 1 }
  own = createOwnWrites<Thing>({ positionOf: () => position, listsOf: () => lists }, () => 'demo')
})

describe('what a process wrote', () => {
  it('is known until its watch has reached that version', () => {
    own.learn('a', { name: 'a', resourceVersion: '12' })
    position = '11'
    expect(names()).toEqual(['a'])
    position = '12'
    expect(names()).toEqual([])
    position = '11'
    expect(names()).toEqual([])
  })

  it('is known no more once it is forgotten', () => {
    own.learn('a', { name: 'a', resourceVersion: '12' })
    own.learn('b', { name: 'b', resourceVersion: '13' })
    own.forget('a')
    expect(names()).toEqual(['b'])
  })

  it('is known after a list that was requested before the response arrived', () => {
    lists = { begun: 2, done: 1 }
    own.learn('a', { name: 'a', resourceVersion: '12' })
    lists = { begun: 2, done: 2 }
    expect(names()).toEqual(['a'])
  })

  it('is known no more after a later list, although the restored API server counts from an older version', () => {
    own.learn('a', { name: 'a', resourceVersion: '12' })
    position = '3'
    lists = { begun: 2, done: 1 }
    expect(names()).toEqual(['a'])
    lists = { begun: 2, done: 2 }
    expect(names()).toEqual([])
  })
})

function names(): readonly string[] {
  return [...own.unseen().values()].map(({ name }) => name)
}
