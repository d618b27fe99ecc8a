import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readJson, wellFormedJson } from '../src/index.ts'

// Each value is that of encoding/json of Go.
it.each([
  [String.raw`"x\ud83d"`, 'x\uFFFD'],
  [String.raw`"\uDE00x"`, '\uFFFDx'],
  [String.raw`"\ud83d\ude00"`, '😀'],
  [String.raw`"\uD83D\uDE00"`, '😀'],
  [String.raw`"\ud83d\ud83d\ude00"`, '\uFFFD😀'],
  [String.raw`"\ude00\ud83d"`, '\uFFFD\uFFFD'],
  [String.raw`"\ud83d\u0041"`, '\uFFFDA'],
  [String.raw`"\ud83d\n"`, '\uFFFD\n'],
  [String.raw`"\\ud83d"`, String.raw`\ud83d`],
  [String.raw`"\\\ud83d"`, '\\\uFFFD'],
  [String.raw`{"\ud83d":["\ud83d"]}`, { '\uFFFD': ['\uFFFD'] }],
])('reads %s as Go does', (text, want) => {
  expect(readJson(text)).toEqual(want)
})

it('throws for a text that is no JSON', () => {
  expect(() => readJson('{')).toThrow(SyntaxError)
})

it('reads any value as JSON.parse does, but well-formed', () => {
  const text = fc.array(fc.constantFrom('a', '\\', '"', 'ud83d', '😀', '\ud83d', '\ude00'), { maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (value) => {
      expect(readJson(JSON.stringify([value]))).toEqual([value.toWellFormed()])
      expect(wellFormedJson(JSON.stringify(value))).toBe(JSON.stringify(value.toWellFormed()))
    }),
  )
})
