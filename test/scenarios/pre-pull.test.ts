import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { helperManifest } from '@tranche/pre-pull'
import type { RecordedPod } from '@tranche/recording'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { createRequestLog } from './requests.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

/** Times of the agent, in milliseconds: its containers take 5 s to stop and 8 s to start. */
const STOP_MS = 5_000
const START_MS = 8_000
const PULL_MS = 60_000
const annotations = {
  'sim.tranche.dev/jitter-ms': '0',
  'sim.tranche.dev/stop-ms': String(STOP_MS),
  'sim.tranche.dev/start-ms': String(START_MS),
}
const slow: StageOptions = { nodes: 6, maxUnavailable: 2, steps: [{ replicas: '100%' }], annotations }

describe('images that take 60 s to pull', () => {
  it('leave each node without an agent for as long as the pull, without prePull', async () => {
    stage = await setStage(slow)
    await stage.setImage('v2-pull60s')
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
    expect(Math.min(...gaps())).toBeGreaterThanOrEqual(PULL_MS)
  })

  it('leave no node without an agent for longer than it takes to stop and start, with prePull', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await stage.setImage('v2-pull60s')
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
    expect(gaps()).toHaveLength(6)
    expect(Math.max(...gaps())).toBeLessThanOrEqual((STOP_MS + START_MS) * 1.1)
    expect(await stage.helperPods()).toEqual([])
    expectKept(stage)
  })

  it('are named while nodes pull them, with the helper pod and the end', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await stage.setImage('v2-pull60s')
    const waiting = async () => (await stage.release())?.status?.waiting
    await stage.until('it is reported', async () => (await waiting())?.reason === 'Pulling', 15_000)
    expect((await waiting())?.nodes).toHaveLength(2)
    expect((await waiting())?.message).toMatch(
      /executors first pull the new images \(prePull of the policy\): node-00\d \(helper pod node-agent-pull-\w+ pulls registry.example\/node-agent:v2-pull60s, since [-0-9T:]+Z, until [-0-9T:]+Z at the latest; then it keeps its pod, and pulls again later\), node-00\d \(/,
    )
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
    expectKept(stage)
  })

  it('cost two requests for each node', async () => {
    const log = createRequestLog()
    stage = await setStage({ ...slow, policy: { prePull: { parallel: 3 } }, tap: log.tap })
    log.reset()
    await stage.setImage('v2-pull60s')
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
    const writes = log.sent().filter(({ identity, what }) => identity.startsWith('executor') && /^(POST|DELETE) .*pods/.test(what))
    const created = writes.filter(({ what }) => what.startsWith('POST'))
    expect(created).toHaveLength(6)
    expect(writes).toHaveLength(18)
  })
})

it('at most as many nodes pull at a time as the policy says', async () => {
  stage = await setStage({ ...slow, policy: { prePull: { parallel: 1 } } })
  await stage.setImage('v2-pull60s')
  let most = 0
  for (let second = 0; second < 300; second++) {
    await stage.pass(1_000)
    most = Math.max(
      most,
      (await stage.helperPods()).filter(({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ContainerCreating')
        .length,
    )
  }
  expect(most).toBe(1)
})

describe('a node that cannot pull the image', () => {
  it('keeps its agent and is named, the others continue, and it is updated by itself once it can', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await setRegistry('node-002', false)
    await stage.setImage('v2-pull60s')
    await untilNodesOn(stage, 'v2-pull60s', 5, 20 * 60_000)
    await stage.until('it is reported', async () => (await waiting())?.reason === 'ImagePull')
    expect((await waiting())?.message).toContain('node-002 (cannot pull image "registry.example/node-agent:v2-pull60s": ErrImagePull')
    await stage.pass(30 * 60_000)
    expect(await nodesOn(stage, 'v1')).toEqual(['node-002'])
    await setRegistry('node-002', true)
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
    expect(await stage.helperPods()).toEqual([])
    expectKept(stage)
  })

  it('is updated anyway with onFailure: Continue', async () => {
    stage = await setStage({ ...slow, policy: { prePull: { onFailure: 'Continue' } } })
    await setRegistry('node-002', false)
    await stage.setImage('v2-pull60s')
    await stage.until('its old agent is gone', async () => !(await nodesOn(stage, 'v1')).includes('node-002'), 20 * 60_000)
  })
})

it('an image that no node can pull takes no agent down, on few nodes at a time, and the next version is released', async () => {
  stage = await setStage({ ...slow, nodes: 20, policy: { prePull: {} } })
  await stage.setImage('bad-pull')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'ImagePull')
  await stage.pass(10 * 60_000)
  expect(await nodesOn(stage, 'v1')).toHaveLength(20)
  expect((await stage.helperPods()).length).toBeLessThanOrEqual(2)
  expect((await stage.release())?.status?.flight?.blocked).toHaveLength(10)
  await stage.setImage('v2-pull60s')
  await untilReleased(stage, 'v2-pull60s', 30 * 60_000)
  expect(await stage.helperPods()).toEqual([])
  expectKept(stage)
})

it('a pull that takes longer than the policy allows blocks its node', async () => {
  stage = await setStage({ ...slow, policy: { prePull: { timeout: '30s' } } })
  await stage.setImage('v2-pull60s')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'ImagePull')
  expect((await waiting())?.message).toContain('the images were not pulled within 30s')
  expect(await nodesOn(stage, 'v1')).toHaveLength(6)
})

