import { resourcePaths } from '@tranche/kube-client'
import { keyText } from '@tranche/kube-types'
import { ApiStatusError } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { breakPod } from './hands.ts'
import { addAgent, addNamespace, type Agent, GROUP, groupLeases, LEASES, made, setGroupStage } from './group-stage.ts'
import { policyKey } from './stage-objects.ts'
import { drive, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const pausing = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]

describe('two agents of one group (G13)', () => {
  it('are released one after the other, and no Lease is left', async () => {
    const [a, b] = await begin()
    await bothAsked(a, b)
    expect(await waitOf(b)).toContain('releases one DaemonSet at a time; waiting for Rollout demo/node-agent')
    expect(await b.nodesOn('v1')).toHaveLength(4)
    await stage.until('log-agent begins', async () => (await b.nodesOn('v1')).length < 4)
    expect(await a.nodesOn('v2')).toHaveLength(4)
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('that waits for an approval keeps the other one waiting, which says so, until it is paused', async () => {
    const [a, b] = await begin({ steps: pausing })
    await bothAsked(a, b)
    await untilStepPaused(a)
    await stage.until('it is said', async () => (await waitOf(b)).includes('whose step is done and whose next step has not begun'))
    await stage.pass(30 * 60_000)
    expect(await b.nodesOn('v1')).toHaveLength(4)
    await a.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('log-agent begins', async () => (await b.nodesOn('v1')).length < 4)
    await a.patchRollout({ spec: { strategy: { paused: false } } })
    await a.untilWaiting('GroupBusy')
    expect(await a.nodesOn('v1')).toHaveLength(2)
    await untilStepPaused(b)
    await approve(b)
    await b.untilReleased('v2')
    await approve(a)
    await a.untilReleased('v2')
    await expectEnded()
  })

  it('that has failed keeps the group, so that its rollback does not wait', async () => {
    const [a, b] = await begin({ policy: { downtime: { group: GROUP }, failure: { action: 'Rollback' } } })
    await a.setImage('bad-crash')
    await stage.until('a node of node-agent is updated', async () => (await a.nodesOn('bad-crash')).length > 0)
    await b.setImage('v2')
    await a.untilReleased('v1', 30 * 60_000)
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('may be deleted: the next one begins, and the Lease of the deleted one is gone', async () => {
    const [a, b] = await begin({ steps: pausing })
    await bothAsked(a, b)
    await untilStepPaused(a)
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, { namespace: a.namespace, name: a.name }))
    await untilStepPaused(b)
    await approve(b)
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('that is deleted with its DaemonSet while no controller runs is gone soon, and the next one begins', async () => {
    const [a, b] = await begin({ steps: pausing })
    await bothAsked(a, b)
    await stage.until('a node of node-agent is updated', async () => (await a.nodesOn('v1')).length < 4)
    await stage.program('controller-1').stop()
    const key = { namespace: a.namespace, name: a.name }
    await drive(stage.clock, stage.client.delete(resourcePaths.daemonSets, key))
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, key))
    await drive(stage.clock, stage.client.delete(resourcePaths.batchReleases, key))
    await stage.startController('controller-2')
    await stage.until('the release is gone', async () => (await a.release()) === undefined, 5 * 60_000)
    await untilStepPaused(b)
    await approve(b)
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('whose DaemonSet is deleted gives the group up', async () => {
    const [a, b] = await begin()
    await bothAsked(a, b)
    await stage.until('a node of node-agent is updated', async () => (await a.nodesOn('v1')).length < 4)
    await drive(stage.clock, stage.client.delete(resourcePaths.daemonSets, { namespace: a.namespace, name: a.name }))
    await b.untilReleased('v2', 20 * 60_000)
  })

  it('may be paused and deleted though its Lease cannot be written, and asks for that seldom', async () => {
    const [a] = await begin({ steps: pausing })
    await a.setImage('v2')
    await untilStepPaused(a)
    let asked = 0
    stage.disturb({
      onRequest({ actor, verb, resource, name }) {
        if (!actor.startsWith('controller') || resource.resource !== 'leases' || verb === 'get') return undefined
        if (name?.startsWith('tranche-group.') === true) asked += 1
        return name?.startsWith('tranche-group.') === true ? { kind: 'error', error: forbidden } : undefined
      },
    })
    await a.patchRollout({ spec: { strategy: { paused: true } } })
    const acknowledged = async (): Promise<boolean> => (await a.release())?.status?.waiting?.reason === 'Paused'
    await stage.until('the pause is acknowledged', acknowledged, 60_000)
    await stage.pass(10 * 60_000)
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, { namespace: a.namespace, name: a.name }))
    await stage.until('the release is gone', async () => (await a.release()) === undefined, 5 * 60_000)
    expect(asked).toBeLessThan(40)
  })

  it('may be paused and deleted though a client forges the Lease in its status, or the API server fails to read it (G9)', async () => {
    const [a] = await begin({ steps: pausing })
    await a.setImage('v2')
    await untilStepPaused(a)
    await forgeLease(a, 'a%b')
    failLeases(500)
    await a.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('the pause is acknowledged', async () => (await a.release())?.status?.waiting?.reason === 'Paused', 60_000)
    expect((await a.release())?.status?.groupLease).not.toBe('a%b')
    await forgeLease(a, 'a%b')
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, { namespace: a.namespace, name: a.name }))
    await stage.until('the release is gone', async () => (await a.release()) === undefined, 5 * 60_000)
    expectKept(stage)
  })

  it('continues after a client has forged the Lease in its status, and is not stopped by a short outage of Leases', async () => {
    const [a] = await begin({ nodes: 8 })
    await a.setImage('v2')
    await stage.until('a node is updated', async () => (await a.nodesOn('v2')).length > 0)
    const epoch = (await a.release())?.status?.flight?.epoch
    await forgeLease(a, 'a%b')
    await stage.until('it is replaced', async () => (await a.release())?.status?.groupLease === `tranche-group.demo.${GROUP}`)
    const end = failLeases(503)
    await stage.pass(20_000)
    expect((await a.release())?.status?.flight).toMatchObject({ state: 'open', epoch })
    end()
    await a.untilReleased('v2')
    await expectEnded()
  })

  it('continues with a newer template and keeps the group', async () => {
    const [a, b] = await begin()
    await bothAsked(a, b)
    await a.setImage('v3')
    await stage.until('log-agent begins', async () => (await b.nodesOn('v1')).length < 4)
    expect(await a.nodesOn('v3')).toHaveLength(4)
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('is over though a node is dead: the group is free, and the node is updated once it is back and the group is free again', async () => {
    const [a, b] = await begin({ nodes: 4 })
    await drive(stage.clock, stage.simulator.nodes.kill('node-004'))
    await stage.pass(10 * 60_000)
    await a.setImage('v2')
    await stage.until('a node is left', async () => (await a.release())?.status?.waiting?.reason === 'NodesLeft', 20 * 60_000)
    await b.setImage('v2')
    await stage.until('log-agent begins', async () => (await b.nodesOn('v2')).length > 0)
    await drive(stage.clock, stage.simulator.nodes.revive('node-004'))
    await b.untilReleased('v2', 20 * 60_000)
    await a.untilReleased('v2', 20 * 60_000)
    await expectEnded()
  })
})

describe('a release that is over, and lost a machine in the update of its node (G6)', () => {
  it('lets the other one begin though it is paused', async () => {
    const [a, b] = await endedWithLostNode()
    await a.patchRollout({ spec: { strategy: { paused: true } } })
    await a.untilWaiting('Paused')
    await b.setImage('v2')
    await stage.until('log-agent updates nodes', async () => (await b.nodesOn('v2')).length >= 3, 20 * 60_000)
    expectKept(stage)
  })

  it('lets the other one begin though its next template is paused before it begins', async () => {
    const [a, b] = await endedWithLostNode()
    await a.patchRollout({ spec: { strategy: { paused: true } } })
    await a.setImage('v3')
    await stage.pass(30_000)
    await b.setImage('v2')
    await stage.until('log-agent updates nodes', async () => (await b.nodesOn('v2')).length >= 3, 20 * 60_000)
    expect(await a.nodesOn('v3')).toEqual([])
    expectKept(stage)
  })

  it('lets the other one begin though it was paused while it waited for the group again', async () => {
    const [a, b] = await endedWithLostNode({ steps: [{ replicas: '50%', pause: { duration: 60 } }, { replicas: '100%' }] }, 'node-001')
    await b.setImage('v2')
    await stage.until('log-agent begins', async () => (await b.nodesOn('v2')).length > 0, 20 * 60_000)
    await drive(stage.clock, stage.simulator.nodes.revive('node-001'))
    await a.untilWaiting('GroupBusy')
    await a.patchRollout({ spec: { strategy: { paused: true } } })
    await a.untilWaiting('Paused')
    await b.untilWaiting('NodesLeft')
    await b.setImage('v3')
    await stage.until('log-agent begins again', async () => (await b.nodesOn('v3')).length > 2, 20 * 60_000)
    expect(await a.nodesOn('v1')).toEqual(['node-001'])
    expectKept(stage)
  })
})

/** The first agent has released v2; the machine of one node was lost in mid-update. @param dead a node that is dead before */
async function endedWithLostNode(options: Parameters<typeof setGroupStage>[0] = {}, dead?: string): Promise<readonly [Agent, Agent]> {
  const [a, b] = await begin({ nodes: 6, maxUnavailable: 3, ...options })
  if (dead !== undefined) {
    await drive(stage.clock, stage.simulator.nodes.kill(dead))
    await stage.pass(10 * 60_000)
  }
  const nodes = await a.nodesOn('v1')
  await a.setImage('v2')
  const there = async (): Promise<readonly string[]> => [...(await a.nodesOn('v1')), ...(await a.nodesOn('v2'))]
  await stage.until('a node is in mid-update', async () => (await there()).length < nodes.length)
  const standing = await there()
  const gone = nodes.find((node) => !standing.includes(node)) ?? ''
  await drive(stage.clock, stage.simulator.nodes.kill(gone))
  await stage.until('a node is left', async () => (await a.release())?.status?.waiting?.reason === 'NodesLeft', 30 * 60_000)
  await stage.until('the group is free', async () => (await groupLeases(stage)).length === 0)
  expect((await a.release())?.status?.flight?.permits.map(({ node }) => node)).toEqual([gone])
  return [a, b]
}

it('a rollback that is over does not take the group again for a node that crashes later (G6)', async () => {
  const [a, b] = await begin({ nodes: 8, maxUnavailable: 3, steps: pausing })
  await a.setImage('v2')
  await untilStepPaused(a)
  const [dead = ''] = await a.nodesOn('v2')
  await drive(stage.clock, stage.simulator.nodes.kill(dead))
  await stage.pass(60_000)
  await a.setImage('v1')
  await a.untilWaiting('NodesLeft')
  await stage.until('the group is free', async () => (await groupLeases(stage)).length === 0)
  await stage.pass(60_000)
  const [other] = (await stage.pods()).filter(({ metadata, spec }) => metadata.labels?.['app'] === a.name && spec?.nodeName !== dead)
  await breakPod(stage, other!)
  await stage.pass(60_000)
  expect((await a.release())?.status?.waiting?.reason).toBe('NodesLeft')
  await b.setImage('v2')
  await stage.until('log-agent begins', async () => (await b.nodesOn('v2')).length > 0, 20 * 60_000)
  expectKept(stage)
})

it('a failure on a node that a release had left gives the group up (G6)', async () => {
  const [a, b] = await begin({ nodes: 6, maxUnavailable: 2 })
  await drive(stage.clock, stage.simulator.nodes.kill('node-001'))
  await stage.pass(10 * 60_000)
  await a.setImage('v2')
  await a.untilWaiting('NodesLeft')
  await stage.until('the group is free', async () => (await groupLeases(stage)).length === 0)
  const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': 'true' } } }
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name: 'node-001' }, { type: 'merge', body })
  await drive(stage.clock, stage.simulator.nodes.revive('node-001'))
  await a.untilWaiting('ReleaseFailed')
  expect((await a.release())?.status?.flight?.permits).toHaveLength(1)
  await b.setImage('v2')
  await stage.until('log-agent begins', async () => (await b.nodesOn('v2')).length > 2, 20 * 60_000)
  expectKept(stage)
})

