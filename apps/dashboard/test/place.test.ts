import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathOfPlace, type Place, placeOf } from '../src/ports/place.ts'

const key = { namespace: 'demo', name: 'agent' }

describe('the URL of a place', () => {
  it.each<[string, Place, string]>([
    ['the fleet', { view: 'fleet' }, ''],
    ['a filtered fleet', { view: 'fleet', query: { q: 'a b&c' } }, '?q=a+b%26c'],
    ['a fleet whose filter is empty', { view: 'fleet', query: { q: '' } }, ''],
    ['a rollout', { view: 'rollout', key }, 'rollouts/demo/agent'],
    ['a node with odd characters', { view: 'node', key, node: 'n/1?#' }, 'rollouts/demo/agent/nodes/n%2F1%3F%23'],
    ['a forecast', { view: 'plan', key, query: { image: 'agent:v3' } }, 'rollouts/demo/agent/plan?image=agent:v3'],
    ['a moment', { view: 'rollout', key, query: { at: '2026-11-25T10:00:00Z' } }, 'rollouts/demo/agent?at=2026-11-25T10:00:00Z'],
    ['the record', { view: 'record' }, 'record'],
    ['the doctor', { view: 'doctor' }, 'doctor'],
  ])('names %s', (_title, place, path) => {
    expect(pathOfPlace(place)).toBe(path)
  })

  it.each([
    'rollouts',
    'rollouts/demo',
    'rollouts/demo/agent/secrets',
    'rollouts/demo/agent/nodes/',
    'a',
    'rollouts/demo/agent/plan/x',
    '../x',
  ])('leads nowhere if it is %s', (path) => {
    expect(placeOf(path)).toEqual({ view: 'unknown', path })
  })

  it('is read even if its encoding is broken', () => {
    expect(placeOf('rollouts/demo/%E0%A4%A')).toEqual({ view: 'rollout', key: { namespace: 'demo', name: '%E0%A4%A' }, query: {} })
  })

  it('leads back to the same place, whatever its names are', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' })
    const query = fc.dictionary(name, name).map((one) => ({ ...one }))
    fc.assert(
      fc.property(name, name, name, query, (namespace, own, nodeName, words) => {
        for (const place of [
          { view: 'fleet', query: words },
          { view: 'rollout', key: { namespace, name: own }, query: words },
          { view: 'node', key: { namespace, name: own }, node: nodeName, query: words },
        ] satisfies Place[]) {
          const [path = '', ...search] = pathOfPlace(place).split('?')
          expect(placeOf(path, search.join('?'))).toEqual(place)
        }
      }),
    )
  })
})
