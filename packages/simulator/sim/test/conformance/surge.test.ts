import { type ApiObject, createRandom, resources } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { createRunningWorld, createWorld, daemonSet, type Line, namespace, unexpected, type World } from '../harness.ts'
import { addNode } from './stage.ts'

afterEach(() => expect(unexpected.splice(0)).toEqual([]))

const surge = (maxSurge: number | string): object => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge } },
})

describe('a surge', () => {
  it('90 keeps pods on nodes that are no longer tolerated until new pods are available', async () => {
    const world = await createWorld()
    for (const [at, zone] of ['y', 'y', 'z', 'z', 'common', 'common'].entries()) await addNode(world, `n${at} !zone-${zone}:NoSchedule`)
    await world.sim.start()
    const annotations = { 'sim.tranche.dev/start-ms': '5000' }
    await world.admin.create(resources.daemonSets, daemonSet({ spec: surge(1), annotations, podSpec: tolerating('common', 'y') }))
    await world.settled()
    const tolerate = async (...zones: readonly string[]): Promise<readonly number[]> => {
      await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: { template: { spec: tolerating(...zones) } } })
      await world.pass(2000)
      const soon = (await active(world)).length
      await world.pass(30_000)
      const { updatedNumberScheduled = 0, desiredNumberScheduled } = await world.status()
      return [soon, (await active(world)).length, updatedNumberScheduled, desiredNumberScheduled!]
    }
    // Two new on z, one new beside an old one, four old.
    expect(await tolerate('common', 'z')).toEqual([7, 4, 4, 4])
    expect(await tolerate('common', 'y', 'z')).toEqual([7, 6, 6, 6])
    expect(await tolerate()).toEqual([0, 0, 0, 0])
  })

  it.each([1, 2, 3])('91 keeps its bounds while pods are killed at random, seed %i', async (seed) => {
    const random = createRandom('kills', seed).next
    const world = await createRunningWorld(6, { spec: { ...surge(2), minReadySeconds: 10 } }, { seed })
    const from = world.recording().length
    await world.setImage('agent:v2')
    for (let kill = 0; kill < 8; kill++) {
      const pods = await active(world)
      await world.admin.delete(resources.pods, pods[Math.floor(random() * pods.length)]!.metadata.name, namespace)
      await world.pass(7000 * random())
    }
    await world.settled()
    // The last old pods go in the passes after that in which the last new one was counted.
    await world.pass(5000)
    const { ofOneVersion, versions } = mostOfOneVersion(world.recording(), from)
    expect(ofOneVersion).toBe(1)
    expect(versions).toBeLessThanOrEqual(2)
    expect((await active(world)).map(imageOf)).toEqual(Array.from({ length: 6 }, () => 'agent:v2'))
  })

  it('keeps every node served', async () => {
    const world = await createRunningWorld(5, { spec: surge('40%') })
    const from = world.recording().length
    await world.setImage('agent:v2')
    await world.settled()
    expect(mostOfOneVersion(world.recording(), from)).toEqual({ ofOneVersion: 1, versions: 2 })
    expect(Math.max(...surgesOf(world.recording(), from))).toBe(2)
  })

  it('stops with maxSurge more pods if the new ones do not become ready, and completes with a good version', async () => {
    const world = await createOldWorld(5)
    await world.setImage('agent:v2-bad-ready')
    await world.pass(60_000)
    expect((await active(world)).map(imageOf).filter((image) => image !== 'agent:v1')).toHaveLength(2)
    expect(await world.status()).toMatchObject({ numberAvailable: 5 })
    await world.setImage('agent:v3')
    await world.settled()
  })

  it('105 loses its new pods to OnDelete, and creates them again when the strategy returns', async () => {
    const world = await createOldWorld(6)
    await world.setImage('agent:v2-bad-ready')
    await world.pass(5000)
    await strategy(world, { type: 'OnDelete', rollingUpdate: null })
    expect(await imagesOf(world)).toEqual(['agent:v1 6'])
    await strategy(world, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 2 } })
    expect(await imagesOf(world)).toEqual(['agent:v1 6', 'agent:v2-bad-ready 2'])
    await strategy(world, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } })
    expect(await imagesOf(world)).toEqual(['agent:v1 5', 'agent:v2-bad-ready 1'])
    expect(await world.status()).toMatchObject({ updatedNumberScheduled: 1, numberAvailable: 5, numberUnavailable: 1 })
  })

  it('fails while a pod is bound to a deleted node, and continues once the pod is collected', async () => {
    const errors: string[] = []
    const world = await createRunningWorld(
      3,
      { spec: surge(1) },
      { onError: (error, actor) => void (actor === 'daemonset-controller' && errors.push((error as Error).message)) },
    )
    await world.pass(1000)
    await world.sim.nodes.removeNode('node-003')
    await world.setImage('agent:v2')
    await world.pass(10_000)
    expect(errors).toContain('couldn\'t get node for nodeName "node-003": it does not exist')
    expect(await imagesOf(world)).toEqual(['agent:v1 3'])
    expect(await world.status()).toMatchObject({ desiredNumberScheduled: 2 })
    await world.pass(120_000)
    expect(await imagesOf(world)).toEqual(['agent:v2 2'])
  })
})

