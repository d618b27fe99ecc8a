import { isListedNamespace, microTime } from '@tranche/kube-types'
import { expect, it } from 'vitest'

it.each([
  [['demo', 'other'], true],
  [['*'], true],
  [['other'], false],
  [['dem'], false],
  [[], false],
])('the list %j contains the namespace demo: %s', (namespaces, isListed) => {
  expect(isListedNamespace(namespaces, 'demo')).toBe(isListed)
})

it('a MicroTime has six digits of the second', () => {
  expect(microTime(1_700_000_000_123)).toBe('2023-11-14T22:13:20.123000Z')
})