describe('more than two agents of one group', () => {
  it('are released in the order in which they began to wait', async () => {
    const set = await setGroupStage({ agents: ['node-agent', 'z-agent', 'b-agent'] })
    stage = set.stage
    const [first, second, third] = set.agents as readonly [Agent, Agent, Agent]
    await bothAsked(first, second)
    await stage.pass(2_000)
    await third.setImage('v2')
    await third.untilWaiting('GroupBusy')
    await stage.until('the third begins', async () => (await third.nodesOn('v1')).length < 4)
    expect(await second.nodesOn('v2')).toHaveLength(4)
    await third.untilReleased('v2')
    await expectEnded()
  })
})

describe('a group across namespaces', () => {
  it('is one group where the installation lets the namespaces share their groups', async () => {
    const [a, b] = await beginInTwo(['demo', 'other'])
    await bothAsked(a, b)
    expect((await groupLeases(stage)).map(({ metadata }) => metadata.name)).toEqual([`tranche-group.${GROUP}`])
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('is two groups otherwise, so that no user of one namespace makes releases of another wait', async () => {
    const [a, b] = await beginInTwo([])
    await a.setImage('v2')
    await b.setImage('v2')
    await stage.until('both run', async () => (await a.nodesOn('v1')).length < 4 && (await b.nodesOn('v1')).length < 4)
    expect(await groupLeases(stage)).toHaveLength(2)
    await a.untilReleased('v2')
    await b.untilReleased('v2')
    await expectEnded()
  })
})

it('a status that a user of another namespace forges faster than it is repaired delays the releases of a shared group by half a minute', async () => {
  const [a] = await beginInTwo(['demo', 'other'])
  await made(stage, resourcePaths.batchReleases, forgedRelease)
  stage.disturb({
    onRequest: ({ actor, verb, namespace, name }) =>
      actor.startsWith('controller') && verb === 'patch' && `${namespace}/${name}` === keyText(forgedKey)
        ? { kind: 'conflict' }
        : undefined,
  })
  await forge()
  await a.setImage('v2')
  await a.untilWaiting('GroupBusy')
  expect(await waitOf(a)).toContain('BatchRelease other/forged comes first')
  await stage.pass(20_000)
  expect(await a.nodesOn('v1')).toHaveLength(4)
  await stage.pass(20_000)
  expect(await a.nodesOn('v1')).not.toHaveLength(4)
  await a.untilReleased('v2')
  expect(await groupLeases(stage)).toEqual([])
})

describe('the Lease of a group', () => {
  it('that another program holds keeps releases waiting, which name it, until it is deleted', async () => {
    const [a] = await begin()
    const name = `tranche-group.demo.${GROUP}`
    await made(stage, resourcePaths.leases, leaseOf(name, 'node-drainer'))
    await a.setImage('v2')
    await a.untilWaiting('GroupLocked')
    await stage.until('it is named', async () => (await waitOf(a)).includes('is held by "node-drainer", which is no release'))
    await stage.pass(10 * 60_000)
    expect(await a.nodesOn('v1')).toHaveLength(4)
    await drive(stage.clock, stage.client.delete(resourcePaths.leases, { namespace: LEASES, name }))
    await a.untilReleased('v2')
    await expectEnded()
  })

  it('that names a release which is gone is freed', async () => {
    const [a] = await begin()
    await made(stage, resourcePaths.leases, leaseOf(`tranche-group.demo.${GROUP}`, 'demo/log-agent/of-the-past'))
    await a.setImage('v2')
    await a.untilReleased('v2')
    await expectEnded()
  })

  it('is taken again by the release in progress after a user has deleted it', async () => {
    const [a, b] = await begin({ nodes: 8 })
    await bothAsked(a, b)
    const [lease] = await groupLeases(stage)
    await drive(stage.clock, stage.client.delete(resourcePaths.leases, { namespace: LEASES, name: lease?.metadata.name ?? '' }))
    await stage.until('log-agent begins', async () => (await b.nodesOn('v1')).length < 8)
    expect(await a.nodesOn('v2')).toHaveLength(8)
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('that cannot be taken keeps the release waiting, which says why, and may be paused', async () => {
    const [a] = await begin()
    let asked = 0
    const allow = stage.disturb({
      onRequest({ actor, verb, resource, name }) {
        if (!actor.startsWith('controller') || resource.resource !== 'leases' || verb === 'get') return undefined
        if (verb !== 'create' && name?.startsWith('tranche-group.') !== true) return undefined
        asked += 1
        return { kind: 'error', error: new ApiStatusError(403, 'Forbidden', 'exceeded quota: leases') }
      },
    })
    await a.setImage('v2')
    await a.untilWaiting('GroupFailed')
    expect(await waitOf(a)).toContain('its Lease cannot be taken: ')
    expect(await waitOf(a)).toContain('exceeded quota: leases')
    await stage.pass(5 * 60_000)
    expect((await a.release())?.status?.waiting?.reason).toBe('GroupFailed')
    expect(asked).toBeLessThan(40)
    await a.patchRollout({ spec: { strategy: { paused: true } } })
    await a.untilWaiting('Paused')
    await a.patchRollout({ spec: { strategy: { paused: false } } })
    await a.untilWaiting('GroupFailed')
    allow()
    await a.untilReleased('v2')
    await expectEnded()
  })

  it('that cannot be read holds the release, which names the missing right', async () => {
    const [a] = await begin()
    const allow = stage.disturb({
      onRequest: ({ actor, resource }) =>
        actor.startsWith('controller') && resource.resource === 'leases' ? { kind: 'error', error: forbidden } : undefined,
    })
    await a.setImage('v2')
    await a.untilWaiting('GroupNotAllowed')
    expect(await waitOf(a)).toContain('403 Forbidden: leases is forbidden; grant the controller the rights')
    allow()
    await a.untilReleased('v2')
    await expectEnded()
  })
})

it('a policy that names a group where the installation allows none holds the release, which says what to set', async () => {
  const [a] = await begin({ groups: null, agents: ['node-agent'] })
  await a.setImage('v2')
  await a.untilWaiting('GroupNotAllowed')
  expect(await waitOf(a)).toContain('the installation does not allow groups; set rbac.groups: true')
  await setPolicy({})
  await a.untilReleased('v2')
  expectKept(stage)
})

describe('a policy that changes in mid-release', () => {
  it('puts a running release into a group: it is closed for a moment, and continues with the Lease', async () => {
    const [a, b] = await begin({ policy: {}, steps: pausing })
    await a.setImage('v2')
    await untilStepPaused(a)
    await setPolicy({ downtime: { group: GROUP } })
    await stage.until('it has the group', async () => (await groupLeases(stage)).length === 1)
    await b.setImage('v2')
    await b.untilWaiting('GroupBusy')
    await approve(a)
    await untilStepPaused(b)
    expect(await a.nodesOn('v2')).toHaveLength(4)
    await approve(b)
    await b.untilReleased('v2')
    await expectEnded()
  })

  it('takes the group away: the waiting release begins at once, and the Lease goes', async () => {
    const [a, b] = await begin({ steps: pausing })
    await bothAsked(a, b)
    await untilStepPaused(a)
    await setPolicy({ downtime: null } as never)
    await untilStepPaused(b)
    await stage.until('no Lease is left', async () => (await groupLeases(stage)).length === 0)
    await approve(a)
    await approve(b)
    await a.untilReleased('v2')
    await b.untilReleased('v2')
    expectKept(stage)
  })
})

const forgedKey = { namespace: 'other', name: 'forged' }

/** Its DaemonSet does not exist. */
const forgedRelease = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'BatchRelease',
  metadata: forgedKey,
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'forged' },
    releasePlan: { enableExtraWorkloadForCanary: false, batches: [{ canaryReplicas: '100%' }] },
    tranche: { canaryRevision: 'a', stableRevision: 'b', release: 'a', downtime: { group: GROUP } },
  },
}

/** Writes a status in which a node is in flight. */
async function forge(): Promise<void> {
  const permits = [{ node: 'node-1', podUid: 'pod', podResourceVersion: '1' }]
  const versions = { workloadUid: 'gone', revision: 'a', watermark: '1', epoch: 1, seq: 1, generation: 1 }
  const waiting = { reason: 'NotAvailable', message: 'forged', nodes: [], since: '2023-01-01T00:00:00Z' }
  const flight = { ...versions, state: 'stopped', holds: [], limit: 1, partition: 0, permits }
  const patch = { type: 'merge', body: { status: { flight, waiting } } } as const
  await drive(stage.clock, stage.client.patch(resourcePaths.batchReleases, forgedKey, patch, { subresource: 'status' }))
}

/** Another client names this text as the Lease of the release. */
async function forgeLease({ namespace, name }: Agent, groupLease: string): Promise<void> {
  const patch = { type: 'merge', body: { status: { groupLease } } } as const
  await drive(stage.clock, stage.client.patch(resourcePaths.batchReleases, { namespace, name }, patch, { subresource: 'status' }))
}

/** Lets every read of the Lease of a group fail. An API server answers 400 to a name that no object can have. */
function failLeases(status: number): () => void {
  return stage.disturb({
    onRequest({ actor, verb, resource, name }) {
      if (!actor.startsWith('controller') || resource.resource !== 'leases' || verb !== 'get') return undefined
      if (name === 'a%b') return { kind: 'error', error: new ApiStatusError(400, 'BadRequest', 'Name parameter invalid') }
      return name?.startsWith('tranche-group.') === true
        ? { kind: 'error', error: new ApiStatusError(status, 'Failed', 'no leader') }
        : undefined
    },
  })
}

const forbidden = new ApiStatusError(403, 'Forbidden', 'leases is forbidden')

async function begin(options: Parameters<typeof setGroupStage>[0] = {}): Promise<readonly [Agent, Agent]> {
  const set = await setGroupStage(options)
  stage = set.stage
  return set.agents as unknown as readonly [Agent, Agent]
}

async function beginInTwo(shared: readonly string[]): Promise<readonly [Agent, Agent]> {
  const options = { nodes: 4, maxUnavailable: 1, steps: [{ replicas: '100%' }], policy: { downtime: { group: GROUP } } }
  const set = await setGroupStage({ ...options, agents: ['node-agent'], groups: { namespace: LEASES, shared } })
  stage = set.stage
  await addNamespace(stage, 'other', options.policy)
  return [set.agents[0] as Agent, await addAgent(stage, 'log-agent', { ...options, namespace: 'other' })]
}

/** Both have a new template; the first is in progress, and the second waits. */
async function bothAsked(a: Agent, b: Agent): Promise<void> {
  await a.setImage('v2')
  await stage.until(`${a.name} is in progress`, async () => (await a.release())?.status?.flight?.state === 'open')
  await b.setImage('v2')
  await b.untilWaiting('GroupBusy')
}

async function waitOf(agent: Agent): Promise<string> {
  return (await agent.release())?.status?.waiting?.message ?? ''
}

async function untilStepPaused(agent: Agent): Promise<void> {
  const stateOf = async (): Promise<string | undefined> => (await agent.rollout()).status?.canaryStatus?.currentStepState
  await stage.until(`${agent.name} is paused`, async () => (await stateOf()) === 'StepPaused')
}

async function approve({ namespace, name }: Agent): Promise<void> {
  const body = { status: { canaryStatus: { currentStepState: 'StepReady' } } }
  const patched = stage.client.patch(resourcePaths.rollouts, { namespace, name }, { type: 'merge', body }, { subresource: 'status' })
  await drive(stage.clock, patched)
}

async function setPolicy(spec: object): Promise<void> {
  const current = { downtime: null, ...spec }
  await drive(stage.clock, stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: current } }))
}

function leaseOf(name: string, holderIdentity: string): object {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace: LEASES, name }, spec: { holderIdentity } }
}

/** Every guarantee was kept, and a while later no Lease of a group is left. */
async function expectEnded(): Promise<void> {
  await stage.pass(30_000)
  expect(await groupLeases(stage)).toEqual([])
  expectKept(stage)
}