/** Age decides between pods, in whole seconds: the existing pods are older than any new one. */
async function createOldWorld(nodes: number): Promise<World> {
  const world = await createRunningWorld(nodes, { spec: surge(2) })
  await world.pass(1000)
  return world
}

function tolerating(...zones: readonly string[]): object {
  return { tolerations: zones.map((zone) => ({ key: `zone-${zone}`, operator: 'Exists' })) }
}

async function strategy(world: World, updateStrategy: object): Promise<void> {
  await world.admin.patch(resources.daemonSets, 'agent', namespace, { spec: { updateStrategy } })
  await world.pass(3000)
}

async function active(world: World): Promise<readonly ApiObject[]> {
  return (await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

/** @returns `image count` in order of name */
async function imagesOf(world: World): Promise<readonly string[]> {
  const images = (await active(world)).map(imageOf)
  return [...new Set(images)].sort().map((image) => `${image} ${images.filter((one) => one === image).length}`)
}

function imageOf(pod: ApiObject): string {
  return (pod['spec'] as { readonly containers: readonly { readonly image: string }[] }).containers[0]!.image
}

/** Most pods of one version on one node, and most versions on one node, that were there together and not terminating. */
function mostOfOneVersion(lines: readonly Line[], from: number): { readonly ofOneVersion: number; readonly versions: number } {
  const most = { ofOneVersion: 0, versions: 0 }
  for (const there of nodeStates(lines, from)) {
    const versions = [...there.values()]
    most.versions = Math.max(most.versions, new Set(versions).size)
    for (const version of versions) most.ofOneVersion = Math.max(most.ofOneVersion, versions.filter((one) => one === version).length)
  }
  return most
}

/** Versions by pod of the node that an event is about, after each event from line `from` on. */
function nodeStates(lines: readonly Line[], from: number): readonly ReadonlyMap<string, unknown>[] {
  const nodes = new Map<string, Map<string, unknown>>()
  return lines.flatMap(({ kind, type, uid, node, o }, at) => {
    if (kind !== 'Pod' || node === undefined) return []
    const there = nodes.get(node) ?? new Map<string, unknown>()
    nodes.set(node, there)
    if (type === 'DELETED' || o['deleting'] === true) there.delete(uid)
    else there.set(uid, o['hash'])
    return at < from ? [] : [new Map(there)]
  })
}

/** How many nodes have two pods, after each event from line `from` on. */
function surgesOf(lines: readonly Line[], from: number): readonly number[] {
  const nodes = new Map<string, Set<string>>()
  return lines.flatMap(({ kind, type, uid, node, o }, at) => {
    if (kind !== 'Pod' || node === undefined) return []
    const there = nodes.get(node) ?? new Set<string>()
    nodes.set(node, there)
    if (type === 'DELETED' || o['deleting'] === true) there.delete(uid)
    else there.add(uid)
    return at < from ? [] : [[...nodes.values()].filter(({ size }) => size > 1).length]
  })
}
