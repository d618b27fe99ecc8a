import { expect, it } from 'vitest'
import { siteTargetOf } from '../src/index.ts'

const repository = 'https://git.example.com/tranche/blob/main/'

it.each([
  ['another page', 'guides/cli.md', '../faq.md#do-i-need-redis', '../faq.md#do-i-need-redis'],
  ['an anchor of the page', 'guides/cli.md', '#wait', '#wait'],
  ['an address', 'guides/cli.md', 'https://example.com/a.md', 'https://example.com/a.md'],
  ['an image', 'guides/dashboard.md', 'images/a.png', 'images/a.png'],
  ['the index, from a folder', 'guides/cli.md', '../README.md#use', '../#use'],
  ['the index, from beside it', 'faq.md', 'README.md', './'],
  ['the folder of the records', 'README.md', 'contribute/adr/', 'contribute/adr/0001-use-client-node-for-kubeconfig-only.md'],
])('a link to %s stays on the site', (_what, page, href, target) => {
  expect(siteTargetOf(page, href, repository)).toEqual({ kind: 'link', href: target })
})

it.each([
  ['a file of a package', 'contribute/fence.md', '../../packages/core/fence/src/index.ts#L3', 'packages/core/fence/src/index.ts#L3'],
  ['the README of the repository', 'tutorial.md', '../README.md#five-minute-start', 'README.md#five-minute-start'],
  ['raw data', 'benchmarks.md', 'benchmarks/data/pace.json', 'docs/benchmarks/data/pace.json'],
  ['a folder', 'guides/flux.md', '../../examples/gitops/', 'examples/gitops/'],
])('a link to %s leads to the repository', (_what, page, href, target) => {
  expect(siteTargetOf(page, href, repository)).toMatchObject({ kind: 'repository', href: `${repository}${target}` })
})

it('a link into a repository without an address has none either, and keeps the path', () => {
  expect(siteTargetOf('tutorial.md', '../README.md#start', null)).toEqual({ kind: 'repository', path: 'README.md', href: null })
})