it('an installation that does not allow helper pods takes no agent down, and the release says how to allow it', async () => {
  stage = await setStage({ ...slow, policy: { prePull: {} }, prePull: false })
  await stage.setImage('v2-pull60s')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'PrePullNotAllowed')
  expect((await waiting())?.message).toContain('rbac.prePull: true')
  expect(await nodesOn(stage, 'v1')).toHaveLength(6)
})

it('an installation that does not allow helper pods updates nodes without them if the policy tolerates failures, and says so', async () => {
  stage = await setStage({ ...slow, policy: { prePull: { onFailure: 'Continue' } }, prePull: false })
  await stage.setImage('v2-pull60s')
  await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  const message = expect.stringContaining('the installation allows no helper pods, so nodes are updated without their images')
  const { status } = await stage.client.get<ReleasePolicy>(resourcePaths.releasePolicies, policyKey)
  const usable = status?.conditions?.find(({ type }) => type === 'Usable')
  expect(usable).toMatchObject({ status: 'False', reason: 'PrePullNotAllowed', message })
  expect(await events(stage)).toContainEqual(expect.objectContaining({ reason: 'PolicyUnusable', message }))
})

it('nodes that are full to the last CPU are updated, also where the policy asks for room', async () => {
  stage = await setStage({ ...slow, policy: { prePull: {}, nodes: { room: 'Check' } }, cpu: '500m' })
  for (const node of ['node-001', 'node-002', 'node-003']) await fill(node, '7500m')
  await stage.patchDaemonSet(requesting('500m', 'v2-pull60s'))
  await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  expect(Math.max(...gaps())).toBeLessThanOrEqual((STOP_MS + START_MS) * 1.1)
  expectKept(stage)
})

it('a node without room keeps no other node from pulling', async () => {
  stage = await setStage({ ...slow, policy: { prePull: { parallel: 1 }, nodes: { room: 'Check', order: [{ by: 'Name' }] } }, cpu: '500m' })
  await fill('node-001', '7500m')
  await stage.patchDaemonSet(requesting('1', 'v2-pull60s'))
  await untilNodesOn(stage, 'v2-pull60s', 5, 30 * 60_000)
  expect(await nodesOn(stage, 'v1')).toEqual(['node-001'])
  await stage.until('it is reported', async () => (await waiting())?.reason === 'NoRoom')
  expectKept(stage)
})

it('a quota that rejects helper pods blocks the nodes, with its words', async () => {
  stage = await setStage({ ...slow, policy: { prePull: {} } })
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: stageKey.namespace, name: 'full' } }
  const quotas = { group: '', version: 'v1', plural: 'resourcequotas', namespaced: true } as const
  await drive(stage.clock, stage.client.create(quotas, { ...quota, spec: { hard: { pods: '6' } } } as never))
  await stage.setImage('v2-pull60s')
  await stage.until('it is reported', async () => (await waiting())?.reason === 'ImagePull')
  expect((await waiting())?.message).toContain('the helper pod was rejected: ')
  expect((await waiting())?.message).toContain('exceeded quota')
  expect(await nodesOn(stage, 'v1')).toHaveLength(6)
  await drive(stage.clock, stage.client.delete(quotas, { namespace: stageKey.namespace, name: 'full' }))
  await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  expectKept(stage)
})

it('a helper pod that a user deletes is created again', async () => {
  stage = await setStage({ ...slow, policy: { prePull: {} } })
  await stage.setImage('v2-pull60s')
  await stage.until('nodes pull', async () => (await stage.helperPods()).length > 0)
  for (const { metadata } of await stage.helperPods())
    await drive(stage.clock, stage.client.delete(resourcePaths.pods, { namespace: stageKey.namespace, name: metadata.name }))
  await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  expectKept(stage)
})

it('a node that is removed while it pulls does not hold the release', async () => {
  stage = await setStage({ ...slow, policy: { prePull: {} } })
  await stage.setImage('v2-pull60s')
  await stage.until('nodes pull', async () => (await stage.helperPods()).length > 0)
  const node = (await stage.helperPods())[0]?.spec?.nodeName ?? ''
  await drive(stage.clock, stage.simulator.nodes.removeNode(node))
  await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  await stage.until('no helper pod is left', async () => (await stage.helperPods()).length === 0)
  expectKept(stage)
})

