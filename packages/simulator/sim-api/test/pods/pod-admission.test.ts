import { resources, type SimClient } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { aPod, aServer, at, refusal } from '../testing.ts'

const tester = { name: 'tester' }

describe('a new pod', () => {
  it('gets priority 0, and tolerates a failed node for five minutes', async () => {
    const pod = await aClient().create(resources.pods, aPod('a'))
    expect(pod['spec']).toMatchObject({
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      tolerations: ['not-ready', 'unreachable'].map((name) => ({
        key: `node.kubernetes.io/${name}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
    })
  })

  it('keeps its own tolerations', async () => {
    const tolerations = [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
      { operator: 'Exists', effect: 'NoExecute' },
    ]
    const pod = await aClient().create(resources.pods, aPod('a', { spec: { tolerations } }))
    expect(at(pod, 'spec', 'tolerations')).toEqual(tolerations)
  })

  it('gets the priority of its class, or of the default class without one, and keeps it when it is replaced', async () => {
    const client = aClient()
    await addClass(client, 'high', { value: 1000, preemptionPolicy: 'Never' })
    const high = await client.create(resources.pods, aPod('high', { spec: { priorityClassName: 'high' } }))
    expect(high['spec']).toMatchObject({ priority: 1000, preemptionPolicy: 'Never' })
    await addClass(client, 'usual', { value: 5, globalDefault: true })
    const usual = await client.create(resources.pods, aPod('usual'))
    expect(usual['spec']).toMatchObject({ priorityClassName: 'usual', priority: 5 })
    const { priority: _priority, ...spec } = usual['spec'] as Readonly<Record<string, unknown>>
    expect(at(await client.update(resources.pods, { ...usual, spec }), 'spec', 'priority')).toBe(5)
  })

  it.each<[spec: object, why: string]>([
    [{ priorityClassName: 'nope' }, 'pods "a" is forbidden: no PriorityClass with name nope was found'],
    [
      { priorityClassName: 'system-node-critical', priority: 5 },
      'pods "a" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 2000001000 from the given PriorityClass name',
    ],
  ])('is refused with %j', async (spec, why) => {
    const { code, message } = await refusal(aClient().create(resources.pods, aPod('a', { spec })))
    expect([code, message]).toEqual([403, why])
  })
})

describe('a PriorityClass', () => {
  it.each<[name: string, value: number, why: string]>([
    ['bad', 2_000_000_000, 'value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    [
      'system-foo',
      5,
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-foo is not a known system priority class",
    ],
  ])('%s %d is refused', async (name, value, why) => {
    expect((await refusal(addClass(aClient(), name, { value }))).message).toContain(why)
  })

  it('keeps its value', async () => {
    const client = aClient()
    await addClass(client, 'a', { value: 1 })
    const answer = await refusal(client.patch(resources.priorityClasses, 'a', undefined, { value: 2 }))
    expect(answer.message).toContain('value: Forbidden: may not be changed in an update.')
  })
})

describe('a LimitRange', () => {
  const limits = [{ type: 'Container', default: { cpu: '200m' }, max: { memory: '500Mi', cpu: '1' }, min: { cpu: '10m' } }]

  it('sets the resources of a container that declares none', async () => {
    const client = aClient()
    const range = await addRange(client, limits)
    expect(at(range, 'spec', 'limits')).toEqual([
      { ...limits[0], default: { cpu: '200m', memory: '500Mi' }, defaultRequest: { cpu: '200m', memory: '500Mi' } },
    ])
    const pod = await client.create(resources.pods, aPod('a'))
    const amounts = { cpu: '200m', memory: '500Mi' }
    expect(at(pod, 'spec', 'containers')).toMatchObject([{ resources: { requests: amounts, limits: amounts } }])
    expect(pod.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container main',
    })
    expect(at(pod, 'status', 'qosClass')).toBe('Guaranteed')
  })

  it('limits containers to its range', async () => {
    const client = aClient()
    await addRange(client, limits)
    const asked = { requests: { cpu: '1m' }, limits: { memory: '2000Mi' } }
    const answer = await refusal(client.create(resources.pods, aPod('a', { spec: { containers: [container(asked)] } })))
    expect([answer.code, answer.message]).toEqual([
      403,
      'pods "a" is forbidden: [minimum cpu usage per Container is 10m, but request is 1m, maximum memory usage per Container is 500Mi, but limit is 2000Mi]',
    ])
  })

  it('limits pods to its range, and limits to their requests', async () => {
    const client = aClient()
    await addRange(client, [
      { type: 'Pod', max: { cpu: '1' } },
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    ])
    const asked = { requests: { cpu: '500m' }, limits: { cpu: '1500m' } }
    const answer = await refusal(client.create(resources.pods, aPod('a', { spec: { containers: [container(asked)] } })))
    expect(answer.message).toBe(
      'pods "a" is forbidden: [maximum cpu usage per Pod is 1, but limit is 1.5, cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000]',
    )
  })
})

function aClient(): SimClient {
  return aServer().server.clientFor(tester)
}

function container(asked: object): object {
  return { name: 'main', image: 'agent:1', resources: asked }
}

async function addClass(client: SimClient, name: string, fields: object): Promise<void> {
  await client.create(resources.priorityClasses, {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    ...fields,
  })
}

async function addRange(client: SimClient, limits: readonly object[]) {
  const metadata = { name: 'range', namespace: 'default' }
  return client.create(resources.limitRanges, { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } })
}
