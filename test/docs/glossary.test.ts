import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { outcomes, actionTypes } from '../../packages/words/api-schema/src/index.ts'

const page = readFileSync('docs/reference/glossary.md', 'utf8')
const words = [...page.matchAll(/^\| \*\*([^*]+)\*\*/gm)].map(([, word]) => word)

describe('docs/reference/glossary.md', () => {
  it('defines each word once', () => {
    expect(words.length).toBeGreaterThan(40)
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([])
  })

  it('stays under 70 rows', () => {
    expect(words.length).toBeLessThan(70)
  })

  it.each([
    ['action', actionTypes],
    ['outcome', outcomes],
  ] as const)('names every %s', (_kind, names) => {
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`, 'i').test(page))).toEqual([])
  })
})
