import { type ApiObject, isStatus, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createWorld, daemonSet, namespace, unexpected, type World } from './harness.ts'

/** The controller retries writes that a quota rejects. */
afterEach(() => expect(unexpected.splice(0).filter((error) => !isStatus(error, 403))).toEqual([]))

describe('a ResourceQuota', () => {
  it('counts every new pod, and no longer counts deleted ones', async () => {
    const world = await aWorld({ pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi' })
    expect(await usedOf(world)).toEqual({ pods: '0', 'requests.cpu': '0', 'limits.memory': '0' })
    const amounts = { requests: { cpu: '600m' }, limits: { memory: '100Mi' } }
    await addPod(world, 'a', amounts)
    expect(await usedOf(world)).toEqual({ pods: '1', 'requests.cpu': '600m', 'limits.memory': '100Mi' })
    expect(await refused(addPod(world, 'b', { ...amounts, limits: { memory: '2000Mi' } }))).toBe(
      'pods "b" is forbidden: exceeded quota: quota, requested: limits.memory=2000Mi,requests.cpu=600m, used: limits.memory=100Mi,requests.cpu=600m, limited: limits.memory=1Gi,requests.cpu=1',
    )
    expect(await refused(addPod(world, 'c', {}))).toBe(
      'pods "c" is forbidden: failed quota: quota: must specify limits.memory for: agent; requests.cpu for: agent',
    )
    await world.admin.delete(resources.pods, 'a', namespace)
    await world.pass(2000)
    expect(await usedOf(world)).toEqual({ pods: '0', 'requests.cpu': '0', 'limits.memory': '0' })
  })

  it('counts objects of other kinds by name and group', async () => {
    const world = await aWorld({ 'count/daemonsets.apps': '1', configmaps: '1' })
    await world.admin.create(resources.daemonSets, daemonSet())
    expect(await refused(world.admin.create(resources.daemonSets, daemonSet({ name: 'other' })))).toBe(
      'daemonsets.apps "other" is forbidden: exceeded quota: quota, requested: count/daemonsets.apps=1, used: count/daemonsets.apps=1, limited: count/daemonsets.apps=1',
    )
  })

  it('refuses limited objects until it has been counted', async () => {
    const world = await createWorld()
    await addQuota(world, { pods: '1' })
    await addPod(world, 'a', {})
    await world.admin.patch(resources.resourceQuotas, 'quota', namespace, { status: { hard: { pods: '5' } } }, 'status')
    expect(await refused(addPod(world, 'b', {}))).toBe('pods "b" is forbidden: status unknown for quota: quota, resources: pods')
  })

  it('counts nothing in a dry run, but refuses it like any other request', async () => {
    const world = await aWorld({ pods: '1' })
    await dryRun(world, 'a')
    expect(await usedOf(world)).toEqual({ pods: '0' })
    await addPod(world, 'b', {})
    expect(await refused(dryRun(world, 'c'))).toContain('exceeded quota')
  })

  it('counts only pods in its scopes', async () => {
    const world = await aWorld({ pods: '0' }, { scopes: ['BestEffort'] })
    await addPod(world, 'a', { requests: { cpu: '1m' } })
    expect(await refused(addPod(world, 'b', {}))).toContain('exceeded quota: quota, requested: pods=1, used: pods=0, limited: pods=0')
  })

  it('allows a DaemonSet as many pods as it has left, and explains the refused ones', async () => {
    const world = await aWorld({ pods: '2' }, {}, 4)
    await world.admin.create(resources.daemonSets, daemonSet())
    await world.pass(5000)
    expect(await world.pods()).toHaveLength(2)
    const { items } = await world.admin.list(resources.events, { namespace })
    expect(items.map((event) => String(event['message'])).join()).toMatch(
      /Error creating: pods "agent-\w+" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=2, limited: pods=2/,
    )
    await world.admin.patch(resources.resourceQuotas, 'quota', namespace, { spec: { hard: { pods: '4' } } })
    await world.settled('agent', 60_000)
    expect(await usedOf(world)).toEqual({ pods: '4' })
  })

  it('does not count pods that have ended', async () => {
    const world = await aWorld({ pods: '1', 'count/pods': '5' })
    await addPod(world, 'a', {})
    await world.admin.patch(resources.pods, 'a', namespace, { status: { phase: 'Failed' } }, 'status')
    await world.pass(1000)
    expect(await usedOf(world)).toEqual({ pods: '0', 'count/pods': '1' })
  })
})

async function aWorld(hard: object, spec: object = {}, nodes = 1): Promise<World> {
  const world = await createWorld({ nodes })
  await world.sim.start()
  await addQuota(world, hard, spec)
  await world.pass(500)
  return world
}

async function addQuota(world: World, hard: object, spec: object = {}): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota', namespace }, spec: { hard, ...spec } }
  await world.admin.create(resources.resourceQuotas, body)
}

function podBody(name: string, amounts: object): object {
  const spec = { containers: [{ name: 'agent', image: 'agent:v1', resources: amounts }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec }
}

function addPod(world: World, name: string, amounts: object): Promise<ApiObject> {
  return world.admin.create(resources.pods, podBody(name, amounts))
}

async function dryRun(world: World, name: string): Promise<void> {
  const request = { actor: { name: 'admin' }, verb: 'create', resource: resources.pods, namespace } as const
  await world.sim.server.handle({ ...request, body: podBody(name, {}), options: { dryRun: true } })
}

async function usedOf(world: World): Promise<unknown> {
  return ((await world.get(resources.resourceQuotas, 'quota', namespace))['status'] as { readonly used?: unknown }).used
}

async function refused(request: Promise<unknown>): Promise<string> {
  try {
    await request
  } catch (error) {
    if (isStatus(error, 403)) return error.message
    throw error
  }
  throw new Error('the request was not refused')
}
