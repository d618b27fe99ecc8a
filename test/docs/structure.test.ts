import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { descriptions } from '../../scripts/packages.ts'
import { linksOf, readPages } from './pages.ts'

const records = readdirSync('docs/contribute/adr').filter((file) => file.endsWith('.md'))
const sections = ['Question', 'Forces', 'Decision', 'Rejected', 'Consequences', 'Look again when']

describe('docs/contribute/architecture.md', () => {
  it('has one entry for every package and app, in reading order', () => {
    const entries = [
      ...readFileSync('docs/contribute/architecture.md', 'utf8').matchAll(/^\*\*`((?:packages\/)?[a-z-]+\/[a-z-]+)`\*\*/gm),
    ].map((match) => match[1])
    expect(entries).toEqual(Object.keys(descriptions))
  })
})

describe('docs/README.md, the index', () => {
  const [, use = '', contribute = ''] = readFileSync('docs/README.md', 'utf8').split(/^## (?:Use|Contribute)$/m)
  const pages = readPages().filter(({ path }) => path.startsWith('docs/') && path !== 'docs/README.md')
  const isForContributors = (path: string): boolean => path.startsWith('docs/contribute/')

  it.each([
    ['users', use, pages.filter(({ path }) => !isForContributors(path)).map(({ path }) => path)],
    [
      'contributors',
      contribute,
      [
        ...pages.filter(({ path }) => isForContributors(path) && !path.startsWith('docs/contribute/adr/')).map(({ path }) => path),
        'docs/contribute/adr/',
      ],
    ],
  ])('lists every page for %s exactly once, with the question that it answers', (_whom, list, expected) => {
    const rows = [...list.matchAll(/^\| \[[^\]]+\]\(([^)]+)\) \| \S.* \|$/gm)].map(([, path = '']) => `docs/${path}`)
    expect(rows.toSorted()).toEqual(expected.toSorted())
  })

  it.each(['README.md', 'CONTRIBUTING.md'])('is linked from %s', (path) => {
    expect(linksOf({ path, text: readFileSync(path, 'utf8') }).map((link) => link.split('#')[0])).toContain('docs/README.md')
  })

  // So a user can skip such a link, which never leads to something that users need.
  it('is right: a page for users links into docs/contribute only behind the words why, proof, tests and internals', () => {
    const links = pages
      .filter(({ path }) => !isForContributors(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\[([^\]]*)\]\([^)]*\bcontribute\/[^)]*\)/g)].map(([link, label = '']) => ({ path, link, label })),
      )
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter(({ label }) => !['why', 'proof', 'tests', 'internals'].includes(label))).toEqual([])
  })
})

describe('recipes of CONTRIBUTING.md', () => {
  const [, section = ''] = readFileSync('CONTRIBUTING.md', 'utf8').split(/^## Recipes$/m)
  const recipes = section
    .split(/^## /m)[0]!
    .split(/^### /m)
    .slice(1)
    .map((text) => ({ title: text.split('\n')[0] ?? '', text }))

  it('show how to add what contributors add most', () => {
    expect(recipes.map(({ title }) => title)).toEqual([
      'Add a CR field',
      'Add a metric',
      'Add a rule of the pass (planPass)',
      'Add a REST route',
    ])
  })

  it.each(recipes)('$title: names files that exist, and the tests that fail until it is complete', ({ text }) => {
    const paths = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)`/g)].map(([, path = '']) => path)
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
    const [, last = ''] = text.split('Fails until then: ')
    expect(last.match(/[\w/.-]+\.test\.ts/g)?.length).toBeGreaterThan(1)
  })
})

describe('decision records', () => {
  it('are numbered without a gap', () => {
    expect(records.toSorted().map((file) => Number(file.slice(0, 4)))).toEqual(records.map((_, index) => index + 1))
  })

  it.each(records)('%s has its number in the title, a status, a date, and all sections in order', (file) => {
    const text = readFileSync(`docs/contribute/adr/${file}`, 'utf8')
    expect(file).toMatch(/^\d{4}-[a-z0-9-]+\.md$/)
    expect(text).toMatch(new RegExp(`^# ${file.slice(0, 4)} · [A-Z]`))
    expect(text).toMatch(/^- Status: (proposed|accepted|superseded by \d{4})$/m)
    expect(text).toMatch(/^- Date: \d{4}-\d\d-\d\d · Decided by: \S/m)
    expect([...text.matchAll(/^## (.+)$/gm)].map((match) => match[1])).toEqual(sections)
  })
})
