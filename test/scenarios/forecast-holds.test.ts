import type { ClusterSnapshot, Forecast, ForecastRequest, ReleasePolicySpec } from '@tranche/api-schema'
import { createSharedClusterCache } from '@tranche/cluster'
import { startController } from '@tranche/controller'
import { startExecutor } from '@tranche/executor'
import { forecast, type Manifests } from '@tranche/forecast'
import { readSnapshot } from '@tranche/release-client'
import { afterEach, describe, expect, it } from 'vitest'
import { killNodes } from './kill-nodes.ts'
import { condition, untilPausedAt } from './looks.ts'
import { setPinnedStage, untilContents } from './pinned-stage.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const programs = { createSharedClusterCache, startController, startExecutor }
const change: ForecastRequest = { image: 'agent=registry.example/node-agent:v2' }

async function plan(request: ForecastRequest, manifests: Manifests = {}, edit = (read: ClusterSnapshot) => read): Promise<Forecast> {
  const read = await drive(stage.clock, readSnapshot(stage.client, stageKey, { nowMs: stage.clock.nowMs() }))
  return forecast(edit(read), request, programs, { manifests })
}

const policyNamed = (spec: ReleasePolicySpec): NonNullable<Manifests['policy']> => ({ metadata: { name: 'careful' }, spec })

describe('a plan of a release with pinned config', () => {
  it('predicts a release of another image, and none without a change', async () => {
    await pinned()
    expect(await plan(change)).toMatchObject({ outcome: 'Completes', nodesHit: 5 })
    expect(await plan({})).toMatchObject({ outcome: 'Completes', nodesHit: 0 })
  })

  it('predicts no release for a manifest that does not state the annotation, and names no pinned config', async () => {
    await pinned()
    const { spec } = await stage.daemonSet()
    const { 'tranche.dev/pinned-config': _, ...annotations } = spec.template.metadata?.annotations ?? {}
    const daemonSet = { spec: { ...spec, template: { ...spec.template, metadata: { ...spec.template.metadata, annotations } } } }
    const planned = await plan({}, { daemonSet } as Manifests)
    expect(planned).toMatchObject({ outcome: 'Completes', nodesHit: 0 })
    expect(planned.assumptions.join()).not.toContain('config is assumed to stay')
  })

  it('predicts that a policy that pins config from now on releases every node, if the installation allows it', async () => {
    stage = await setPinnedStage({ policy: { soak: { final: '1s' } }, config: '1' })
    const planned = await plan({}, { policy: policyNamed({ config: 'Pin' }) })
    expect(planned).toMatchObject({ outcome: 'Completes', nodesHit: 5 })
    expect(planned.assumptions).toContain('the installation is assumed to allow config: Pin (rbac.configPin)')
  })

  it.each<[sentence: string, options: StageOptions, said: string]>([
    ['does not allow it', { pinConfig: false }, 'start the controller with --pin-config'],
    ['lacks the policy for pods', { podPolicy: false }, 'there is no MutatingAdmissionPolicy pods'],
  ])('says that it gets stuck where the installation %s, and why', async (_sentence, options, said) => {
    stage = await setPinnedStage({ config: '1', ...options })
    const stuck = { outcome: 'Blocked', nodesHit: 0, message: expect.stringContaining(said) as string }
    expect(await plan(change)).toMatchObject(stuck)
    expect(await plan(change, { policy: policyNamed({}) })).toMatchObject({ outcome: 'Completes' })
  })
})

describe('a plan of a policy that the installation does not allow', () => {
  it.each<[right: string, policy: ReleasePolicySpec, options: StageOptions, said: string]>([
    ['groups', { downtime: { group: 'agents' } }, {}, 'group'],
    ['helper pods', { prePull: {} }, { prePull: false }, 'rbac.prePull'],
    ['drains', { drain: { consumers: [{ csiDriver: 'a.example' }] } }, { drainNamespaces: [] }, 'rbac.drain.namespaces'],
    ['locks', { downtime: { nodeLock: 'Take' } }, { lockNamespaces: [] }, 'rbac.nodeLocks.namespaces'],
    ['limits of downtime', { downtime: { perDay: '1h' } }, { downtimeNamespace: null }, 'rbac.downtime'],
  ])('says that it gets stuck: %s', async (_right, policy, options, said) => {
    stage = await setStage({ nodes: 5, steps: [{ replicas: '100%' }], policy, ...options })
    await stage.pass(5_000)
    const stuck = { outcome: 'Blocked', message: expect.stringContaining(said) as string }
    expect(await plan(change)).toMatchObject(stuck)
  })
})

