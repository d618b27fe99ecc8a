import { sleep, type VirtualClock } from '@tranche/clock'
import { type NodeDowntimes, watchNodeDowntimes } from '@tranche/cluster'
import type { Downtimes, DowntimeWanted, NodeAgent } from '@tranche/drain'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { DOWNTIME_LABEL, type Lease } from '@tranche/kube-types'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type SimStage, startSimStage } from './sim-stage.ts'

const NAMESPACE = 'kube-system'
const agent: NodeAgent = { daemonSet: { namespace: 'demo', name: 'agent', uid: 'd1' }, node: 'a' }
const permitted = {
  release: { namespace: 'demo', name: 'agent', uid: 'u1' },
  permit: { podUid: 'p1', podResourceVersion: '7' },
  seenAt: '40',
}
const begun: Downtimes = { past: [], open: { fromMs: Date.parse('2026-01-02T00:00:00Z'), permitted } }
const over: Downtimes = { past: [{ fromMs: 1_000, toMs: 2_000 }], open: null }
const wanted = (downtimes: Downtimes): DowntimeWanted => ({ agent, nodeUid: undefined, downtimes })

let clock: VirtualClock
let client: KubeClient
let memories: NodeDowntimes
let asked: string[]
let fault: FaultInjector['onRequest']
let ending: AbortController
let stage: SimStage
let drive: SimStage['drive']

beforeEach(async () => {
  fault = undefined
  asked = []
  ending = new AbortController()
  const onRequest: FaultInjector['onRequest'] = (call) => {
    if (call.actor === 'executor') asked.push(call.verb)
    return fault?.(call)
  }
  stage = await startSimStage(onRequest, { nodes: 1, watchDelayMs: 500 })
  ;({ clock, drive } = stage)
  client = stage.clientOf('admin')
  memories = watchNodeDowntimes({ client: stage.clientOf('executor'), clock, log: silentLogger, namespace: NAMESPACE })
  memories.start(ending.signal, () => {})
  await drive(sleep(clock, 1_000))
  asked = []
})

afterEach(() => {
  ending.abort(new Error('over'))
  stage.stop()
})

it('a downtime is known at once to the process that writes it, costs one request, and is shown to every watch', async () => {
  expect(await write(begun)).toEqual({ kind: 'done' })
  expect(memories.get(agent)).toMatchObject({ ...agent, ...begun })
  expect(memories.list('u1')).toHaveLength(1)
  expect(memories.list('u2')).toEqual([])
  await drive(sleep(clock, 1_000))
  expect(memories.list('u1')).toHaveLength(1)
  expect(await write(over)).toEqual({ kind: 'done' })
  expect(memories.list('u1')).toEqual([])
  expect(memories.list()).toMatchObject([over])
  expect(memories.get({ ...agent, node: 'b' })).toBeNull()
  expect(asked).toEqual(['create', 'patch'])
})

it('a downtime that another process has written meanwhile is not overwritten', async () => {
  await write(begun)
  await drive(sleep(clock, 1_000))
  const [lease] = await leases()
  const key = { namespace: NAMESPACE, name: lease!.metadata.name }
  await drive(client.patch(resourcePaths.leases, key, { type: 'merge', body: { metadata: { annotations: { x: 'y' } } } }))
  expect(await write(over)).toEqual({ kind: 'changed' })
  await drive(sleep(clock, 1_000))
  expect(await write(over)).toEqual({ kind: 'done' })
})

it('a downtime that another process has created meanwhile is not created again', async () => {
  await write(begun)
  const [lease] = await leases()
  await drive(memories.forget(memories.get(agent)!, ending.signal))
  await drive(client.create(resourcePaths.leases, { ...lease!, metadata: { ...lease!.metadata, resourceVersion: undefined } } as never))
  expect(await write(over)).toEqual({ kind: 'taken' })
})

it('a downtime whose Lease a user has deleted is created again', async () => {
  await write(begun)
  const [lease] = await leases()
  await drive(client.delete(resourcePaths.leases, { namespace: NAMESPACE, name: lease!.metadata.name }))
  expect(await write(over)).toEqual({ kind: 'changed' })
  await drive(sleep(clock, 1_000))
  expect(await write(over)).toEqual({ kind: 'done' })
})

it('a memory that is forgotten is gone, unless it was written meanwhile', async () => {
  await write(begun)
  const before = memories.get(agent)!
  await write(over)
  await drive(memories.forget(before, ending.signal))
  expect(await leases()).toHaveLength(1)
  await drive(memories.forget(memories.get(agent)!, ending.signal))
  expect(await leases()).toEqual([])
})

it.each([
  [403, { kind: 'rejected', message: 'leases is forbidden' }],
  [404, { kind: 'rejected', message: 'leases is forbidden' }],
])('an API server that answers %i rejects the write', async (status, answer) => {
  fault = failing(status)
  expect(await write(begun)).toEqual(answer)
})

it('an API server that may accept the write later is asked again', async () => {
  fault = failing(503)
  await expect(write(begun)).rejects.toThrow()
})

function failing(status: number): FaultInjector['onRequest'] {
  return ({ actor, verb }) => {
    if (actor !== 'executor' || verb !== 'create') return undefined
    return { kind: 'error', error: new ApiStatusError(status, status === 404 ? 'NotFound' : 'Forbidden', 'leases is forbidden') }
  }
}

async function leases(): Promise<readonly Lease[]> {
  return (await drive(client.list<Lease>(resourcePaths.leases, { namespace: NAMESPACE, labelSelector: DOWNTIME_LABEL }))).items
}

function write(downtimes: Downtimes): ReturnType<NodeDowntimes['write']> {
  return drive(memories.write(wanted(downtimes), ending.signal))
}
