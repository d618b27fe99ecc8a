import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accountRules } from '../../scripts/security-page.ts'
import { rowsOf } from './test-names.ts'

const rules = accountRules()
const readings = new Set(['get', 'list', 'watch'])

/** Rules by account, resource and verb, as `controller: patch pods`. */
const grants = rules.flatMap(({ account, apiGroups, resources, verbs, resourceNames, namespace }) =>
  resources.flatMap((resource) => verbs.map((verb) => ({ account, group: apiGroups[0] ?? '', resource, verb, resourceNames, namespace }))),
)

describe('docs/operations/security.md is right about all Tranche accounts:', () => {
  it('there are such accounts, and each rule has a purpose', () => {
    expect(new Set(rules.map(({ account }) => account)).size).toBeGreaterThan(3)
    expect(rules.filter(({ why }) => why === '')).toEqual([])
  })

  it('nothing is granted by a wildcard', () => {
    expect(rules.filter(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs].includes('*'))).toEqual([])
  })

  it('Secrets are named one by one, in one namespace, except where the installation lists namespaces whose Secrets are pinned', () => {
    const isOfPins = ({ account }: (typeof grants)[number]): boolean => account === 'controller, with `--pin-secret-namespace`'
    const secrets = grants.filter((grant) => grant.resource === 'secrets' && !isOfPins(grant))
    expect(new Set(grants.filter(isOfPins).map(({ resource }) => resource))).toEqual(new Set(['secrets']))
    expect(readFileSync('charts/tranche/values.yaml', 'utf8')).toContain('\n  pinSecretNamespaces: []\n')
    expect(secrets.filter(({ resourceNames, namespace }) => resourceNames === undefined || namespace === '')).toEqual([])
    expect(secrets.filter(({ verb }) => ['list', 'watch', 'create', 'delete'].includes(verb))).toEqual([])
  })

  it('pods are created by executors alone, and only with a permission that the chart grants by rbac.prePull', () => {
    expect(grants.filter(({ resource, verb }) => resource === 'pods' && verb === 'create').map(({ account }) => account)).toEqual([
      'executor, with `--pre-pull`',
    ])
    expect(readFileSync('charts/tranche/values.yaml', 'utf8')).toContain('\n  prePull: false\n')
  })

  it('accounts create, enter or forward to no pods, impersonate no user, and grant no right; only for drains they change nodes', () => {
    const forbidden = grants.filter(
      ({ account, group, resource, verb }) =>
        (account !== 'executor, with `--pre-pull`' && resource === 'pods' && verb === 'create') ||
        /^(pods|nodes|serviceaccounts)\//.test(resource) ||
        (resource === 'nodes' && !readings.has(verb)) ||
        ['impersonate', 'escalate', 'bind'].includes(verb) ||
        group === 'rbac.authorization.k8s.io',
    )
    expect(forbidden.map(({ account, verb, resource }) => `${account}: ${verb} ${resource}`)).toEqual([
      'executor, with `--drain-namespace`: patch nodes',
      'executor, with `--drain-namespace`: create pods/eviction',
      'executor, with `--drain-conditions`: patch nodes/status',
    ])
  })

  it('the executor alone deletes pods, and it writes no template', () => {
    expect(grants.filter(({ resource, verb }) => resource === 'pods' && verb === 'delete').map(({ account }) => account)).toEqual([
      'executor',
    ])
    expect(
      grants.filter(({ account, resource, verb }) => account === 'executor' && resource === 'daemonsets' && !readings.has(verb)),
    ).toEqual([])
  })

  it('templates of DaemonSets can be written by the controller and the REST API', () => {
    const writing = grants.filter(({ resource, verb }) => resource === 'daemonsets' && !readings.has(verb))
    expect(writing.map(({ account, verb }) => `${account}: ${verb}`)).toEqual(['controller: patch', 'REST API: patch'])
  })
})

describe.each([
  { of: 'references that Tranche follows', mark: 'trust', least: 20 },
  { of: 'attacks that were tried', mark: 'attacks', least: 12 },
])('the table of $of, in docs/operations/security.md,', ({ mark, least }) => {
  const page = readFileSync('docs/operations/security.md', 'utf8')
  const [, table = ''] = new RegExp(`<!-- ${mark} -->\\n([\\s\\S]*?)<!-- end -->`).exec(page) ?? []
  const rows = rowsOf(table)

  it('has the target, the required right and the check in each row', () => {
    expect(rows.length).toBeGreaterThan(least)
    expect(rows.filter((row) => row.length !== 4 || row.includes(''))).toEqual([])
  })

  it.each(rows.map((row) => ({ followed: row[0], heldBy: row[3] ?? '' })))('names existing tests for $followed', ({ heldBy }) => {
    const tests = [...heldBy.matchAll(/\]\(\.\.\/\.\.\/([^)]+\.test\.ts)\) "([^"]+)"/g)].map(([, file = '', name = '']) => ({ file, name }))
    expect(tests.length).toBe(heldBy.split('](').length - 1)
    expect(tests.filter(({ file, name }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(`'${name}'`))).toEqual([])
  })
})
