import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { DOWNTIME_LABEL, type Lease, LEASE_NAMESPACE } from '@tranche/kube-types'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, memories, memoryWrites, perDay, setDowntimeStage, untilBlocked, untilClosed } from './downtime-stage.ts'
import { expectKept } from './expect-kept.ts'
import { setSlowImage } from './lock-stage.ts'
import { nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { policyKey, rolloutManifest, stageKey } from './stage-objects.ts'

const all = [{ replicas: '100%' }]

let stage: Stage
afterEach(() => stage.end())

const waiting = async (): Promise<{ reason?: string; message?: string; nodes?: readonly string[] }> =>
  (await drive(stage.clock, stage.release()))?.status?.waiting ?? {}
const untilWaiting = (reason: string): Promise<void> =>
  stage.until(`it waits: ${reason}`, async () => (await stage.release())?.status?.waiting?.reason === reason)

describe('a release with downtime.perDay', () => {
  it('remembers each deletion and its end, with two requests a node', async () => {
    stage = await setDowntimeStage()
    const before = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    const remembered = await drive(stage.clock, memories(stage))
    expect(remembered.map(({ node, past }) => [node, past.length])).toEqual([
      ['node-001', 1],
      ['node-002', 1],
      ['node-003', 1],
    ])
    for (const { past } of remembered) {
      expect(past[0]?.fromMs).toBeGreaterThan(before)
      expect(past[0]!.toMs - past[0]!.fromMs).toBeGreaterThanOrEqual(1_000)
    }
    expect(memoryWrites(stage)).toEqual({ create: 3, patch: 3 })
    expectKept(stage)
  })

  it('leaves out nodes whose agent was away for long enough in the last 24 hours, says until when, and updates them then', async () => {
    stage = await setDowntimeStage()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    await stage.setImage('v3')
    await untilWaiting('DowntimeSpent')
    const { message, nodes } = await waiting()
    expect(nodes).toEqual(['node-001', 'node-002', 'node-003'])
    expect(message).toMatch(/node-001 \(its agent was away for \d+s of the 1s allowed in 24 hours; it can be updated at \d{4}-.*Z\)/)
    await stage.pass(DAY / 2)
    expect(await drive(stage.clock, nodesOn(stage, 'v2'))).toHaveLength(3)
    await stage.pass(DAY / 2)
    await untilReleased(stage, 'v3')
    expectKept(stage)
  })

  it('updates first the nodes whose downtime is below the limit', async () => {
    stage = await setDowntimeStage({ steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    await untilClosed(stage)
    const [spent] = await drive(stage.clock, nodesOn(stage, 'v2'))
    await stage.setImage('v3')
    await untilNodesOn(stage, 'v3', 1)
    expect(await drive(stage.clock, nodesOn(stage, 'v2'))).toEqual([spent])
    expectKept(stage)
  })

  it('does not hold a rollback', async () => {
    stage = await setDowntimeStage({ steps: [{ replicas: 2, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 2)
    await untilClosed(stage)
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    await untilClosed(stage)
    const counts = (await drive(stage.clock, memories(stage))).map(({ past }) => past.length)
    expect(
      counts.filter((count) => count === 2),
      'the rollback is remembered',
    ).toHaveLength(2)
    expectKept(stage)
  })

  it('does not hold the fix of a version that never became Ready', async () => {
    stage = await setDowntimeStage({ maxUnavailable: 1 })
    await setSlowImage(stage, 'v2', DAY)
    await stage.until('an agent is away', async () => (await memories(stage)).some(({ isOpen }) => isOpen))
    await stage.pass(HOUR)
    await setSlowImage(stage, 'v3', 1_000)
    await untilReleased(stage, 'v3')
    await untilClosed(stage)
    expectKept(stage)
  })

  it('remembers across a new Rollout and other executors', async () => {
    stage = await setDowntimeStage()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, stageKey))
    await stage.until('the Rollout is gone', () =>
      stage.rollout().then(
        () => false,
        () => true,
      ),
    )
    await drive(stage.clock, stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps: all, policy: perDay('1s') }) as never))
    await stage.until('the new one is Healthy', async () => (await stage.rollout())?.status?.phase === 'Healthy')
    stage.program('executor-1').kill()
    await stage.startExecutor('executor-2')
    await stage.setImage('v3')
    await untilBlocked(stage, 'DowntimeSpent')
    await stage.pass(HOUR)
    expect(await drive(stage.clock, nodesOn(stage, 'v2'))).toHaveLength(3)
  })

  it('costs no request while its nodes wait for their downtime to fall below the limit', async () => {
    stage = await setDowntimeStage()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    await stage.setImage('v3')
    await untilBlocked(stage, 'DowntimeSpent')
    await stage.pass(10 * 60_000)
    const before = stage.recording().length
    await stage.pass(HOUR)
    const ours = stage.recording().slice(before)
    expect(ours.filter(({ actor = '' }) => actor.startsWith('executor'))).toEqual([])
  })
})

describe('the memory of downtime', () => {
  it('goes with its node', async () => {
    stage = await setDowntimeStage()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    await drive(stage.clock, stage.client.delete(resourcePaths.nodes, { namespace: '', name: 'node-002' }))
    await stage.until('the Lease is gone', async () => (await memories(stage)).length === 2)
  })
})

describe('a release whose policy limits downtime', () => {
  it('keeps the old pods where the installation does not allow it, and says what to set', async () => {
    stage = await setDowntimeStage({ downtimeNamespace: null })
    await stage.setImage('v2')
    await untilBlocked(stage, 'DowntimeNotAllowed')
    await stage.pass(60_000)
    expect((await waiting()).message).toContain('rbac.downtime')
    const { status } = await drive(stage.clock, stage.client.get<ReleasePolicy>(resourcePaths.releasePolicies, policyKey))
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Usable', status: 'False', reason: 'DowntimeNotAllowed' }))
    expect(await drive(stage.clock, nodesOn(stage, 'v1'))).toHaveLength(3)
  })

  it('names the Lease that has lost its label, so that the watch does not show it', async () => {
    stage = await setDowntimeStage({ policy: perDay('10m') })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await untilClosed(stage)
    const { client, clock } = stage
    const leases = await drive(
      clock,
      client.list<Lease>(resourcePaths.leases, { namespace: LEASE_NAMESPACE, labelSelector: DOWNTIME_LABEL }),
    )
    const body = { metadata: { labels: { [DOWNTIME_LABEL]: null } } }
    for (const { metadata } of leases.items)
      await drive(clock, client.patch(resourcePaths.leases, { namespace: LEASE_NAMESPACE, name: metadata.name }, { type: 'merge', body }))
    await stage.setImage('v3')
    await untilWaiting('DowntimeFailed')
    const { message = '' } = await waiting()
    expect(leases.items.some(({ metadata }) => message.includes(`the Lease ${metadata.name} exists`))).toBe(true)
  })

  it('keeps the old pods while the right to write Leases is missing, and rolls back without it', async () => {
    const forbidden = new ApiStatusError(403, 'Forbidden', 'leases.coordination.k8s.io is forbidden')
    stage = await setDowntimeStage({ steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    await untilClosed(stage)
    stage.disturb({
      onRequest: ({ actor, resource }) =>
        actor.startsWith('executor') && resource.resource === 'leases' ? { kind: 'error', error: forbidden } : undefined,
    })
    await stage.setImage('v3')
    await untilBlocked(stage, 'DowntimeFailed')
    await stage.pass(60_000)
    expect((await waiting()).message).toContain('is forbidden')
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
  })
})
