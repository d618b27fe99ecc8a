import { customResourceDefinitions, type DoctorReport, doctorReportSchema } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDoctor, type DoctorParts } from '../src/doctor/create-doctor.ts'
import { aSummary, type ApiStage, readsOf, startTestApi } from './fixtures.ts'

type Grant = Parameters<ApiStage['grant']>[2]

let stage: ApiStage
/** Requests of the checks to the API server, without reviews. */
let sent: string[]
/** Answers 403 to the service account. */
let refuses: (path: string) => boolean
/** Holds back the answers to the checks. */
let pending: Promise<void>
/** Namespaces of the API; undefined: all. */
let scope: readonly string[] | undefined

beforeEach(async () => {
  sent = []
  refuses = () => false
  pending = Promise.resolve()
  scope = undefined
  stage = await startTestApi(readsOf([aSummary()]), { withParts: (made) => ({ runDoctor: createDoctor(doctorParts(made)) }) })
  await furnish()
})
afterEach(() => stage.end())

describe('the doctor', () => {
  it('refuses a request without a token', async () => {
    const answer = await stage.app.inject({ method: 'GET', url: '/api/v1/doctor' })
    expect([answer.statusCode, answer.json()]).toEqual([401, expect.objectContaining({ code: 'TOKEN_INVALID' })])
    expect(sent).toEqual([])
  })

  it('examines the whole cluster for a user with all rights', async () => {
    const { checkedAt, items } = await reportFor('admin')
    expect(Date.parse(checkedAt)).toBe(stage.clock.nowMs())
    expect(items.filter(({ state }) => state === 'unknown').map(({ message }) => message)).toEqual([
      'Redis redis://redis.storage:6379 was not checked: only controllers and executors connect to it',
    ])
    expect(messageOf(items, 'controller')).toContain('leader-of-all holds the Lease')
    expect(messageOf(items, 'rights')).toBe('you have all 16 permissions that the commands need, in all namespaces')
    expect(messageOf(items, 'left')).toContain('vault/hidden-agent')
    expect(messageOf(items, 'webhook')).toContain('vault/hidden-secret')
    expect(messageOf(items, 'versions')).toContain('api is 7.7.7, and the REST API is 0.1.0')
  })

  it('reads for a user without rights only what every user may read', async () => {
    const { items } = await reportFor('viewer')
    expect(new Set(sent)).toEqual(new Set(open))
    const known = items.filter(({ state }) => state !== 'unknown').map(({ check }) => check)
    expect(known).toEqual(['server', 'resources', 'rights', 'clock'])
    const hidden = items.filter(({ state }) => state === 'unknown').map(({ message }) => message)
    expect(hidden.every((message) => message.startsWith('you may not '))).toBe(true)
    expect(JSON.stringify(items)).not.toMatch(secrets)
  })

  it('reads nothing for a user who may not even read the version of the API server', async () => {
    for (const name of ['system:discovery', 'system:public-info-viewer'])
      await admin().delete({ ...resourcePaths.nodes, group: RBAC, plural: 'clusterrolebindings' }, { namespace: '', name })
    const { items } = await reportFor('viewer')
    expect(sent).toEqual([])
    expect(items.filter(({ state }) => state !== 'unknown').map(({ check }) => check)).toEqual(['rights'])
    expect(messageOf(items, 'server')).toBe('you may not get /version')
  })

  it.each<{ title: string; rule: Grant; checks: readonly string[]; reads: readonly string[] }>([
    {
      title: 'the Lease of controllers',
      rule: { verbs: ['get'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['tranche-controller'] },
      checks: ['controller'],
      reads: ['/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/tranche-controller'],
    },
    {
      title: 'pods',
      rule: { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
      checks: ['versions'],
      reads: ['/api/v1/pods'],
    },
    {
      title: 'pods and reviews of other users',
      rule: { verbs: ['list', 'create'], apiGroups: ['', 'authorization.k8s.io'], resources: ['pods', 'subjectaccessreviews'] },
      checks: ['accounts', 'versions'],
      reads: ['/api/v1/pods'],
    },
    { title: 'Rollouts', rule: { verbs: ['list'] }, checks: [], reads: ['/apis/rollouts.kruise.io/v1beta1/rollouts'] },
    {
      title: 'webhooks, without their Secret',
      rule: {
        verbs: ['list'],
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      },
      checks: [],
      reads: [
        '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
        '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      ],
    },
  ])('reports to a user what the user may read, and no more: $title', async ({ rule, checks, reads }) => {
    await stage.grant('viewer', undefined, rule)
    const { items } = await reportFor('viewer')
    expect(new Set(sent)).toEqual(new Set([...open, ...reads]))
    const known = new Set(items.filter(({ state }) => state !== 'unknown').map(({ check }) => check))
    expect(known).toEqual(new Set(['server', 'resources', 'rights', 'clock', ...checks]))
  })

  it('reads single namespaces for a user with rights in them, and does not take unseen Rollouts for deleted ones', async () => {
    await stage.grant('viewer', 'demo', { verbs: ['list'] })
    await stage.grant('viewer', undefined, { verbs: ['list'], apiGroups: ['apps'], resources: ['daemonsets'] })
    const { items } = await reportFor('viewer')
    expect(sent).toContain('/apis/rollouts.kruise.io/v1beta1/namespaces/demo/rollouts')
    expect(items.filter(({ check }) => check === 'left')).toEqual([])
    expect(messageOf(items, 'rights')).toMatch(/^in namespace demo, you may not /)
  })

  it('says how many namespaces of a user it does not read', async () => {
    scope = Array.from({ length: 12 }, (_, at) => `n${String(at).padStart(2, '0')}`)
    for (const name of scope) {
      await admin().create(resourcePaths.namespaces, { metadata: { name } })
      await stage.grant('viewer', name, { verbs: ['list'] })
    }
    const { items } = await reportFor('viewer')
    expect(sent.filter((path) => path.endsWith('/rollouts'))).toHaveLength(10)
    expect(messageOf(items, 'left')).toContain('the Rollouts and DaemonSets of 2 of your 12 namespaces were not looked at, from n10 on')
  })

  it('answers about the rights of the user, not of its service account', async () => {
    await stage.grant('viewer', undefined, { verbs: ['list'], apiGroups: [''], resources: ['pods', 'nodes'] })
    const { items } = await reportFor('viewer')
    const rights = items.find(({ check }) => check === 'rights')
    expect(rights?.state).toBe('note')
    expect(rights?.message).toContain('patch daemonsets.apps')
    expect(rights?.message).not.toContain('list pods')
    expect(rights?.message).not.toContain('list nodes')
    expect(await reportFor('admin')).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ check: 'rights', state: 'ok' })]),
    })
  })

  it('names the rights that its service account lacks', async () => {
    refuses = (path) => /\/(pods|leases)\b/.test(path)
    const { items } = await reportFor('admin')
    expect(messageOf(items, 'controller')).toBe(
      'the service account of the REST API may not get leases.coordination.k8s.io tranche-controller in kube-system',
    )
    expect(messageOf(items, 'versions')).toBe('the service account of the REST API may not list pods in all namespaces')
    expect(items.filter(({ state }) => state === 'unknown').map(({ check }) => check)).toEqual([
      'accounts',
      'controller',
      'openkruise',
      'executor',
      'versions',
      'redis',
    ])
  })

  it('reads the namespaces of an API that may read only these, and names what its service account lacks', async () => {
    refuses = (path) => /\/(pods|daemonsets|rollouts|batchreleases)$/.test(path) && !path.includes('/namespaces/demo/')
    scope = ['demo']
    const { items } = await reportFor('admin')
    expect(
      sent
        .filter((path) => path.includes('/namespaces/demo/'))
        .map((path) => path.slice(path.lastIndexOf('/') + 1))
        .sort(),
    ).toEqual(['batchreleases', 'daemonsets', 'pods', 'rollouts'])
    expect(items.filter(({ check }) => check === 'left')).toEqual([])
    expect(messageOf(items, 'versions')).toBe('the service account of the REST API may not list pods in all namespaces')
  })

  it('runs once at a time for a user', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    pending = promise
    const first = reportFor('admin')
    await expect.poll(() => sent).toContain('/version')
    const second = await ask('admin')
    expect([second.statusCode, second.json()]).toEqual([
      429,
      expect.objectContaining({ code: 'RATE_LIMITED', detail: expect.stringContaining('a check of the cluster for user "admin"') }),
    ])
    resolve()
    await first
    await reportFor('admin')
  })

  it('fails as a whole while rights cannot be reviewed', async () => {
    await reportFor('viewer')
    stage.clock.advance(60_000)
    stage.breakReviews('failing')
    expect((await ask('viewer')).json()).toMatchObject({ code: 'REVIEW_UNAVAILABLE' })
  })

  it('uses the rights of the only user where the API has those', async () => {
    const reviewed: string[] = []
    const exchange: Exchange = (request, signal) => {
      reviewed.push(request.path)
      return stage.simulator.exchangeFor('viewer')(request, signal)
    }
    await stage.grant('viewer', undefined, { verbs: ['list'], apiGroups: [''], resources: ['pods'] })
    const parts = { ...doctorParts({ ...made!, exchange }), ownUser: true }
    const { items } = await createDoctor(parts)({ username: 'viewer', groups: ['people'] }, new AbortController().signal)
    expect(messageOf(items, 'versions')).toContain('and this command is 0.1.0')
    expect(messageOf(items, 'admission')).toMatch(/^you may not list /)
    expect(items.find(({ check }) => check === 'rights')).toMatchObject({ state: 'problem' })
    expect(messageOf(items, 'accounts')).toBe('you may not create subjectaccessreviews.authorization.k8s.io')
    expect(reviewed.filter((path) => path.includes('/selfsubjectaccessreviews'))).toHaveLength(16)
  })
})

