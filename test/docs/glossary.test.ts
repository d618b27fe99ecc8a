import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { descriptions } from '../../scripts/packages.ts'
import { outcomes, actionTypes } from '../../packages/words/api-schema/src/index.ts'

const page = readFileSync('docs/glossary.md', 'utf8')
const words = [...page.matchAll(/^\| \*\*([^*]+)\*\*/gm)].flatMap(([, cell = '']) => cell.split(/, | \/ /))

/** Words in names of packages that are not the domain's: of a library, of a format, or of how software is made. */
const general = new Set(
  'api bullmq cel certificates cli client clock cluster conformance connections errors faults kube log manifests metrics nodes otlp queue reconcile schema sim testing types validation wire'.split(
    ' ',
  ),
)

describe('docs/glossary.md', () => {
  it('tells each word once', () => {
    expect(words.length).toBeGreaterThan(120)
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([])
  })

  it('has every word of the domain by which a package is called, itself or its root', () => {
    const names = Object.keys(descriptions).map((path) => path.split('/').at(-1) ?? '')
    const own = names.filter((name) => !words.includes(name.replace('-', ' ').replace(/s$/, ''))).flatMap((name) => name.split('-'))
    const missing = own.filter((part) => !general.has(part) && !formsOf(part).some((form) => words.includes(form)))
    expect([...new Set(missing)]).toEqual([])
  })

  it.each([
    ['action', actionTypes],
    ['outcome', outcomes],
  ] as const)('names every %s', (_kind, names) => {
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`, 'i').test(page))).toEqual([])
  })
})

/** Of a planner the plan, of steering to steer. */
function formsOf(word: string): readonly string[] {
  return [
    word,
    ...[/s$/, /es$/, /er$/, /ner$/, /ing$/].map((ending) => word.replace(ending, '')),
    word.replace(/ier$/, 'y'),
    word.replace(/ing$/, 'e'),
  ]
}
