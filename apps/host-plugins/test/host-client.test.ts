import type { Rollout } from '@tranche/api-schema'
import type { ApiClient } from '@tranche/api-client'
import { systemClock } from '@tranche/clock'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { createKubeReleaseClient, readOwnUsername } from '@tranche/release-client'
import { silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOwnRights } from '../src/client/own-rights.ts'
import { createHostClient } from '../src/index.ts'
import { headlampExchange } from '../src/headlamp/headlamp-exchange.ts'
import { readFleet, readRelease } from '../src/reading/read-release.ts'
import { createReleaseCache } from '../src/reading/release-cache.ts'
import { type Cluster, key, startCluster, writeStatus } from './cluster.ts'
import { timeless } from './timeless.ts'
import { type HeadlampServer, serveHeadlamp } from './headlamp-server.ts'

let cluster: Cluster
let headlamp: HeadlampServer
beforeAll(async () => {
  cluster = await startCluster(['operator', 'viewer'])
  await cluster.grant('operator', ['tranche-cli-operator'])
  await cluster.grant('viewer', ['tranche-cli-viewer'])
  headlamp = await serveHeadlamp((user) => cluster.exchangeOf(user))
})
afterAll(() => {
  headlamp.close()
  cluster.simulator.stop()
})

/** Client of the pages, over HTTP as in Headlamp. */
function clientOf(user: string, change: (exchange: Exchange) => Exchange = (exchange) => exchange): ApiClient {
  const exchange = change(headlampExchange({ clusterRequest: headlamp.clusterRequest(user) }, 'demo'))
  const client = createKubeClient({ exchange, clock: systemClock, log: silentLogger, userAgent: 'tranche-headlamp/0.1.0' })
  const reader = { client, clock: systemClock }
  return createHostClient({
    ...{ client, clock: systemClock, rights: createOwnRights(client), component: 'tranche-headlamp' },
    username: () => readOwnUsername(client),
    releases: createReleaseCache((of) => readRelease(reader, of), systemClock),
    readFleet: () => readFleet(reader, ['demo']),
  })
}

describe('the client of the pages in a host', () => {
  it('answers what the command line reads, for the same user', async () => {
    const host = clientOf('admin')
    const ports = { client: cluster.admin, clock: systemClock, log: silentLogger, component: 'tranche-cli', via: 'cli' } as const
    const cli = createKubeReleaseClient(ports)
    const [node] = await cli.nodes(key)
    expect(timeless(await host.rollout(key))).toEqual(timeless(await cli.report(key)))
    expect(await host.allNodes(key)).toEqual(await cli.nodes(key))
    expect(timeless(await host.explain(key))).toEqual(timeless(await cli.explain(key)))
    expect(timeless(await host.explainNode(key, node!.name))).toEqual(timeless(await cli.explain(key, node!.name)))
    expect(await host.history(key)).toEqual(await cli.history(key))
    expect(await host.events(key)).toEqual(await cli.events(key))
    expect((await host.nodes(key)).total).toBe(3)
    expect((await host.rollouts()).items).toHaveLength(1)
    const [revision] = await host.revisions(key)
    expect(await host.revision(key, revision!.revision)).toEqual(await cli.template(key, revision!.revision))
    expect(await host.batches(key)).toEqual((await cli.picture(key)).batches)
    expect(await host.policy(key)).toMatchObject({ found: false, sections: expect.any(Array) as unknown })
  })

  it('knows the rights of its user: an action is a patch of the Rollout, undo and restart of the DaemonSet', async () => {
    const { items, template } = await clientOf('viewer').permissions(key)
    expect(template).toBe(true)
    expect(items).toContainEqual({
      action: 'approve',
      allowed: false,
      permission: 'patch rollouts.rollouts.kruise.io "agent" in namespace "demo"',
    })
    expect(items).toContainEqual({ action: 'undo', allowed: false, permission: 'patch daemonsets.apps "agent" in namespace "demo"' })
    const operator = await clientOf('operator').permissions(key)
    expect(operator.items.filter(({ allowed }) => !allowed)).toEqual([])
  })

  it('says in words what the user may not do', async () => {
    await expect(clientOf('viewer').act(key, 'approve', { expectedStep: 1 })).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      message: 'You may not approve this: the host refused the write.',
    })
    await expect(clientOf('viewer').events(key)).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      message: 'You may not list events in namespace "demo".',
    })
  })

  it('has the events of a node and its pod that the user may list', async () => {
    const [{ name, pod = '' } = { name: '' }] = await clientOf('admin').allNodes(key)
    const node = await cluster.admin.get<KubeObject>(resourcePaths.nodes, { namespace: '', name })
    const found = await cluster.admin.get<KubeObject>(resourcePaths.pods, { namespace: 'demo', name: pod })
    const about = { Pod: found.metadata, Node: node.metadata }
    for (const [kind, { namespace, name: of, uid }] of Object.entries(about)) {
      const event = { metadata: { name: `about-${of}`, namespace: namespace ?? 'default' }, reason: kind, message: '', type: 'Normal' }
      await cluster.admin.create(resourcePaths.events, { ...event, involvedObject: { kind, namespace, name: of, uid } } as never)
    }
    const { items, omitted } = await clientOf('admin').nodeEvents(key, name)
    expect(items.map(({ object }) => object)).toEqual(expect.arrayContaining([`Pod/${pod}`, `Node/${name}`]))
    expect(omitted).toEqual([])
    expect(await clientOf('viewer').nodeEvents(key, name)).toEqual({
      items: [],
      omitted: expect.arrayContaining([
        { of: 'pod', lacks: 'caller', permission: 'list events in namespace "demo"' },
        { of: 'node', lacks: 'caller', permission: 'list events in namespace "default"' },
      ]) as unknown,
    })
    await expect(clientOf('admin').nodeEvents(key, 'no-such-node')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' })
  })

  it('refuses what needs a server of Tranche', async () => {
    const client = clientOf('admin')
    await expect(client.plan(key, {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.stream({ signal: new AbortController().signal }).next()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(client.explainNode(key, 'no-such-node')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' })
  })

  it('writes an action as the user, once, and never over a change that it has not seen', async () => {
    let isFirst = true
    const interfered = clientOf('operator', (exchange) => async (request, signal) => {
      if (request.method === 'PATCH' && isFirst) {
        isFirst = false
        await writeStatus(cluster.admin, { message: 'changed meanwhile' })
      }
      return exchange(request, signal)
    })
    const call = { idempotencyKey: 'one-dialog' }
    const answer = await interfered.act(key, 'approve', { expectedStep: 1, reason: 'looks good' }, call)
    expect(answer).toMatchObject({ type: 'approve', state: 'accepted', repeated: false })
    expect(await interfered.act(key, 'approve', { expectedStep: 1, reason: 'looks good' }, call)).toMatchObject({ repeated: true })
    const { metadata, status } = await cluster.admin.get<Rollout>(resourcePaths.rollouts, key)
    expect(status?.message).toBe('changed meanwhile')
    const record = JSON.parse(metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION] ?? '[]') as readonly object[]
    expect(record).toMatchObject([{ type: 'approve', by: 'operator', via: 'cli', reason: 'looks good', expectedStep: 1 }])
    expect(isFirst).toBe(false)
    await expect(clientOf('operator').act(key, 'approve', { expectedStep: 2 })).rejects.toMatchObject({
      code: expect.stringMatching(/MOVED_ON|ACTION_PENDING/) as unknown,
    })
  })
})
