import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { descriptions } from '../../scripts/packages.ts'
import { linksOf, readPages } from './pages.ts'

const records = readdirSync('docs/adr').filter((file) => file.endsWith('.md'))
const sections = ['Question', 'Forces', 'Decision', 'Rejected', 'Consequences', 'Look again when']

describe('docs/architecture.md', () => {
  it('has one entry for every package and app, in reading order', () => {
    const entries = [...readFileSync('docs/architecture.md', 'utf8').matchAll(/^\*\*`((?:packages\/)?[a-z-]+\/[a-z-]+)`\*\*/gm)].map(
      (match) => match[1],
    )
    expect(entries).toEqual(Object.keys(descriptions))
  })
})

describe('README.md', () => {
  it('links to every page of docs, or to its folder', () => {
    const links = readPages()
      .filter(({ path }) => path === 'README.md')
      .flatMap(linksOf)
    const pages = readdirSync('docs', { withFileTypes: true }).map((entry) => `docs/${entry.name}`)
    expect(pages.filter((page) => !links.some((link) => link === page || link.startsWith(`${page}/`)))).toEqual([])
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
    const text = readFileSync(`docs/adr/${file}`, 'utf8')
    expect(file).toMatch(/^\d{4}-[a-z0-9-]+\.md$/)
    expect(text).toMatch(new RegExp(`^# ${file.slice(0, 4)} · [A-Z]`))
    expect(text).toMatch(/^- Status: (proposed|accepted|superseded by \d{4})$/m)
    expect(text).toMatch(/^- Date: \d{4}-\d\d-\d\d · Decided by: \S/m)
    expect([...text.matchAll(/^## (.+)$/gm)].map((match) => match[1])).toEqual(sections)
  })
})
