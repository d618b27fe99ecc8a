import { systemClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { reportNodes, reportRevisions, reportRollout } from '@tranche/reports'
import { silentLogger } from '@tranche/telemetry'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ArgoApi, ArgoError, createArgoApi, rbacName } from '../src/argo-cd/argo-api.ts'
import { argoExchange } from '../src/argo-cd/argo-exchange.ts'
import { createArgoRights } from '../src/argo-cd/argo-rights.ts'
import type { ArgoNode, ArgoRef } from '../src/argo-cd/argo-types.ts'
import { lackText } from '../src/reading/lack.ts'
import { readRelease } from '../src/reading/read-release.ts'
import { type Cluster, key, startCluster } from './cluster.ts'
import { timeless } from './timeless.ts'

const application = { metadata: { name: 'agents', namespace: 'argocd' }, spec: { project: 'default' } }
const kinds = { Rollout: 'rollouts', DaemonSet: 'daemonSets', ControllerRevision: 'controllerRevisions', Pod: 'pods' } as const

let cluster: Cluster
/** Requests to Argo CD since the last test. */
let asked: string[]
/** Kinds that are not part of the application. */
let outside: readonly string[]
beforeAll(async () => {
  cluster = await startCluster([])
})
beforeEach(() => {
  asked = []
  outside = []
})
afterAll(() => cluster.simulator.stop())

/** Argo CD over the cluster, with an account that may do everything. */
const argo: ArgoApi = {
  async tree() {
    asked.push('tree')
    const lists = await Promise.all(Object.keys(kinds).map((kind) => nodesOf(kind as keyof typeof kinds)))
    return { nodes: lists.flat().filter(({ kind }) => !outside.includes(kind)) }
  },
  async resource({ kind, name, namespace = '' }) {
    asked.push(`GET ${kind} ${name}`)
    return JSON.stringify(await cluster.admin.get(pathOf(kind), { namespace, name }))
  },
  async patch({ kind, name }, { type, body }) {
    asked.push(`PATCH ${kind} ${name} as ${type}`)
    if (body.includes('refused')) throw new ArgoError(400, 'the server rejected our request')
    return JSON.stringify(await cluster.admin.get(pathOf(kind), { ...key, name }))
  },
  async events({ kind, uid }) {
    return { items: [{ metadata: { name: uid, resourceVersion: '1' }, involvedObject: { kind, name: key.name }, reason: 'Seen' }] }
  },
  username: async () => 'alice',
  mayUpdate: async () => false,
}

function pathOf(kind: string): ResourcePath {
  return resourcePaths[kinds[kind as keyof typeof kinds]]
}

