import { type ApiObject, isStatus, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, namespace, unexpected, type World } from './harness.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

describe('the disruption controller', () => {
  it('counts the pods of a DaemonSet under a whole minAvailable', async () => {
    const world = await createRunningWorld(3)
    await addBudget(world, { minAvailable: 2 })
    expect(await statusOf(world)).toEqual({
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 1,
      observedGeneration: 1,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'True',
          reason: 'SufficientPods',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: expect.any(String),
        },
      ],
    })
  })

  it.each([{ maxUnavailable: 1 }, { minAvailable: '50%' }])(
    'cannot count the pods of a DaemonSet under %j, and reports that',
    async (spec) => {
      const world = await createRunningWorld(2)
      await addBudget(world, spec)
      const message = 'daemonsets.apps does not implement the scale subresource'
      expect(await statusOf(world)).toMatchObject({
        disruptionsAllowed: 0,
        conditions: [{ status: 'False', reason: 'SyncFailed', message }],
      })
      expect(await eventsOf(world)).toContain(
        `CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: ${message}`,
      )
      expect(await evict(world)).toBe('The disruption budget budget is still being processed by the server.')
    },
  )

  it('reports pods without a controller as unmanaged', async () => {
    const world = await createWorld()
    await world.sim.start()
    await addPod(world, 'alone')
    await addBudget(world, { maxUnavailable: 1 })
    expect(await statusOf(world)).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0, conditions: [{ reason: 'InsufficientPods' }] })
    expect((await eventsOf(world)).join()).toContain(
      'UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: agent,},',
    )
  })

  it('allows the next eviction once the pod is back', async () => {
    const world = await createRunningWorld(3)
    await addBudget(world, { minAvailable: 2 })
    expect(await evict(world)).toBe('evicted')
    expect(await evict(world)).toBe('The disruption budget budget does not allow evicting pods currently')
    await world.pass(500)
    expect(await evict(world)).toBe('The disruption budget budget needs 2 healthy pods and has 2 currently')
    await world.pass(5000)
    expect(await statusOf(world)).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 })
    expect(await statusOf(world)).not.toHaveProperty('disruptedPods')
    expect(await evict(world)).toBe('evicted')
  })

  it('follows changes of its selector and of pod labels', async () => {
    const world = await createRunningWorld(3)
    await addBudget(world, { minAvailable: 0 })
    expect(await statusOf(world)).toMatchObject({ expectedPods: 3 })
    await world.admin.patch(resources.podDisruptionBudgets, 'budget', namespace, { spec: { selector: { matchLabels: { app: 'other' } } } })
    await world.pass(500)
    expect(await statusOf(world)).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0, observedGeneration: 2 })
    await addPod(world, 'other', { app: 'other' })
    await world.pass(500)
    expect(await statusOf(world)).toMatchObject({ expectedPods: 1 })
  })

  it('removes the eviction mark of a pod that still exists', async () => {
    const world = await createRunningWorld(1)
    const [pod] = await world.pods()
    const nowText = new Date(world.sim.clock.nowMs()).toISOString()
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'Other', lastTransitionTime: nowText }]
    await world.admin.patch(resources.pods, pod!.metadata.name, namespace, { status: { conditions } }, 'status')
    await world.pass(119_000)
    expect(await markOf(world)).toMatchObject({ status: 'True' })
    await world.pass(3000)
    expect(await markOf(world)).toMatchObject({ status: 'False' })
  })
})

async function addBudget(world: World, spec: object): Promise<void> {
  const body = { metadata: { name: 'budget', namespace }, spec: { selector: { matchLabels: { app: 'agent' } }, ...spec } }
  await world.admin.create(resources.podDisruptionBudgets, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', ...body })
  await world.pass(500)
}

async function addPod(world: World, name: string, labels: object = { app: 'agent' }): Promise<void> {
  const spec = { containers: [{ name: 'agent', image: 'agent:v1' }] }
  await world.admin.create(resources.pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec })
}

async function statusOf(world: World): Promise<unknown> {
  return (await world.get(resources.podDisruptionBudgets, 'budget', namespace))['status']
}

/** Evicts the first pod that runs and is not going. @returns `evicted`, or why not */
async function evict(world: World): Promise<string> {
  const pod = (await world.pods()).find((one) => one.metadata.deletionTimestamp === undefined && phaseOf(one) === 'Running')!
  const { name } = pod.metadata
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  const request = { actor: { name: 'admin' }, resource: resources.pods, subresource: 'eviction', namespace, name, body }
  try {
    await world.sim.server.handle({ ...request, verb: 'create' })
    return 'evicted'
  } catch (error) {
    if (!isStatus(error, 429)) throw error
    return error.status.details?.causes?.[0]?.message ?? ''
  }
}

function phaseOf(pod: ApiObject): unknown {
  return (pod['status'] as { readonly phase?: string }).phase
}

async function eventsOf(world: World): Promise<readonly string[]> {
  const { items } = await world.admin.list(resources.events, { namespace })
  return items
    .filter((event) => (event['involvedObject'] as ApiObject).kind === 'PodDisruptionBudget')
    .map((event) => `${String(event['reason'])}: ${String(event['message'])}`)
}

async function markOf(world: World): Promise<unknown> {
  const [pod] = await world.pods()
  const { conditions } = pod!['status'] as { readonly conditions: readonly { readonly type: string }[] }
  return conditions.find(({ type }) => type === 'DisruptionTarget')
}
