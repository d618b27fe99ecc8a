import { systemClock } from '@tranche/clock'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { readAllFacts, readFacts } from '@tranche/release-client'
import { type ReleaseFacts, reportNodes, reportRevisions, reportRollout, summarizeRollout } from '@tranche/reports'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lackText } from '../src/reading/lack.ts'
import { readFleet, readRelease, readVersions, type ReadRelease } from '../src/reading/read-release.ts'
import { timeless } from './timeless.ts'
import { type Cluster, key, startCluster } from './cluster.ts'

/** Names the DaemonSet of the cluster's Rollout, without its metadata. */
const anotherRollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  spec: {
    disabled: true,
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: '100%' }] } },
  },
} as const

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(['viewer', 'podless', 'narrow', 'outsider'])
  await cluster.grant('viewer', ['tranche-cli-viewer'])
  const get = (apiGroup: string, resource: string, ...verbs: string[]): object => ({ apiGroups: [apiGroup], resources: [resource], verbs })
  await cluster.allow('podless', get('rollouts.kruise.io', 'rollouts', 'get'), get('apps', 'daemonsets', 'get'))
  await cluster.allow('narrow', get('rollouts.kruise.io', 'rollouts', 'get', 'list'))
})
afterAll(() => cluster.simulator.stop())

function read(user: string): Promise<ReadRelease> {
  return readRelease(readerOf(cluster.clientOf(user)), key)
}

function readerOf(client: KubeClient): { client: KubeClient; clock: typeof systemClock } {
  return { client, clock: systemClock }
}

describe('reading one release', () => {
  it('gives a user with all rights the reports of the command line', async () => {
    const { facts, lacks, hasNodes } = await read('admin')
    const wanted = await readFacts(readerOf(cluster.admin), key)
    const reports = (of: ReleaseFacts): readonly unknown[] => [reportRollout(of), reportNodes(of), reportRevisions(of)].map(timeless)
    expect(reports(facts)).toEqual(reports(wanted))
    expect(reportNodes(facts)).toHaveLength(3)
    expect([lacks, hasNodes]).toEqual([[], true])
  })

  it('shows a user without a right on nodes those that have a pod, and names the right', async () => {
    const { facts, lacks, hasNodes } = await read('viewer')
    const [seen, whole] = [facts, (await read('admin')).facts].map((of) =>
      reportNodes(of).map(({ name, state, role }) => [name, state, role]),
    )
    expect(seen).toEqual(whole)
    expect(summarizeRollout(facts).nodes).toEqual(summarizeRollout((await read('admin')).facts).nodes)
    expect([lacks.map(lackText), hasNodes]).toEqual([['list nodes'], true])
  })

  it('shows a user without a right on pods the counts of the DaemonSet, and no node', async () => {
    const { facts, lacks, hasNodes } = await read('podless')
    const { nodes, steps } = reportRollout(facts)
    expect(nodes).toMatchObject({ desired: 3, updated: 3, updatedAvailable: 3, unavailable: 0 })
    expect(steps.map((step) => step.nodes)).toEqual([1, 3])
    expect(hasNodes).toBe(false)
    expect(lacks.map(lackText).toSorted()).toEqual([
      'get batchreleases.rollouts.kruise.io "agent" in namespace "demo"',
      'list controllerrevisions.apps in namespace "demo"',
      'list nodes',
      'list pods in namespace "demo"',
    ])
  })

  it('shows a user who may read only the Rollout its status', async () => {
    const { facts, lacks } = await read('narrow')
    expect(reportRollout(facts)).toMatchObject({ message: 'waits for approval', step: { index: 1, count: 2 } })
    expect(lacks.map(lackText)).toContain('get daemonsets.apps "agent" in namespace "demo"')
  })

  it('rejects a user who may not read the Rollout, and a Rollout that does not exist', async () => {
    await expect(read('outsider')).rejects.toMatchObject({ code: 'ACCESS_DENIED', message: expect.stringContaining('"demo"') as unknown })
    const other = { namespace: 'demo', name: 'other' }
    await expect(readRelease(readerOf(cluster.admin), other)).rejects.toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
  })

  it('has other versions after a change of the Rollout only', async () => {
    const reader = readerOf(cluster.clientOf('viewer'))
    const before = await readVersions(reader, key)
    expect(await readVersions(reader, key)).toBe(before)
    await cluster.admin.patch(resourcePaths.rollouts, key, { type: 'merge', body: { metadata: { labels: { changed: 'yes' } } } })
    expect(await readVersions(reader, key)).not.toBe(before)
  })
})

describe('reading a fleet', () => {
  it('gives a user with all rights the summaries of the command line', async () => {
    const { facts, lacks } = await readFleet(readerOf(cluster.admin), null)
    const wanted = await readAllFacts(readerOf(cluster.admin), {})
    expect(facts.map(summarizeRollout).map(timeless)).toEqual(wanted.map(summarizeRollout).map(timeless))
    expect([facts.length, lacks]).toEqual([1, []])
  })

  it('lists the namespaces that the user may list, and leaves out the others', async () => {
    const { facts, lacks } = await readFleet(readerOf(cluster.clientOf('viewer')), ['demo', 'secret'])
    expect(facts.map(summarizeRollout)).toMatchObject([{ ...key, nodes: { desired: 3 } }])
    expect(lacks.map(lackText)).toContain('list rollouts.rollouts.kruise.io in namespace "secret"')
  })

  it('lists the pods of a DaemonSet once, however many Rollouts name it, and shares its fleet', async () => {
    for (const name of ['second', 'third'])
      await cluster.admin.create(resourcePaths.rollouts, { ...anotherRollout, metadata: { ...key, name } } as never)
    const listed: string[] = []
    const list: KubeClient['list'] = (resource, options) => {
      listed.push(resource.plural)
      return cluster.admin.list(resource, options)
    }
    const { facts } = await readFleet({ client: { ...cluster.admin, list }, clock: systemClock }, ['demo'])
    for (const name of ['second', 'third']) await cluster.admin.delete(resourcePaths.rollouts, { ...key, name })
    expect(facts).toHaveLength(3)
    expect(new Set(facts.map(({ fleet }) => fleet)).size).toBe(1)
    expect(listed.filter((plural) => plural === 'pods')).toHaveLength(1)
  })

  it('needs no right on the whole cluster, and says which is missing where none is enough', async () => {
    const all = readFleet(readerOf(cluster.clientOf('viewer')), null)
    await expect(all).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      message: 'You may not list rollouts.rollouts.kruise.io in all namespaces.',
    })
    const { facts } = await readFleet(readerOf(cluster.clientOf('narrow')), ['demo'])
    expect(facts.map(summarizeRollout)).toMatchObject([{ message: 'waits for approval' }])
  })
})
