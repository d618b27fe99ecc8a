import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { byLabel, labelled, makeBudget, makeConsumer, TEAM } from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import {
  expectLocked,
  expectNoLocks,
  freeNode,
  holdNode,
  LEASES,
  LOCK_MS,
  locking,
  makeLeaseNamespace,
  nodeLeases,
  setLockStage,
  setPolicy,
  setSlowImage,
  untilLocked,
  leaseWrites,
  heldByReleases,
} from './lock-stage.ts'
import { nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const NODE = 'node-001'
const waiting = async (): Promise<{ reason?: string; message?: string }> =>
  (await drive(stage.clock, stage.release()))?.status?.waiting ?? {}
const untilBlocked = (reason: string): Promise<void> =>
  stage.until(`a node is blocked: ${reason}`, async () => {
    const { blocked = [] } = (await stage.release())?.status?.flight ?? {}
    return blocked.some((one) => one.reason === reason)
  })

describe('a release with downtime.nodeLock: Take', () => {
  it('holds the Lease of each node while its pod is replaced, with two requests a node', async () => {
    stage = await setLockStage()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expectLocked(stage)
    await expectNoLocks(stage)
    expect(await drive(stage.clock, nodeLeases(stage))).toEqual([])
    expect(leaseWrites(stage)).toEqual({ create: 4, delete: 4 })
    expectKept(stage)
  })

  it('leaves out a node that another program holds, says who and until when, and updates it when the program gives it back', async () => {
    stage = await setLockStage()
    await holdNode(stage, NODE)
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    await untilBlocked('NodeLocked')
    await stage.until('it says so', async () => (await stage.release())?.status?.waiting?.reason === 'NodeLocked')
    expect((await waiting()).message).toMatch(/node-001 \(node-maintenance holds the Lease of the node until \d{4}-.*Z\)/)
    expect(await drive(stage.clock, nodesOn(stage, 'v1'))).toEqual([NODE])
    await freeNode(stage, NODE)
    await untilReleased(stage, 'v2')
    await expectNoLocks(stage)
    expectKept(stage)
  })

  it('sends no request for a node that another program holds', async () => {
    stage = await setLockStage()
    await holdNode(stage, NODE)
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    await untilBlocked('NodeLocked')
    await stage.pass(60_000)
    const before = stage.recording().length
    await stage.pass(LOCK_MS)
    const ours = stage.recording().slice(before)
    expect(ours.filter(({ actor = '' }) => actor.startsWith('executor'))).toEqual([])
  })

  it('takes a Lease that has expired, and counts the transition', async () => {
    stage = await setLockStage()
    await holdNode(stage, NODE, { seconds: 60, atMs: stage.clock.nowMs() - 61_000 })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    expectLocked(stage)
    const taken = stage
      .recording()
      .find(({ kind, verb, actor = '' }) => kind === 'Lease' && verb === 'patch' && actor.startsWith('executor'))
    expect(taken?.o).toMatchObject({ metadata: { name: `node-${NODE}` }, spec: { leaseTransitions: 1 } })
    await expectNoLocks(stage)
  })

  it('takes a Lease whose renewal lies further in the future than it lasts', async () => {
    stage = await setLockStage()
    await holdNode(stage, NODE, { seconds: 60, atMs: stage.clock.nowMs() + 3_600_000 })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
  })

  it('renews its Lease while a new pod does not start, for an hour', async () => {
    stage = await setLockStage({ nodes: 1 })
    await setSlowImage(stage, 'v2', 7_200_000)
    await untilLocked(stage)
    const isHeld = async (): Promise<boolean> => {
      const [lease] = await drive(stage.clock, nodeLeases(stage))
      return lease !== undefined && Date.parse(lease.spec?.renewTime ?? '') + LOCK_MS > stage.clock.nowMs()
    }
    for (let minutes = 0; minutes < 60; minutes++) {
      expect(await isHeld(), `after ${minutes} minutes`).toBe(true)
      await stage.pass(60_000)
    }
    expect(leaseWrites(stage).patch).toBeLessThanOrEqual(12)
    await stage.pass(2 * LOCK_MS)
    expect(await isHeld()).toBe(false)
  })
})

describe('the Lease of a node', () => {
  it('is given back for a moment each hour while a webhook denies the deletion of the pod', async () => {
    stage = await setLockStage({ nodes: 1 })
    const allow = stage.disturb({
      onRequest: ({ actor, verb, resource }) => {
        if (!actor.startsWith('executor') || verb !== 'delete' || resource.resource !== 'pods') return undefined
        return { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'admission webhook "freeze.example.com" denied the request') }
      },
    })
    await stage.setImage('v2')
    await untilLocked(stage)
    await stage.until('it is given back', async () => (await heldByReleases(stage)).length === 0, 4_500_000)
    await untilBlocked('DeletionRefused')
    await untilLocked(stage)
    allow()
    await untilReleased(stage, 'v2')
    await expectNoLocks(stage)
  })

  it('is given back when the release is paused before the pod is deleted', async () => {
    stage = await setLockStage({ policy: { ...locking, drain: byLabel } })
    await holdByConsumer()
    await stage.setImage('v2')
    await stage.until('the node is locked', async () => (await heldByReleases(stage)).includes(`node-${NODE}`))
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await expectNoLocks(stage)
    expectKept(stage)
  })

  it('is given back with the cordon when a drain is given up', async () => {
    stage = await setLockStage({ policy: { ...locking, drain: { ...byLabel, timeout: '30s' } } })
    await holdByConsumer()
    await stage.setImage('v2')
    await untilBlocked('DrainBlocked')
    await expectNoLocks(stage)
    expectUncordonedFirst()
  })

  it('is given back when the policy no longer asks for it, and the release continues', async () => {
    stage = await setLockStage({ nodes: 1 })
    await setSlowImage(stage, 'v2', 120_000)
    await untilLocked(stage)
    await setPolicy(stage, { downtime: { nodeLock: 'Ignore' } })
    await expectNoLocks(stage)
    await untilReleased(stage, 'v2')
  })

  it('is given back when the Rollout is deleted', async () => {
    stage = await setLockStage({ nodes: 1 })
    await setSlowImage(stage, 'v2', 120_000)
    await untilLocked(stage)
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, stageKey))
    await stage.pass(120_000)
    await expectNoLocks(stage)
  })

  it('goes with its node', async () => {
    stage = await setLockStage()
    await setSlowImage(stage, 'v2', 120_000)
    await untilLocked(stage)
    const [name = ''] = await drive(stage.clock, heldByReleases(stage))
    await drive(stage.clock, stage.client.delete(resourcePaths.nodes, { namespace: '', name: name.slice('node-'.length) }))
    await stage.until('its Lease is gone', async () => !(await nodeLeases(stage)).some(({ metadata }) => metadata.name === name))
    await untilReleased(stage, 'v2')
    await expectNoLocks(stage)
  })
})

