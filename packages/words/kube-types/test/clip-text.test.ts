import fc from 'fast-check'
import { expect, it } from 'vitest'
import { clipText } from '../src/index.ts'

it.each([
  ['keeps a text of the maximum length', 'abc', 3, 'abc'],
  ['ends a longer one with an ellipsis', 'abcd', 3, 'ab…'],
  ['drops a character that the cut would split', 'a😀b', 3, 'a…'],
  ['keeps a character before the cut', '😀bc', 3, '😀…'],
  ['replaces half a character of a short text', 'a\ud83d', 3, 'a\uFFFD'],
])('%s', (_sentence, text, most, want) => {
  expect(clipText(text, most)).toBe(want)
})

it('returns at most the maximum, well-formed, and the same when cut again', () => {
  const units = fc.constantFrom('a', '😀', '\ud83d', '\ude00', '\uFFFD')
  fc.assert(
    fc.property(fc.array(units, { maxLength: 12 }), fc.integer({ min: 1, max: 12 }), (parts, most) => {
      const clipped = clipText(parts.join(''), most)
      expect(clipped.length).toBeLessThanOrEqual(most)
      expect(clipped.isWellFormed()).toBe(true)
      expect(clipText(clipped, most)).toBe(clipped)
    }),
  )
})