describe('a plan of a release that holds', () => {
  const blocked = (reason: string, node = 'node-001') => ({ node, reason, message: 'so it is' })
  const held =
    (...nodes: readonly ReturnType<typeof blocked>[]) =>
    (read: ClusterSnapshot): ClusterSnapshot => {
      const { release } = read
      const flight = { ...release!.status!.flight!, blocked: nodes }
      const waiting = { reason: nodes[0]!.reason, message: 'step 2 waits for a check', nodes: [], since: '2023-11-14T22:13:20Z' }
      return { ...read, release: { ...release!, status: { ...release!.status!, flight, waiting } } }
    }

  it('names the nodes that a check keeps from being updated, and assumes that it passes', async () => {
    await paused({})
    const planned = await plan({}, {}, held(blocked('DowntimeSpent'), blocked('DrainBlocked', 'node-002')))
    expect(planned).toMatchObject({ outcome: 'Completes' })
    expect(planned.message).toContain('It completes once node-001 (DowntimeSpent), node-002 (DrainBlocked) may be updated, if the new')
    expect(planned.assumptions.join()).toContain('nodes that keep their pods now are assumed to be free at once')
  })

  it('says that it gets stuck where a check fails on every node, unless the planned policy asks for none', async () => {
    await paused({ downtime: { perDay: '1h' } })
    const stuck = await plan({}, {}, held(blocked('DowntimeFailed')))
    expect(stuck).toMatchObject({ outcome: 'Blocked', message: expect.stringContaining('Step 2 waits for a check') as string })
    const without = { policy: policyNamed({ soak: { final: '1s' } }) }
    expect(await plan({}, without, held(blocked('DowntimeFailed')))).toMatchObject({ outcome: 'Completes' })
  })

  it('says that it gets stuck where another Rollout releases the DaemonSet', async () => {
    await paused({})
    const taken = { type: 'Stalled', status: 'True', reason: 'WorkloadTaken', message: 'another Rollout releases it' } as const
    const stuck = await plan(change, {}, (read) => ({
      ...read,
      rollout: { ...read.rollout, status: { ...read.rollout.status!, conditions: [taken] } },
    }))
    expect(stuck).toMatchObject({ outcome: 'Blocked', message: expect.stringContaining('Another Rollout releases it') as string })
  })
})

async function pinned(): Promise<void> {
  stage = await setPinnedStage({ config: '1' })
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilContents(stage, ['1', '1', '1', '1', '1'])
}

async function paused(policy: ReleasePolicySpec): Promise<void> {
  stage = await setStage({ nodes: 5, steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }], policy })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
}

describe('a plan of the stable version in mid-release', () => {
  it('is a rollback, not a new version that fails', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '25%', pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const stable: ForecastRequest = { image: 'agent=registry.example/node-agent:v1' }
    const message = 'It rolls back to the stable version: 2 nodes in all.'
    expect(await plan(stable)).toMatchObject({ outcome: 'RollsBack', message })
    await stage.setImage('v1')
    await stage.until('it is rolled back', async () => (await stage.rollout()).status?.rollbackFrom !== undefined)
    expect((await plan({})).message).toMatch(/^It rolls back to the stable version: \d nodes? in all\.$/)
  })
})

describe('a plan after a release that left nodes behind', () => {
  it('releases nothing, and names the nodes that are updated on their return', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
    await killNodes(stage, 1)
    await stage.setImage('v2')
    await stage.until('it is over', async () => (await condition(stage, 'StrategyRestored'))?.reason === 'NodesLeft')
    const { outcome, nodesHit, message } = await plan({})
    expect({ outcome, nodesHit }).toEqual({ outcome: 'Completes', nodesHit: 0 })
    expect(message).toMatch(/^Nothing to release: the last release of this template is over\. .*node-\d{3}/)
  })
})
