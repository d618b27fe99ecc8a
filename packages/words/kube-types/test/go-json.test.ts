import { expect, it } from 'vitest'
import { goJson } from '../src/index.ts'

it('escapes HTML characters as Go does, and keeps the order of members', () => {
  const value = { b: 'a<b&c>d', a: [1, 'é', '\u2028'], none: undefined }
  expect(goJson(value)).toBe('{"b":"a\\u003cb\\u0026c\\u003ed","a":[1,"é","\\u2028"]}')
})
