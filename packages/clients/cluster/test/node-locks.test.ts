import { sleep, type VirtualClock } from '@tranche/clock'
import { type NodeLocks, watchNodeLocks } from '@tranche/cluster'
import type { LockWanted, NodeLock } from '@tranche/drain'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Lease } from '@tranche/kube-types'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type SimStage, startSimStage } from './sim-stage.ts'

const release = { namespace: 'demo', name: 'agent', uid: 'u1' }
const wanted: LockWanted = {
  node: 'a',
  nodeUid: undefined,
  locked: { release, permit: { podUid: 'p1', podResourceVersion: '7' }, seenAt: '40' },
}
const key = { namespace: 'leases', name: 'node-a' }

let clock: VirtualClock
let client: KubeClient
let locks: NodeLocks
let asked: string[]
let changes: string[]
let fault: FaultInjector['onRequest']
let ending: AbortController
let stage: SimStage
let drive: SimStage['drive']

beforeEach(async () => {
  fault = undefined
  changes = []
  ending = new AbortController()
  const onRequest: FaultInjector['onRequest'] = (call) => {
    if (call.actor === 'executor') asked.push(call.verb)
    return fault?.(call)
  }
  asked = []
  stage = await startSimStage(onRequest, { nodes: 1, watchDelayMs: 500 })
  ;({ clock, drive } = stage)
  client = stage.clientOf('admin')
  await drive(client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'leases' } } as never))
  locks = watchNodeLocks({ client: stage.clientOf('executor'), clock, log: silentLogger, namespace: 'leases' })
  locks.subscribe(({ namespace, name }) => changes.push(`${namespace}/${name}`))
  locks.start(ending.signal, () => {})
  await drive(sleep(clock, 1_000))
  asked = []
})

afterEach(() => {
  ending.abort(new Error('over'))
  stage.stop()
})

it('a lock is known at once to the process that takes it, costs one request, and is shown to every watch', async () => {
  expect(await write()).toEqual({ kind: 'done' })
  expect(locks.get('a')).toMatchObject({ release, permit: { podUid: 'p1', seenAt: '40' } })
  expect(locks.list('u1')).toMatchObject([{ node: 'a' }])
  expect(locks.list('u2')).toEqual([])
  await drive(sleep(clock, 1_000))
  expect(locks.list()).toHaveLength(1)
  expect(asked).toEqual(['create'])
  expect(changes).toEqual(['demo/agent'])
})

it('a lock that goes to a holder of another namespace with the same uid is reported to both', async () => {
  await write()
  await drive(sleep(clock, 1_000))
  changes = []
  const body = { spec: { holderIdentity: 'tranche/other/agent/u1' } }
  await drive(client.patch(resourcePaths.leases, key, { type: 'merge', body }))
  await drive(sleep(clock, 1_000))
  expect(changes).toEqual(['demo/agent', 'other/agent'])
})

it('a lock that is given back is gone at once, and costs one request', async () => {
  await write()
  expect(await free(locks.get('a'))).toBe(true)
  expect([locks.get('a'), locks.list()]).toEqual([null, []])
  await drive(sleep(clock, 1_000))
  expect([locks.get('a'), locks.list()]).toEqual([null, []])
  expect(asked).toEqual(['create', 'delete'])
})

it('a lock is not given back in another version than the one that was decided on', async () => {
  await write()
  const before = locks.get('a')
  await drive(sleep(clock, 10))
  await write()
  expect(await free(before)).toBe(false)
  expect(await drive(client.get<Lease>(resourcePaths.leases, key))).toBeDefined()
})

it('a lock that is gone already counts as given back', async () => {
  await write()
  await drive(client.delete(resourcePaths.leases, key))
  expect(await free(locks.get('a'))).toBe(true)
})

it('a lock that another program has just taken is not taken', async () => {
  const spec = { holderIdentity: 'other', leaseDurationSeconds: 60, renewTime: '2023-11-14T22:13:20.000000Z' }
  await drive(client.create(resourcePaths.leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec }))
  expect(await write()).toEqual({ kind: 'changed' })
  await drive(sleep(clock, 1_000))
  expect(locks.get('a')).toMatchObject({ holder: 'other', release: null })
  expect(locks.list()).toEqual([])
})

it('a lock that is deleted before a renewal arrives was changed by another program, although the watch shows it first', async () => {
  await write()
  await drive(sleep(clock, 1_000))
  fault = ({ verb }) => (verb === 'patch' ? { kind: 'delay', ms: 2_000, when: 'before' } : undefined)
  const renewal = locks.write(wanted, ending.signal)
  await drive(sleep(clock, 500))
  await drive(client.delete(resourcePaths.leases, key))
  expect(await drive(renewal)).toEqual({ kind: 'changed' })
})

it('a lock that is gone before a renewal arrives is taken again at once, although the watch shows neither', async () => {
  await write()
  await drive(client.delete(resourcePaths.leases, key))
  expect(await write()).toEqual({ kind: 'changed' })
  expect([locks.get('a'), locks.list()]).toEqual([null, []])
  expect(await write()).toEqual({ kind: 'done' })
  expect(asked).toEqual(['create', 'patch', 'create'])
})

it('an expired lock is taken in the version that was read, and keeps what others wrote there', async () => {
  const spec = { holderIdentity: 'other', leaseDurationSeconds: 1, renewTime: '2023-11-14T20:00:00.000000Z' }
  const metadata = { ...key, labels: { team: 'x' } }
  await drive(client.create(resourcePaths.leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }))
  await drive(sleep(clock, 1_000))
  await drive(client.patch(resourcePaths.leases, key, { type: 'merge', body: { metadata: { labels: { more: 'y' } } } }))
  expect(await write()).toEqual({ kind: 'changed' })
  await drive(sleep(clock, 1_000))
  expect(await write()).toEqual({ kind: 'done' })
  const lease = await drive(client.get<Lease>(resourcePaths.leases, key))
  expect(lease.metadata.labels).toEqual({ team: 'x', more: 'y' })
  expect(lease.spec).toMatchObject({ holderIdentity: 'tranche/demo/agent/u1', leaseTransitions: 1 })
})

it.each([
  [403, 'leases.coordination.k8s.io is forbidden'],
  [404, 'namespaces "leases" not found'],
  [422, 'name is too long'],
])('a write that the API server answers with %i is reported with its words', async (status, message) => {
  fault = ({ verb }) => (verb === 'create' ? { kind: 'error', error: new ApiStatusError(status, 'Forbidden', message) } : undefined)
  expect(await write()).toEqual({ kind: 'rejected', message })
})

it('a write without a clear response is an error', async () => {
  fault = ({ verb }) => (verb === 'create' ? { kind: 'cut', when: 'before' } : undefined)
  await expect(write()).rejects.toThrow()
})

it('heartbeats and other Leases of the namespace are no locks', async () => {
  const metadata = { namespace: 'leases', name: 'some-controller' }
  await drive(client.create(resourcePaths.leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} }))
  await drive(sleep(clock, 1_000))
  expect(locks.list()).toEqual([])
})

function write(): ReturnType<NodeLocks['write']> {
  return drive(locks.write(wanted, ending.signal))
}

function free(lock: NodeLock | null): Promise<boolean> {
  if (lock === null) throw new Error('there is no lock')
  return drive(locks.free(lock, ending.signal))
}