const RBAC = 'rbac.authorization.k8s.io'
/** Paths that RBAC opens to every authenticated user. */
const open = [
  '/version',
  '/apis/rollouts.kruise.io/v1beta1',
  '/apis/tranche.dev/v1alpha1',
  '/openapi/v3/apis/rollouts.kruise.io/v1beta1',
  '/openapi/v3/apis/tranche.dev/v1alpha1',
]
/** Texts of the objects below that only their readers may learn. */
const secrets = /hidden|vault|leader-of-all|7\.7\.7|redis\.storage/

type Made = Pick<DoctorParts, 'reviews' | 'exchange'> & { readonly clock: DoctorParts['clock'] }
let made: Made | undefined

function doctorParts(given: Made): DoctorParts {
  made = given
  const exchange: Exchange = async (request, signal) => {
    const [path = ''] = request.path.split('?')
    if (!path.endsWith('accessreviews')) {
      sent.push(path)
      await pending
    }
    if (refuses(path)) return { status: 403, headers: {}, body: oneChunk('{"kind":"Status","code":403,"reason":"Forbidden"}') }
    return given.exchange(request, signal)
  }
  const client = createKubeClient({ exchange, clock: systemClock, userAgent: 'tranche-api/test', log: silentLogger })
  return {
    ...{ client, exchange, reviews: given.reviews, clock: given.clock, ownClock: systemClock },
    ownUser: false,
    get scope() {
      return scope
    },
    namespaces: () => ['demo', 'other'],
    leaseNamespace: 'kube-system',
    version: '0.1.0',
  }
}

