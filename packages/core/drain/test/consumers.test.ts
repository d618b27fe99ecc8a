import type { DrainConsumer } from '@tranche/api-schema'
import { claimsOf, consumersOf, drainText } from '@tranche/drain'
import type { Pod } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const agent = { metadata: { namespace: 'demo', uid: 'ds-1' }, spec: { selector: { matchLabels: { app: 'agent' } } } }
const byLabel: DrainConsumer = { selector: { matchLabels: { uses: 'gpu' } } }
const byDriver: DrainConsumer = { csiDriver: 'disk.example.com' }
const byResource: DrainConsumer = { extendedResource: 'example.com/gpu' }

describe('a pod is a consumer', () => {
  it.each<[string, DrainConsumer, Partial<PodParts>]>([
    ['with the labels of the selector', byLabel, { labels: { uses: 'gpu' } }],
    ['with an inline volume of the driver', byDriver, { spec: { volumes: [{ name: 'a', csi: { driver: 'disk.example.com' } }] } }],
    ['with a claim that the driver serves', byDriver, { claimedDrivers: ['other', 'disk.example.com'] }],
    ['that requests the resource', byResource, { spec: { containers: [requesting({ requests: { 'example.com/gpu': '1' } })] } }],
    ['that limits the resource', byResource, { spec: { containers: [requesting({ limits: { 'example.com/gpu': '1' } })] } }],
    [
      'whose init container requests the resource',
      byResource,
      { spec: { initContainers: [requesting({ limits: { 'example.com/gpu': '2' } })] } },
    ],
    ['while it is being deleted', byLabel, { labels: { uses: 'gpu' }, deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['of a ReplicaSet', byLabel, { labels: { uses: 'gpu' }, owner: 'ReplicaSet' }],
  ])('%s', (_what, rule, parts) => expect(consumersIn(rule, parts)).toEqual(['team-a/web']))
})

describe('a pod is no consumer', () => {
  it.each<[string, DrainConsumer, Partial<PodParts>]>([
    ['with other labels', byLabel, { labels: { uses: 'cpu' } }],
    [
      'without a selector that Kubernetes accepts',
      { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      { labels: { a: 'b' } },
    ],
    [
      'with a volume of another driver',
      byDriver,
      { spec: { volumes: [{ name: 'a', csi: { driver: 'other' } }] }, claimedDrivers: ['other'] },
    ],
    ['that requests none of the resource', byResource, { spec: { containers: [requesting({ requests: { 'example.com/gpu': '0' } })] } }],
    [
      'without the label, although every object of JavaScript seems to have one of its name',
      { selector: { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] } },
      { labels: { uses: 'gpu' } },
    ],
    ['that requests another resource', byResource, { spec: { containers: [requesting({ requests: { cpu: '1' } })] } }],
    ['that has succeeded', byLabel, { labels: { uses: 'gpu' }, phase: 'Succeeded' }],
    ['that has failed', byLabel, { labels: { uses: 'gpu' }, phase: 'Failed' }],
    ['that mirrors a static pod', byLabel, { labels: { uses: 'gpu' }, annotations: { 'kubernetes.io/config.mirror': 'x' } }],
    [
      'that only pulls the images of a release, and would be created again at once',
      byLabel,
      { labels: { uses: 'gpu', 'tranche.dev/pre-pull': 'v2' }, owner: 'BatchRelease' },
    ],
    ['of another DaemonSet, which would bring it back at once', byLabel, { labels: { uses: 'gpu' }, owner: 'DaemonSet' }],
  ])('%s', (_what, rule, parts) => expect(consumersIn(rule, parts)).toEqual([]))

  it('if it is the agent itself, whatever the selector says', () => {
    const own = podWith({ labels: { app: 'agent', uses: 'gpu' }, owner: 'DaemonSet', ownerUid: 'ds-1', namespace: 'demo' })
    expect(consumersOf([byLabel], agent, [{ pod: own, claimedDrivers: [] }])).toEqual([])
  })
})

it('the claims of a pod are those that it names, and those of its ephemeral volumes', () => {
  const volumes = [
    { name: 'a', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'scratch', ephemeral: {} },
    { name: 'c', emptyDir: {} },
  ]
  expect(claimsOf(podWith({ spec: { volumes } }))).toEqual(['data', 'web-scratch'])
})

it('the text names the first consumers, and what keeps each', () => {
  const consumer = { namespace: 'team-a', isLeaving: false, finalizers: [] }
  const consumers = [
    { ...consumer, name: 'a', uid: '1' },
    { ...consumer, name: 'b', uid: '2', isLeaving: true, finalizers: ['example.com/keep'] },
    { ...consumer, name: 'c', uid: '3', isLeaving: true },
    { ...consumer, name: 'd', uid: '4' },
  ]
  expect(drainText(consumers, [{ uid: '1', message: 'the disruption budget web needs 2 healthy pods' }])).toBe(
    '4 pods use the agent: team-a/a (the disruption budget web needs 2 healthy pods), team-a/b (terminating, with finalizer example.com/keep), team-a/c (terminating), and 1 more',
  )
  expect(drainText(consumers.slice(3), [])).toBe('1 pod uses the agent: team-a/d')
  const finalizers = Array.from({ length: 10_000 }, (_, at) => `example.com/keep-${at}`)
  expect(drainText([{ ...consumer, name: 'a', uid: '1', isLeaving: true, finalizers }], []).length).toBeLessThan(300)
})

interface PodParts {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly deletionTimestamp: string
  readonly owner: string
  readonly ownerUid: string
  readonly phase: string
  readonly spec: object
  readonly claimedDrivers: readonly string[]
}

function podWith({
  namespace = 'team-a',
  owner,
  ownerUid = 'o',
  phase = 'Running',
  spec = {},
  labels,
  annotations,
  deletionTimestamp,
}: Partial<PodParts>): Pod {
  return {
    metadata: {
      ...{ namespace, name: 'web', uid: 'p1', resourceVersion: '1' },
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(owner !== undefined && { ownerReferences: [{ apiVersion: 'apps/v1', kind: owner, name: 'o', uid: ownerUid, controller: true }] }),
    },
    spec,
    status: { phase },
  }
}

function consumersIn(rule: DrainConsumer, parts: Partial<PodParts>): readonly string[] {
  const found = consumersOf([rule], agent, [{ pod: podWith(parts), claimedDrivers: parts.claimedDrivers ?? [] }])
  return found.map(({ namespace, name }) => `${namespace}/${name}`)
}

function requesting(resources: object): object {
  return { name: 'main', resources }
}