describe('a release whose policy locks nodes', () => {
  it('keeps the old pods where the installation does not allow it, and says what to set', async () => {
    stage = await setLockStage({ lockNamespaces: ['another'] })
    await stage.setImage('v2')
    await untilBlocked('NodeLockNotAllowed')
    await stage.pass(60_000)
    expect((await waiting()).message).toContain('rbac.nodeLocks.namespaces')
    const { status } = await drive(stage.clock, stage.client.get<ReleasePolicy>(resourcePaths.releasePolicies, policyKey))
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Usable', status: 'False', reason: 'NodeLockNotAllowed' }))
    expect(await drive(stage.clock, nodesOn(stage, 'v1'))).toHaveLength(4)
    expect(await drive(stage.clock, nodeLeases(stage))).toEqual([])
  })

  it('keeps the old pods while the namespace of the Leases is missing, and continues once it exists', async () => {
    stage = await setLockStage({ withNamespace: false })
    await stage.setImage('v2')
    await untilBlocked('NodeLockFailed')
    expect((await waiting()).message).toContain(LEASES)
    await makeLeaseNamespace(stage)
    await untilReleased(stage, 'v2')
    expectLocked(stage)
    await expectNoLocks(stage)
  })

  it('keeps the old pods while the right to write Leases is missing', async () => {
    const forbidden = new ApiStatusError(403, 'Forbidden', 'leases.coordination.k8s.io is forbidden')
    stage = await setLockStage()
    const allow = stage.disturb({
      onRequest: ({ actor, resource, verb }) =>
        actor.startsWith('executor') && resource.resource === 'leases' && verb === 'create'
          ? { kind: 'error', error: forbidden }
          : undefined,
    })
    await stage.setImage('v2')
    await untilBlocked('NodeLockFailed')
    expect((await waiting()).message).toContain('is forbidden')
    allow()
    await untilReleased(stage, 'v2')
    expectLocked(stage)
  })
})

/** A pod that uses the agent, and that a PodDisruptionBudget keeps on its node. */
async function holdByConsumer(): Promise<void> {
  await drive(stage.clock, stage.client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM } }))
  await makeConsumer(stage, 'web', NODE, {}, { labels: labelled })
  await makeBudget(stage)
}

/** Expects that no Lease of a node was given back while the node had a mark of a drain. */
function expectUncordonedFirst(): void {
  const marked = new Set<string>()
  let given = 0
  for (const { kind, type, verb, o, node = '' } of stage.recording()) {
    if (kind === 'Node') marked[o['cordonMark'] === undefined ? 'delete' : 'add'](node)
    if (kind !== 'Lease' || type !== 'DELETED' || verb !== 'delete') continue
    given++
    expect([...marked].map((name) => `node-${name}`)).not.toContain((o as { metadata: { name: string } }).metadata.name)
  }
  expect(given).toBeGreaterThan(0)
}
