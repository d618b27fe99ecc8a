import { type LabelSelector, parseLabelSelector } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../test/fakes/cpu-ms.ts'

const many = Array.from({ length: 40 }, (_, n) => `${n}`)
const labels = { zone: 'a', pool: 'gpu', canary: '' }

describe('a label selector, as Kubernetes reads it', () => {
  it.each<[string, LabelSelector, boolean]>([
    ['an empty one selects everything', {}, true],
    ['every label must have its value', { matchLabels: { zone: 'a', pool: 'gpu' } }, true],
    ['one other value is enough to be out', { matchLabels: { zone: 'a', pool: 'cpu' } }, false],
    ['a label that is missing has no value', { matchLabels: { rack: '' } }, false],
    ['In asks for one of the values', { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b', 'a'] }] }, true],
    ['In does not select where the label is missing', { matchExpressions: [{ key: 'rack', operator: 'In', values: [''] }] }, false],
    ['NotIn asks for another value', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, false],
    ['NotIn selects where the label is missing', { matchExpressions: [{ key: 'rack', operator: 'NotIn', values: ['1'] }] }, true],
    ['In asks for one of many values', { matchExpressions: [{ key: 'zone', operator: 'In', values: [...many, 'a'] }] }, true],
    ['In does not select another value than many', { matchExpressions: [{ key: 'zone', operator: 'In', values: many }] }, false],
    ['NotIn asks for another value than many', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: [...many, 'a'] }] }, false],
    ['NotIn selects another value than many', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: many }] }, true],
    ['Exists asks for the label, also an empty one', { matchExpressions: [{ key: 'canary', operator: 'Exists' }] }, true],
    ['DoesNotExist asks for its absence', { matchExpressions: [{ key: 'canary', operator: 'DoesNotExist' }] }, false],
    [
      'labels and expressions must both hold',
      { matchLabels: { zone: 'a' }, matchExpressions: [{ key: 'pool', operator: 'NotIn', values: ['gpu'] }] },
      false,
    ],
  ])('%s', (_sentence, selector, selected) => {
    expect(parseLabelSelector(selector)?.(labels)).toBe(selected)
  })

  it.each<[string, LabelSelector]>([
    ['an operator that Kubernetes does not know', { matchExpressions: [{ key: 'zone', operator: 'Gt', values: ['1'] }] }],
    ['In without values', { matchExpressions: [{ key: 'zone', operator: 'In' }] }],
    ['NotIn without values', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: [] }] }],
    ['Exists with values', { matchExpressions: [{ key: 'zone', operator: 'Exists', values: ['a'] }] }],
    ['DoesNotExist with values', { matchExpressions: [{ key: 'zone', operator: 'DoesNotExist', values: ['a'] }] }],
  ])('%s is no selector', (_sentence, selector) => {
    expect(parseLabelSelector(selector)).toBeNull()
  })
})

const inherited = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__']

describe.each(inherited)('a selector on the label %s, which every object of JavaScript seems to have', (key) => {
  const selected = (operator: 'Exists' | 'DoesNotExist' | 'NotIn', labelled: string): unknown =>
    parseLabelSelector({ matchExpressions: [{ key, operator, ...(operator === 'NotIn' && { values: ['b'] }) }] })?.(
      JSON.parse(labelled) as Record<string, string>,
    )

  it('finds no label where there is none', () => {
    expect([selected('Exists', '{}'), selected('DoesNotExist', '{}'), selected('NotIn', '{}')]).toEqual([false, true, true])
  })

  it('finds the label where there is one', () => {
    const labelled = `{"${key}":"a"}`
    const equal = parseLabelSelector({ matchLabels: JSON.parse(labelled) as Record<string, string> })
    expect([selected('Exists', labelled), selected('DoesNotExist', labelled)]).toEqual([true, false])
    expect([equal?.(JSON.parse(labelled) as Record<string, string>), equal?.({})]).toEqual([true, false])
  })
})

it.each<[string, LabelSelector]>([
  ['20,000 labels that must be absent', { matchExpressions: all((at) => ({ key: `a${at}`, operator: 'DoesNotExist' })) }],
  ['20,000 requirements on one label', { matchExpressions: all((at) => ({ key: 'zone', operator: 'NotIn', values: [`${at}`] })) }],
  ['20,000 labels', { matchLabels: Object.fromEntries(all((at) => [`a${at}`, 'b'])) }],
])('a selector of %s is compared with 1,000 objects in less than half a second', (_sentence, selector) => {
  const beganMs = cpuMs()
  for (let at = 0; at < 1_000; at++) parseLabelSelector(selector)?.(labels)
  expect(cpuMs() - beganMs).toBeLessThan(500)
})

function all<T>(one: (at: number) => T): readonly T[] {
  return Array.from({ length: 20_000 }, (_, at) => one(at))
}