/** The tree as Argo CD makes it: of pods only what it shows. */
async function nodesOf(kind: keyof typeof kinds): Promise<readonly ArgoNode[]> {
  const { group, version } = pathOf(kind)
  const { items } = await cluster.admin.list<KubeObject & { readonly spec?: { readonly nodeName?: string } }>(pathOf(kind), {
    namespace: key.namespace,
  })
  return items.map(({ metadata, spec }) => ({
    ...{ group, version, kind, name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
    namespace: key.namespace,
    createdAt: metadata.creationTimestamp ?? '',
    parentRefs: (metadata.ownerReferences ?? []).map((owner): ArgoRef => ({ ...owner, group: 'apps', version: 'v1' })),
    ...(kind === 'Pod' && {
      networkingInfo: { labels: metadata.labels ?? {} },
      info: [
        { name: 'Status Reason', value: 'Running' },
        { name: 'Node', value: spec?.nodeName ?? '' },
        { name: 'Containers', value: '1/1' },
      ],
    }),
  }))
}

function clientOf(api: ArgoApi = argo, nowMs: () => number = () => Date.now()): KubeClient {
  const exchange = argoExchange({ api, nowMs })
  return createKubeClient({ exchange, clock: systemClock, log: silentLogger, userAgent: 'tranche-argo-cd/0.1.0' })
}

describe('a release as Argo CD shows it', () => {
  it('has the reports of the cluster, without a request for a pod that is well', async () => {
    const { facts, lacks, hasNodes } = await readRelease({ client: clientOf(), clock: systemClock }, key)
    const whole = (await readRelease({ client: cluster.admin, clock: systemClock }, key)).facts
    const [seen, wanted] = [facts, whole].map((of) => timeless([reportRollout({ ...of, fleet: whole.fleet }), reportRevisions(of)]))
    expect(seen).toEqual(wanted)
    const places = [facts, whole].map((of) => reportNodes(of).map(({ name, state, role }) => [name, state, role]))
    expect(places[0]).toEqual(places[1])
    expect([lacks.map(lackText), hasNodes]).toEqual([['list nodes'], true])
    expect(asked.filter((request) => request.includes('Pod'))).toEqual([])
    expect(asked.filter((request) => request === 'tree')).toHaveLength(1)
  })

  it('reads the pods that are not well, for their reasons', async () => {
    const sick: ArgoApi = {
      ...argo,
      async tree() {
        const { nodes = [] } = await argo.tree()
        const [first] = nodes.filter(({ kind }) => kind === 'Pod')
        return { nodes: nodes.map((node) => (node === first ? { ...node, info: [{ name: 'Containers', value: '0/1' }] } : node)) }
      },
    }
    await readRelease({ client: clientOf(sick), clock: systemClock }, key)
    expect(asked.filter((request) => request.startsWith('GET Pod'))).toHaveLength(1)
  })

  it('names a DaemonSet that is not part of the application as missing', async () => {
    outside = ['DaemonSet']
    const { lacks } = await readRelease({ client: clientOf(), clock: systemClock }, key)
    expect(lacks.map(lackText)).toContain('get daemonsets.apps "agent" in namespace "demo"')
  })

  it('rejects a Rollout that is not part of the application', async () => {
    outside = ['Rollout']
    await expect(readRelease({ client: clientOf(), clock: systemClock }, key)).rejects.toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
  })
})

describe('an exchange that Argo CD carries', () => {
  it('sends a JSON Patch, and reports one whose test failed as an API server does', async () => {
    const client = clientOf()
    await client.patch(resourcePaths.rollouts, key, { type: 'json', body: [] })
    expect(asked).toContain('PATCH Rollout agent as application/json-patch+json')
    const refused = client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { refused: true } })
    await expect(refused).rejects.toMatchObject({ status: 422, reason: 'Invalid' })
  })

  it('reads events by the resources of the tree', async () => {
    const { items } = await clientOf().list(resourcePaths.events, { namespace: 'demo', fieldSelector: 'involvedObject.name=agent' })
    expect(items).toHaveLength(2)
  })

  it('refuses everything else without asking Argo CD', async () => {
    const client = clientOf()
    await expect(client.list(resourcePaths.nodes)).rejects.toMatchObject({ status: 403 })
    await expect(client.get(resourcePaths.customResourceDefinitions, { namespace: '', name: 'x' })).rejects.toMatchObject({ status: 403 })
    await expect(client.create(resourcePaths.events, { metadata: { name: 'x', namespace: 'demo' } })).rejects.toMatchObject({ status: 403 })
    await expect(client.text('/openapi/v3/apis/rollouts.kruise.io/v1beta1')).rejects.toMatchObject({ status: 403 })
    const watch = client.watch(resourcePaths.pods, { resourceVersion: '1' })[Symbol.asyncIterator]()
    await expect(watch.next()).rejects.toMatchObject({ status: 403 })
    expect(asked.filter((request) => request !== 'tree')).toEqual([])
  })

  it('asks for no second tree while Argo CD needs long for the first', async () => {
    let now = 0
    let trees = 0
    const first = Promise.withResolvers<void>()
    const slow: ArgoApi = {
      ...argo,
      async tree() {
        trees++
        await first.promise
        return argo.tree()
      },
    }
    const client = clientOf(slow, () => (now += 60_000))
    const reads = [1, 2, 3].map(() => client.get(resourcePaths.rollouts, key))
    await expect.poll(() => trees).toBe(1)
    first.resolve()
    await Promise.all(reads)
    expect(trees).toBe(1)
    await client.get(resourcePaths.rollouts, key)
    expect(trees).toBe(2)
  })

  it('asks again after a tree that could not be read', async () => {
    let isBroken = true
    const broken: ArgoApi = {
      ...argo,
      tree: () => (isBroken ? Promise.reject(new ArgoError(403, 'permission denied')) : argo.tree()),
    }
    const client = clientOf(broken)
    await expect(client.get(resourcePaths.rollouts, key)).rejects.toMatchObject({ status: 403 })
    isBroken = false
    await expect(client.get(resourcePaths.rollouts, key)).resolves.toMatchObject({ kind: 'Rollout' })
  })
})

describe('the API of Argo CD', () => {
  const requests: { readonly url: string; readonly init: RequestInit | undefined }[] = []
  const answering =
    (status: number, body: object): typeof fetch =>
    async (input, init) => {
      requests.push({ url: String(input), init })
      return Response.json(body, { status })
    }
  const ref = { group: '', version: 'v1', kind: 'Pod', namespace: 'demo', name: 'agent-1', uid: 'u' }
  const { signal } = new AbortController()

  it('is found below the base of the page, and takes a patch as a JSON string', async () => {
    requests.length = 0
    const api = createArgoApi(application, 'https://argo.example/argo-cd/', answering(200, { manifest: '{}' }))
    expect(await api.patch(ref, { type: 'application/json-patch+json', body: '[]' }, signal)).toBe('{}')
    const { url, init } = requests[0]!
    const { pathname, searchParams } = new URL(url)
    expect(pathname).toBe('/argo-cd/api/v1/applications/agents/resource')
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ appNamespace: 'argocd', project: 'default', namespace: 'demo', resourceName: 'agent-1' },
      ...{ version: 'v1', kind: 'Pod', group: '', patchType: 'application/json-patch+json' },
    })
    expect(init).toMatchObject({ method: 'POST', body: '"[]"', headers: { 'content-type': 'application/json' } })
  })

  it('rejects with the message of Argo CD', async () => {
    const api = createArgoApi(application, 'https://argo.example/', answering(403, { code: 7, message: 'permission denied' }))
    await expect(api.tree()).rejects.toEqual(new ArgoError(403, 'permission denied'))
  })

  it('asks for the right to update the application, under its name in rules', async () => {
    requests.length = 0
    const api = createArgoApi(application, 'https://argo.example/', answering(200, { value: 'no' }))
    const { items } = await createArgoRights(api, application).of(key, 'agent')
    expect(requests[0]?.url).toBe('https://argo.example/api/v1/account/can-i/applications/update/default/argocd/agents')
    expect(items).toContainEqual({
      action: 'undo',
      allowed: false,
      permission: 'update applications in Argo CD, on default/argocd/agents',
    })
    expect(rbacName({ metadata: { name: 'x' }, spec: { project: 'p' } })).toBe('p/x')
  })
})
