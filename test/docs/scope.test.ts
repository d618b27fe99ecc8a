import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

interface Rule {
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

const rules = parse(readFileSync('charts/tranche/files/rules.yaml', 'utf8')) as {
  readonly Scoped: Readonly<Record<string, { readonly Cluster: readonly Rule[] }>>
}
const page = readFileSync('docs/operations/processes.md', 'utf8')
const section = page.slice(page.indexOf('## A part of the cluster')).split(/^## /m)[1] ?? ''
/** Words of the page for resources that are watched outside of the namespaces. */
const words: Readonly<Record<string, string>> = {
  nodes: 'nodes',
  leases: 'one Lease',
  mutatingwebhookconfigurations: 'one webhook of OpenKruise',
}

it('docs/operations/processes.md names everything that a process with limited namespaces watches outside of them', () => {
  const watched = ['tranche-controller', 'tranche-executor'].flatMap((name) =>
    (rules.Scoped[name]?.Cluster ?? []).filter(({ verbs }) => verbs.includes('watch')).flatMap(({ resources }) => resources),
  )
  expect([...new Set(watched)].toSorted()).toEqual(Object.keys(words).toSorted())
  expect(Object.values(words).filter((word) => !section.replaceAll('\n', ' ').includes(word))).toEqual([])
})
