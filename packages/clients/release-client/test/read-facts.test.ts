import { FakeClock } from '@tranche/clock'
import type { KubeClient, ListOptions, ResourcePath } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { createKubeReleaseClient, readAllFacts } from '@tranche/release-client'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'

/** A cluster with two DaemonSets, and a client that counts its lists of pods by label selector. */
function clusterOf(rollouts: readonly KubeObject[]): {
  readonly client: KubeClient
  readonly podLists: string[]
  readonly lists: string[]
} {
  const podLists: string[] = []
  const lists: string[] = []
  const objects: Readonly<Record<string, readonly KubeObject[]>> = {
    rollouts,
    daemonsets: ['one', 'two'].map(aDaemonSet),
    nodes: ['a', 'b', 'c'].map(aNode),
  }
  const list = async ({ plural }: ResourcePath, { labelSelector = '', transform }: ListOptions<unknown> = {}): Promise<unknown> => {
    lists.push(plural)
    if (plural === 'pods') podLists.push(labelSelector)
    const items = plural === 'pods' ? ['a', 'b'].map((node) => aPod(labelSelector.replace('app=', ''), node)) : (objects[plural] ?? [])
    return { items: transform === undefined ? items : items.map((item) => transform(item as never)) }
  }
  return { client: { list } as unknown as KubeClient, podLists, lists }
}

it('lists the pods of a DaemonSet once, however many Rollouts name it, and shares its fleet', async () => {
  const ofOne = Array.from({ length: 50 }, (_, at) => aRollout(`r${at}`, 'one'))
  const { client, podLists } = clusterOf([...ofOne, aRollout('other', 'two'), aRollout('lone', 'missing')])
  const facts = await readAllFacts({ client, clock: new FakeClock() }, {})
  expect(podLists.toSorted()).toEqual(['app=one', 'app=two'])
  expect(facts.map(({ rollout }) => rollout.metadata.name)).toEqual([...ofOne.map(({ metadata }) => metadata.name), 'other', 'lone'])
  expect(new Set(facts.slice(0, 50).map(({ fleet }) => fleet)).size).toBe(1)
})

it('gives each Rollout the pods of its own DaemonSet', async () => {
  const { client } = clusterOf([aRollout('first', 'one'), aRollout('second', 'two'), aRollout('lone', 'missing')])
  const facts = await readAllFacts({ client, clock: new FakeClock() }, {})
  const pods = facts.map(({ fleet }) => fleet?.nodes.map((node) => [node.name, ...node.pods.map(({ name }) => name)].join(' ')))
  expect(pods).toEqual([['a one-a', 'b one-b', 'c'], ['a two-a', 'b two-b', 'c'], undefined])
})

it('a search by name lists the Rollouts alone', async () => {
  const { client, lists } = clusterOf([aRollout('first', 'one'), aRollout('second', 'two')])
  const ports = { client, clock: new FakeClock(), log: silentLogger, component: 'test', via: 'cli' } as const
  const names = await createKubeReleaseClient(ports).names({})
  expect(names).toEqual([
    { namespace, name: 'first', daemonSet: 'one' },
    { namespace, name: 'second', daemonSet: 'two' },
  ])
  expect(lists).toEqual(['rollouts'])
})

const namespace = 'demo'

function aRollout(name: string, daemonSet: string): KubeObject {
  const metadata = { namespace, name, uid: name, resourceVersion: '1' }
  return {
    kind: 'Rollout',
    metadata,
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: daemonSet }, strategy: {} },
  } as never
}

function aDaemonSet(name: string): KubeObject {
  const metadata = { namespace, name, uid: `uid-${name}`, resourceVersion: '1' }
  return {
    kind: 'DaemonSet',
    metadata,
    spec: { selector: { matchLabels: { app: name } }, template: { spec: { containers: [] } } },
  } as never
}

function aNode(name: string): KubeObject {
  return {
    kind: 'Node',
    metadata: { name, uid: name, resourceVersion: '1' },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  } as never
}

function aPod(daemonSet: string, node: string): KubeObject {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: daemonSet, uid: `uid-${daemonSet}`, controller: true }]
  const metadata = {
    namespace,
    name: `${daemonSet}-${node}`,
    uid: `${daemonSet}-${node}`,
    resourceVersion: '1',
    labels: { app: daemonSet },
    ownerReferences,
  }
  return { kind: 'Pod', metadata, spec: { nodeName: node }, status: { phase: 'Running' } } as never
}
