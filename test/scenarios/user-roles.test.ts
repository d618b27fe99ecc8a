import { readFileSync } from 'node:fs'
import { actionTypes } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { createKubeClient } from '@tranche/kube-client'
import { createSimulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'
import { beforeAll, describe, expect, it } from 'vitest'
import { chartRules } from '../../scripts/chart-rules.ts'

/** Roles of docs/operations/permissions.md, which the chart installs. */
const { ClusterRole: page } = chartRules()
const groups = { rollouts: 'rollouts.kruise.io', daemonsets: 'apps' } as const
type Right = `${string} ${keyof typeof groups}`

/** Rights that routes of the REST API require in a namespace, as docs/guides/rest.md lists them. */
const required = rightsOfRoutes()
const reading: readonly Right[] = ['get rollouts', 'list rollouts']
const acting = actionTypes.map((type): Right => `${type} rollouts`)

const clock = new VirtualClock()
const cluster = createSimulator({ clock, nodes: 0 })
const admin = cluster.clientFor({ name: 'admin' })
const client = createKubeClient({ exchange: cluster.exchangeFor('admin'), clock, userAgent: 'reviews/1', log: silentLogger })

beforeAll(async () => {
  for (const [name, rules] of Object.entries(page)) {
    const to = /^tranche-aggregate-(\w+)$/.exec(name)?.[1]
    const labels = to === undefined ? {} : { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' }
    await admin.create(resources.clusterRoles, { metadata: { name, labels }, rules })
  }
})

describe('the routes of the REST API', () => {
  it('require one right for each action, and rights to read', () => {
    expect([...required].toSorted()).toEqual([...reading, ...acting, 'get daemonsets', 'patch daemonsets'].toSorted())
  })

  it.each<[string, readonly Right[]]>([
    ['tranche-viewer', reading],
    ['tranche-approver', [...reading, 'approve rollouts', 'pause rollouts', 'resume rollouts']],
    ['tranche-operator', [...required]],
    ['view', [...reading, 'get daemonsets']],
    ['edit', [...required]],
    ['admin', [...required]],
  ])('accept a user with the role %s for exactly what the role is for', async (role, expected) => {
    const namespace = `with-${role}`
    const apiGroup = 'rbac.authorization.k8s.io'
    await admin.create(resources.namespaces, { metadata: { name: namespace } })
    await admin.create(resources.roleBindings, {
      metadata: { name: role, namespace },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup, kind: 'User', name: role }],
    })
    expect(await allowed(role, namespace)).toEqual([...expected].toSorted())
    expect(await allowed(role, 'default')).toEqual([])
  })

  it.each(['tranche-viewer', 'tranche-approver', 'tranche-operator'])('need every right of %s', (role) => {
    const rights = page[role]!.flatMap(({ verbs = [], resources: plural = [] }) =>
      verbs.flatMap((verb) => plural.map((one) => `${verb} ${one}`)),
    )
    expect(rights.filter((right) => !required.has(right as Right))).toEqual([])
  })
})

/** @returns the required rights that the API server confirms for a user, sorted */
async function allowed(user: string, namespace: string): Promise<readonly Right[]> {
  const answers = await Promise.all([...required].map(async (right) => ((await isAllowed(user, namespace, right)) ? [right] : [])))
  return answers.flat().toSorted()
}

async function isAllowed(user: string, namespace: string, right: Right): Promise<boolean> {
  const [verb, resource] = right.split(' ') as [string, keyof typeof groups]
  const resourceAttributes = { namespace, verb, group: groups[resource], resource, name: 'agent' }
  const apiVersion = 'authorization.k8s.io/v1'
  const review = { apiVersion, kind: 'SubjectAccessReview', metadata: {}, spec: { user, resourceAttributes } }
  const answer = (await client.create(accessReviews, review)) as { readonly status?: { readonly allowed?: boolean } }
  return answer.status?.allowed === true
}

const accessReviews = { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews', namespaced: false }

function rightsOfRoutes(): ReadonlySet<Right> {
  const text = readFileSync('docs/guides/rest.md', 'utf8')
  const [table = ''] = /^\| route \| needs \|\n(?:\|.*\n)+/m.exec(text) ?? []
  return new Set([...table.matchAll(/`(\w+)` (?:on )?(rollouts|daemonsets)/g)].map(([, verb, resource]) => `${verb} ${resource}` as Right))
}
