import { describe, expect, it } from 'vitest'
import { writersOf } from '../src/change-observer/field-writers.ts'

const containers = (...images: readonly string[]): object => ({
  spec: { containers: images.map((image, at) => ({ name: `c${at}`, image })) },
})
const owning = (manager: string, fieldsV1: object): { readonly manager: string; readonly fieldsV1: object } => ({ manager, fieldsV1 })
const imageOf = (name: string): object => ({ 'f:spec': { 'f:containers': { [`k:{"name":"${name}"}`]: { 'f:image': {} } } } })

describe('who has written a version of an object', () => {
  it.each<[string, readonly string[], object | undefined, object, readonly ReturnType<typeof owning>[]]>([
    [
      'the owner of a value that has changed, and of no other',
      ['b'],
      { spec: { paused: false, disabled: false } },
      { spec: { paused: true, disabled: false } },
      [owning('a', { 'f:spec': { 'f:disabled': {} } }), owning('b', { 'f:spec': { 'f:paused': {} } })],
    ],
    [
      'the owner in an item of a list, found by its keys',
      ['b'],
      containers('x:1', 'y:1'),
      containers('x:1', 'y:2'),
      [owning('a', imageOf('c0')), owning('b', imageOf('c1'))],
    ],
    [
      'the owner of an item that is new in a set',
      ['b'],
      { finalizers: ['one'] },
      { finalizers: ['one', 'two'] },
      [owning('a', { 'f:finalizers': { 'v:"one"': {} } }), owning('b', { 'f:finalizers': { 'v:"two"': {} } })],
    ],
    [
      'the owner of all that is below',
      ['a'],
      { spec: { steps: [1] } },
      { spec: { steps: [2] } },
      [owning('a', { 'f:spec': { 'f:steps': {} } })],
    ],
    [
      'whoever owns what is new as such',
      ['a'],
      { spec: {} },
      { spec: { labels: {} } },
      [owning('a', { 'f:spec': { 'f:labels': { '.': {} } } })],
    ],
    [
      'one name for one program, whatever it writes to',
      ['a'],
      { spec: { x: 1 }, status: { y: 1 } },
      { spec: { x: 2 }, status: { y: 2 } },
      [owning('a', { 'f:spec': { 'f:x': {} } }), owning('a', { 'f:status': { 'f:y': {} } })],
    ],
    ['nobody where something is taken away', [], { spec: { paused: true } }, { spec: {} }, [owning('a', { 'f:spec': { 'f:paused': {} } })]],
    ['nobody where nothing has changed', [], { spec: { x: 1 } }, { spec: { x: 1 } }, [owning('a', { 'f:spec': { 'f:x': {} } })]],
  ])('is %s', (_who, writers, before, after, owners) => {
    expect(writersOf(owners, before, after)).toEqual(writers)
  })
})