async function* oneChunk(text: string): AsyncGenerator<string> {
  yield text
}

function admin() {
  return createKubeClient({ exchange: stage.simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
}

/** Definitions, a frozen leader, a pod of the chart, webhooks with their Secret, and a DaemonSet of a deleted Rollout. */
async function furnish(): Promise<void> {
  const client = admin()
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition as never)
  for (const name of ['vault', 'tranche-system']) await client.create(resourcePaths.namespaces, { metadata: { name } })
  const spec = { holderIdentity: 'leader-of-all', renewTime: '2026-01-01T00:00:00.000000Z', leaseDurationSeconds: 15 }
  await client.create(resourcePaths.leases, { metadata: { namespace: 'kube-system', name: 'tranche-controller' }, spec } as never)
  const labels = { 'app.kubernetes.io/part-of': 'tranche', 'app.kubernetes.io/component': 'api' }
  const container = { name: 'tranche', image: 'registry.example/tranche:7.7.7', args: ['api', '--redis=redis://redis.storage:6379'] }
  await client.create(resourcePaths.pods, {
    metadata: { namespace: 'tranche-system', name: 'tranche-api', labels },
    spec: { containers: [container] },
  } as never)
  for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'])
    await client.create({ ...resourcePaths.mutatingWebhookConfigurations, plural }, {
      metadata: { name: 'tranche', labels, annotations: { 'tranche.dev/webhook-secret': 'vault/hidden-secret' } },
      webhooks: [],
    } as never)
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a:1' }] } }
  await client.create(resourcePaths.daemonSets, {
    metadata: { namespace: 'vault', name: 'hidden-agent', annotations: { 'tranche.dev/rollout': 'hidden-agent' } },
    spec: { selector: { matchLabels: { app: 'a' } }, updateStrategy: { type: 'OnDelete' }, template },
  } as never)
}

function ask(user: string) {
  return stage.app.inject({ method: 'GET', url: '/api/v1/doctor', headers: stage.as(user) })
}

async function reportFor(user: string): Promise<DoctorReport> {
  const answer = await ask(user)
  return doctorReportSchema.parse(answer.json())
}

function messageOf(items: DoctorReport['items'], check: string): string {
  return items
    .filter((one) => one.check === check)
    .map(({ message }) => message)
    .join('\n')
}