describe('helper pods are gone', () => {
  it('while the release is paused', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await stage.setImage('v2-pull60s')
    await stage.until('nodes pull', async () => (await stage.helperPods()).length > 0)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('they are gone', async () => (await stage.helperPods()).length === 0, 60_000)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  })

  it('after another version is applied, and those of that version are made', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await stage.setImage('v2-pull60s')
    await stage.until('nodes pull', async () => (await stage.helperPods()).length > 0)
    await stage.setImage('v3-pull60s')
    await untilReleased(stage, 'v3-pull60s', 20 * 60_000)
    expect(await stage.helperPods()).toEqual([])
    expectKept(stage)
  })

  it('after the policy no longer asks for them', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await stage.setImage('v2-pull60s')
    await stage.until('nodes pull', async () => (await stage.helperPods()).length > 0)
    await patchPolicy({ spec: { prePull: null } })
    await stage.until('they are gone', async () => (await stage.helperPods()).length === 0, 60_000)
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  })

  it('after the Rollout is deleted', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await stage.setImage('v2-pull60s')
    await stage.until('nodes pull', async () => (await stage.helperPods()).length > 0)
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, stageKey))
    await stage.until('they are gone', async () => (await stage.helperPods()).length === 0, 5 * 60_000)
  })

  it('although their release controls no DaemonSet', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    const byHand = {
      ...{ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', metadata: { namespace: stageKey.namespace, name: 'by-hand' } },
      spec: {
        workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'gone' },
        releasePlan: { batches: [{ canaryReplicas: 1 }], enableExtraWorkloadForCanary: false },
      },
    }
    const { metadata } = (await drive(stage.clock, stage.client.create(resourcePaths.batchReleases, byHand as never))) as KubeObject
    const manifest = helperManifest({
      ...{ daemonSet: { namespace: stageKey.namespace, name: 'gone' }, revision: 'any', seenAt: '1', node: 'node-001' },
      ...{ template: { spec: { containers: [{ image: 'a:1' }] } }, release: { name: metadata.name, uid: metadata.uid } },
    })
    await drive(stage.clock, stage.client.create(resourcePaths.pods, manifest as never))
    expect(await stage.helperPods()).toHaveLength(1)
    await stage.until('it is gone', async () => (await stage.helperPods()).length === 0, 2 * 60_000)
  })

  it('after their executor was killed and another one has taken over', async () => {
    stage = await setStage({ ...slow, policy: { prePull: {} } })
    await stage.setImage('v2-pull60s')
    await stage.until('nodes pull', async () => (await stage.helperPods()).length > 0)
    stage.program('executor-1').kill()
    await stage.startExecutor('executor-2')
    await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
    expect(await stage.helperPods()).toEqual([])
    expectKept(stage)
  })
})

it.each([1, 2, 3])('two executors create one helper pod for each node (G8), seed %i', async (seed) => {
  const log = createRequestLog()
  stage = await setStage({ ...slow, policy: { prePull: {} }, executors: ['executor-1', 'executor-2'], tap: log.tap, seed })
  await stage.setImage('v2-pull60s')
  await untilReleased(stage, 'v2-pull60s', 20 * 60_000)
  expect(stage.recording().filter(({ type, kind, o }) => type === 'ADDED' && kind === 'Pod' && isHelper(o))).toHaveLength(6)
  expect(await stage.helperPods()).toEqual([])
  expectKept(stage)
})

function isHelper(o: object): boolean {
  return (o as RecordedPod).name.includes('-pull-')
}

/** For each node, the time from the deletion of its pod until its new pod was Ready, in milliseconds. */
function gaps(): readonly number[] {
  const gone = new Map<string, number>()
  const found: number[] = []
  for (const { t, kind, type, o } of stage.recording()) {
    if (kind !== 'Pod' || isHelper(o)) continue
    const { node = '', deleting, ready } = o as unknown as RecordedPod
    if (deleting && type === 'MODIFIED' && !gone.has(node)) gone.set(node, t)
    const since = gone.get(node)
    if (since === undefined || deleting || !ready || type === 'DELETED') continue
    found.push(t - since)
    gone.delete(node)
  }
  return found
}

async function setRegistry(node: string, isReached: boolean): Promise<void> {
  const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': isReached ? null : 'true' } } }
  await drive(stage.clock, stage.client.patch(resourcePaths.nodes, { namespace: '', name: node }, { type: 'merge', body }))
}

async function fill(nodeName: string, cpu: string): Promise<void> {
  const containers = [{ name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu } } }]
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: `filler-${nodeName}` },
    spec: { nodeName, containers },
  }
  await drive(stage.clock, stage.client.create(resourcePaths.pods, pod as never))
}

function requesting(cpu: string, tag: string): object {
  const container = { name: 'agent', image: `registry.example/node-agent:${tag}`, resources: { requests: { cpu } } }
  return { spec: { template: { spec: { containers: [container] } } } }
}

async function patchPolicy(body: object): Promise<void> {
  const key = { namespace: stageKey.namespace, name: 'careful' }
  await drive(stage.clock, stage.client.patch(resourcePaths.releasePolicies, key, { type: 'merge', body }))
}

async function waiting() {
  return (await stage.release())?.status?.waiting
}
