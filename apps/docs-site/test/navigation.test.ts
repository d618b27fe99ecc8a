import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { anchor, readNavigation } from '../src/index.ts'

it('the groups of the sidebar are the tables of docs/README.md, in their order', () => {
  const groups = readNavigation(readFileSync('docs/README.md', 'utf8'))
  expect(groups.map(({ title }) => title)).toEqual(['Start', 'Guides', 'Operations', 'Reference', 'Contribute'])
  const pages = groups.flatMap(({ pages }) => pages.map(({ path }) => path)).filter((path) => path.endsWith('.md'))
  const files = globSync('**/*.md', { cwd: 'docs' }).filter((path) => path !== 'README.md' && !path.startsWith('contribute/adr/'))
  expect(pages.toSorted()).toEqual(files.toSorted())
})

it('a heading without a table below it is no group', () => {
  expect(readNavigation('# T\n\n## Use\n\n### Start\n\n| page | answers |\n|---|---|\n| [A](a.md) | b |\n')).toEqual([
    { title: 'Start', pages: [{ title: 'A', path: 'a.md' }] },
  ])
})

it.each([
  ['Why is my DaemonSet on OnDelete?', 'why-is-my-daemonset-on-ondelete'],
  ['Deleting a Rollout: tranche.dev/on-delete', 'deleting-a-rollout-tranchedevon-delete'],
  ['`--nodes` – how many', '--nodes--how-many'],
])('the anchor of "%s" is that of GitHub', (heading, expected) => {
  expect(anchor(heading)).toBe(expected)
})
