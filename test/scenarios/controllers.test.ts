import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import type { Lease } from '@tranche/kube-types'
import type { FaultInjector } from '@tranche/sim-api'
import type { WireRequest } from '@tranche/wire'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { createRequestLog } from './requests.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '30%', pause: {} }, { replicas: '100%' }]
const controllers = ['controller-1', 'controller-2']
const isTouch = ({ method, path }: WireRequest): boolean => method === 'PATCH' && path.includes('/pods/')
const isPaused = async (): Promise<boolean> => (await condition(stage, 'Progressing'))?.reason === 'Paused'

it('a new leader finishes a stop whose author died between revoking the permits and touching the pods (F8, G7, G9)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 6)
  stage.program('controller-1').process.freezeBefore(isTouch)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the record is revoked', async () => (await stage.release())?.status?.flight?.state === 'voiding')
  await stage.until('its author is frozen', () => stage.program('controller-1').process.isFrozen())
  stage.program('controller-1').kill()
  await stage.pass(120_000)
  expect(await isPaused()).toBe(false)

  await stage.startController('controller-2')
  await stage.until('the pause is acknowledged', isPaused)
  const deleted = deletions(stage)
  await stage.pass(120_000)
  expect(deletions(stage)).toBe(deleted)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a release is handed over when the leader is cut off in mid-release, and back (G8)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, controllers })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const first = await leader()
  stage.program(first).process.cutOff()
  await untilPausedAt(stage, 1)
  await stage.until('another leads', async () => (await leader()) !== first)
  await stage.approve()
  await untilNodesOn(stage, 'v2', 10)
  stage.program(first).process.reconnect()
  const second = await leader()
  stage.program(second).process.cutOff()
  await untilReleased(stage, 'v2')
  expect(await leader()).toBe(first)
  expectKept(stage)
})

it('every guarantee holds when a leader freezes and returns beside its successor (F9, G8)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, controllers })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const first = await leader()
  stage.program(first).process.freezeBefore(({ method }) => method === 'PATCH' || method === 'PUT')
  await untilPausedAt(stage, 1)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', isPaused)
  await stage.pass(3_600_000)
  const deleted = deletions(stage)
  stage.program(first).process.thaw()
  await stage.pass(120_000)
  expect(deletions(stage)).toBe(deleted)
  expect(await isPaused()).toBe(true)
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('a controller writes nothing once it has lost the Lease, although it reaches the API server (G8)', async () => {
  const log = createRequestLog()
  stage = await setStage({ nodes: 10, maxUnavailable: 3, steps, controllers, tap: log.tap })
  const first = await leader()
  const heal = stage.disturb({
    onRequest: ({ actor, resource }) => (actor === first && resource.resource === 'leases' ? { kind: 'cut', when: 'before' } : undefined),
  })
  await stage.until('another leads', async () => !['', first].includes(await leader()))
  log.reset()
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('the pause is acknowledged', isPaused)
  const isWrite = (what: string): boolean => !/^(GET|WATCH) /.test(what) && !what.includes('/leases')
  const writers = log.sent().filter(({ identity, what }) => identity.startsWith('controller') && isWrite(what))
  expect(new Set(writers.map(({ identity }) => identity))).toEqual(new Set(controllers.filter((identity) => identity !== first)))
  heal()
  await stage.patchRollout({ spec: { strategy: { paused: false } } })
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the executor continues the batch in flight while no controller runs', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  stage.program('controller-1').kill()
  await untilNodesOn(stage, 'v2', 20)
  await stage.startController('controller-2')
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('another controller leads within two seconds when the leader is stopped, because the leader releases the Lease (E3)', async () => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, controllers })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const first = await leader()
  const stopping = stage.program(first).stop()
  await stage.until('another leads', async () => !['', first].includes(await leader()), 2_000)
  await stopping
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

it('the next leader continues a long stop where the previous leader died, and does not touch again the pods that have answered (F8, G7)', async () => {
  const log = createRequestLog()
  stage = await setStage({ nodes: 60, maxUnavailable: 40, steps: [{ replicas: '100%' }], controllers, tap: log.tap })
  stage.program('executor-1').process.freezeBefore(({ method }) => method === 'DELETE')
  await stage.setImage('v2')
  const permits = async (): Promise<number> => (await stage.release())?.status?.flight?.permits.length ?? 0
  await stage.until('there are permits for all that may be down, and some more', async () => (await permits()) === 48)
  stage.disturb({
    onRequest: ({ verb, resource }) =>
      verb === 'patch' && resource.resource === 'pods' ? { kind: 'delay', ms: 4_000, when: 'after' } : undefined,
  })
  log.reset()
  await stage.patchRollout({ spec: { strategy: { paused: true } } })
  await stage.until('some have answered', async () => (await permits()) < 48)
  expect(await permits()).toBe(16)
  stage.program(await leader()).kill()
  await stage.until('the pause is acknowledged', isPaused)
  expect(log.sent().filter(({ what }) => what.startsWith('PATCH') && what.includes('/pods/')).length).toBeLessThanOrEqual(48 + 16)
})

/** The worst fault of a watch: it stays open and delivers nothing. */
const silentLeaseWatch: FaultInjector = {
  onEvent: ({ resource }) => (resource.resource === 'leases' ? { kind: 'stall', ms: Number.POSITIVE_INFINITY } : undefined),
}

it.each([
  ['within the lease and a second', 16_000, null],
  ['two seconds later if the watch of the Lease delivers nothing', 18_000, silentLeaseWatch],
])('the release continues when the leader is killed in mid-release: another leads %s (E3, G7)', async (_name, withinMs, fault) => {
  stage = await setStage({ nodes: 20, maxUnavailable: 3, steps, controllers })
  if (fault !== null) stage.disturb(fault)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const first = await leader()
  stage.program(first).kill()
  await stage.until('another leads', async () => (await leader()) !== first, withinMs)
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function leader(): Promise<string> {
  const lease = await stage.client.get<Lease>(resourcePaths.leases, { namespace: 'kube-system', name: 'tranche-controller' })
  return lease.spec?.holderIdentity ?? ''
}
