import { describe, expect, it } from 'vitest'
import { writersOf } from '../src/change-observer/field-writers.ts'

const containers = (...images: readonly string[]): object => ({
  spec: { containers: images.map((image, at) => ({ name: `c${at}`, image })) },
})
const owning = (manager: string, fieldsV1: object): { readonly manager: string; readonly fieldsV1: object } => ({ manager, fieldsV1 })
const imageOf = (name: string): object => ({ 'f:spec': { 'f:containers': { [`k:{"name":"${name}"}`]: { 'f:image': {} } } } })

describe('the writer of a version of an object', () => {
  it.each<[string, readonly string[], object | undefined, object, readonly ReturnType<typeof owning>[]]>([
    [
      'only the owner of a changed value',
      ['b'],
      { spec: { paused: false, disabled: false } },
      { spec: { paused: true, disabled: false } },
      [owning('a', { 'f:spec': { 'f:disabled': {} } }), owning('b', { 'f:spec': { 'f:paused': {} } })],
    ],
    [
      'the owner of a field in a list item, found by its keys',
      ['b'],
      containers('x:1', 'y:1'),
      containers('x:1', 'y:2'),
      [owning('a', imageOf('c0')), owning('b', imageOf('c1'))],
    ],
    [
      'the owner of a new set item',
      ['b'],
      { finalizers: ['one'] },
      { finalizers: ['one', 'two'] },
      [owning('a', { 'f:finalizers': { 'v:"one"': {} } }), owning('b', { 'f:finalizers': { 'v:"two"': {} } })],
    ],
    [
      'the owner of a whole subtree',
      ['a'],
      { spec: { steps: [1] } },
      { spec: { steps: [2] } },
      [owning('a', { 'f:spec': { 'f:steps': {} } })],
    ],
    ['the owner of a new field', ['a'], { spec: {} }, { spec: { labels: {} } }, [owning('a', { 'f:spec': { 'f:labels': { '.': {} } } })]],
    [
      'one name per program, for all its writes',
      ['a'],
      { spec: { x: 1 }, status: { y: 1 } },
      { spec: { x: 2 }, status: { y: 2 } },
      [owning('a', { 'f:spec': { 'f:x': {} } }), owning('a', { 'f:status': { 'f:y': {} } })],
    ],
    ['unknown if something was removed', [], { spec: { paused: true } }, { spec: {} }, [owning('a', { 'f:spec': { 'f:paused': {} } })]],
    ['empty if nothing has changed', [], { spec: { x: 1 } }, { spec: { x: 1 } }, [owning('a', { 'f:spec': { 'f:x': {} } })]],
  ])('is %s', (_who, writers, before, after, owners) => {
    expect(writersOf(owners, before, after)).toEqual(writers)
  })
})
