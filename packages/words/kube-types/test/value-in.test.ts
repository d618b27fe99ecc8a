import { valueIn } from '@tranche/kube-types'
import { expect, it } from 'vitest'

it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])('a map has a value under %s only if the key is its own', (key) => {
  const map = JSON.parse(`{"${key}":"a"}`) as Record<string, string>
  expect([valueIn(map, key), valueIn({}, key)]).toEqual(['a', undefined])
})

it.each([null, undefined])('a map that is %s has no value', (map) => {
  expect(valueIn(map, 'a')).toBeUndefined()
})
