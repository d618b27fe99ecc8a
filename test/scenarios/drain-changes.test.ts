import { resourcePaths } from '@tranche/kube-client'
import { ApiStatusError } from '@tranche/sim-api'
import type { Exchange, WireRequest } from '@tranche/wire'
import { afterEach, describe, expect, it } from 'vitest'
import {
  byLabel,
  consumerNames,
  deleteBudget,
  expectDrained,
  expectNoMarks,
  labelled,
  makeBudget,
  makeConsumer,
  nodesOf,
  readNode,
  setCordon,
  setDrainStage,
  untilCordoned,
} from './drain-stage.ts'
import { expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { condition, nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, type Stage, type StageOptions } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const forbidden = new ApiStatusError(403, 'Forbidden', 'pods/eviction is forbidden')
const isReview = ({ path }: WireRequest): boolean => path.includes('selfsubjectaccessreviews')
const isCordon = ({ method, path }: WireRequest): boolean => method === 'PATCH' && path.includes('/nodes/')
const HOUR = 3_600_000
const NODE = 'node-001'

describe('a node that a user cordoned before its drain', () => {
  it('is drained, updated, and stays cordoned', async () => {
    await begin()
    await setCordon(stage, NODE, true)
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage, [NODE])
    expectDrained(stage, 'web')
    expectKept(stage)
  })

  it('is not cordoned again when the user makes it schedulable in mid-drain', async () => {
    await begin({ held: true })
    await setCordon(stage, NODE, true)
    await stage.setImage('v2')
    await untilCordoned(stage, NODE)
    await setCordon(stage, NODE, false)
    await stage.pass(60_000)
    expect((await drive(stage.clock, readNode(stage, NODE))).spec?.unschedulable).not.toBe(true)
    await deleteBudget(stage)
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
  })
})

describe('a node that a user makes schedulable in mid-drain', () => {
  it('stays schedulable', async () => {
    await begin({ held: true })
    await stage.setImage('v2')
    await untilCordoned(stage, NODE)
    await setCordon(stage, NODE, false)
    await stage.pass(60_000)
    expect((await drive(stage.clock, readNode(stage, NODE))).spec?.unschedulable).not.toBe(true)
    await deleteBudget(stage)
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
  })

  it('stays cordoned if the user cordons it later', async () => {
    await begin({ held: true })
    await stage.setImage('v2')
    await untilCordoned(stage, NODE)
    await setCordon(stage, NODE, false)
    await stage.pass(20_000)
    await setCordon(stage, NODE, true)
    await deleteBudget(stage)
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage, [NODE])
  })
})

describe('consumers that do not leave', () => {
  it('are named while the drain lasts, with what keeps them, since when and until when; and no longer once it is over', async () => {
    await begin({ held: true })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    await stage.until('it is reported', async () => (await waiting())?.reason === 'Draining', 60_000)
    expect(await waiting()).toMatchObject({ nodes: [NODE] })
    expect((await waiting())?.message).toMatch(
      /1 more node is to be updated, and executors first drain the nodes \(drain of the policy\): node-001 \(1 pod uses the agent: team-a\/web \(The disruption budget web does not allow evicting pods currently\), since [-0-9T:]+Z, until [-0-9T:]+Z at the latest; then it keeps its pod, and is drained again 10m later\)/,
    )
    await deleteBudget(stage)
    await untilReleased(stage, 'v2', HOUR)
    expect((await stage.release())?.status?.flight?.blocked ?? []).toEqual([])
    expectKept(stage)
  })

  it('because of a PodDisruptionBudget keep the old pod: the node is schedulable again, named, and tried later', async () => {
    await begin({ held: true })
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    await stage.until('it is reported', async () => (await waiting())?.reason === 'DrainBlocked', HOUR)
    expect(await waiting()).toMatchObject({ nodes: [NODE] })
    expect((await waiting())?.message).toContain(
      `${NODE} (not drained within 10m: 1 pod uses the agent: team-a/web (The disruption budget web does not allow evicting pods currently))`,
    )
    await expectNoMarks(stage)
    expect(await nodesOn(stage, 'v1')).toEqual([NODE])
    await deleteBudget(stage)
    await untilReleased(stage, 'v2', HOUR)
    await expectNoMarks(stage)
    expectDrained(stage, 'web')
    expectKept(stage)
  })

  it('because a webhook denies their eviction are named with its message once the time is over', async () => {
    await begin()
    const allow = forbidEvictions()
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    await stage.until('it is reported', async () => (await waiting())?.reason === 'DrainBlocked', HOUR)
    expect((await waiting())?.message).toContain('pods/eviction is forbidden')
    allow()
    await untilReleased(stage, 'v2', HOUR)
    expectDrained(stage, 'web')
    await expectNoMarks(stage)
  })

  it('because of a finalizer are named, and with onTimeout: Continue the pod is deleted all the same', async () => {
    stage = await setDrainStage({ ...byLabel, timeout: '1m', onTimeout: 'Continue' })
    await makeConsumer(stage, 'web', NODE, {}, { labels: labelled, finalizers: ['example.com/keep'] })
    await stage.setImage('v2')
    await stage.pass(30_000)
    expect(await nodesOn(stage, 'v2')).not.toContain(NODE)
    await untilReleased(stage, 'v2')
    expect(await consumerNames(stage)).toEqual(['web'])
    await expectNoMarks(stage)
    expectKept(stage)
    const message = `node ${NODE} is updated although it is not drained within 1m: 1 pod uses the agent: team-a/web (terminating, with finalizer example.com/keep)`
    const said = (await events(stage)).filter(({ reason }) => reason === 'DrainTimedOut')
    expect(said.map((one) => [one.involvedObject.kind, one.type, one.message])).toEqual([
      ['DaemonSet', 'Warning', message],
      ['Rollout', 'Warning', message],
    ])
  })

  it('do not keep other nodes from being updated, whatever their number', async () => {
    stage = await setDrainStage({ ...byLabel, timeout: '1m' }, { nodes: 6 })
    for (const node of [1, 2, 3]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
    await makeBudget(stage)
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3, HOUR)
    await stage.pass(HOUR)
    expect(await nodesOn(stage, 'v1')).toEqual(['node-001', 'node-002', 'node-003'])
    const { length } = stage.recording().filter(({ actor = '' }) => actor.startsWith('executor'))
    expect(length, 'writes in an hour').toBeLessThan(600)
    await deleteBudget(stage)
    await untilReleased(stage, 'v2', HOUR)
    await expectNoMarks(stage)
  })
})

describe('in mid-drain,', () => {
  it('a pause makes the node schedulable again, and a resume drains it again', async () => {
    await beginDraining()
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('it is paused', async () => (await condition(stage, 'Progressing'))?.reason === 'Paused')
    await expectNoMarks(stage)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilCordoned(stage, NODE)
    await deleteBudget(stage)
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
  })

  it('a rollback makes the node schedulable again', async () => {
    await beginDraining()
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    await expectNoMarks(stage)
    expect(await consumerNames(stage)).toEqual(['web'])
  })

  it('the deletion of the Rollout makes the node schedulable again', async () => {
    await beginDraining()
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, stageKey))
    await stage.until('its release is gone', async () => (await stage.release()) === undefined)
    await expectNoMarks(stage)
  })

  it('the deletion of the DaemonSet makes the node schedulable again', async () => {
    await beginDraining()
    await drive(stage.clock, stage.client.delete(resourcePaths.daemonSets, stageKey))
    await expectNoMarks(stage)
  })

  it('a mark that a kubelet forges on its own node, and that cannot be read, keeps no other node cordoned', async () => {
    const mark = { namespace: 'demo', name: 'forged', uid: 'forged', podUid: 'a', podResourceVersion: '1', cordoned: true }
    const body = { metadata: { annotations: { 'tranche.dev/cordon': JSON.stringify(mark) } } }
    stage = await setDrainStage(byLabel)
    await drive(stage.clock, stage.client.patch(resourcePaths.nodes, { namespace: '', name: 'node-004' }, { type: 'merge', body }))
    stage.disturb({
      onRequest: ({ actor, verb, name }) =>
        actor.startsWith('executor') && verb === 'get' && name === 'forged'
          ? { kind: 'error', error: new ApiStatusError(400, 'BadRequest', 'invalid name') }
          : undefined,
    })
    await makeConsumer(stage, 'web', NODE, {}, { labels: labelled })
    await makeBudget(stage)
    await stage.setImage('v2')
    await untilCordoned(stage, NODE)
    await drive(stage.clock, stage.client.delete(resourcePaths.daemonSets, stageKey))
    const isFree = async (): Promise<boolean> => (await readNode(stage, NODE)).metadata.annotations?.['tranche.dev/cordon'] === undefined
    await stage.until('the node is free', isFree, 5 * 60_000)
  })

  it('an API server that answers late gets no more undos at once the longer it lasts', async () => {
    stage = await setDrainStage(byLabel, { nodes: 12, executors: ['executor-1'] })
    for (const { metadata } of await drive(stage.clock, nodesOf(stage))) {
      const mark = { namespace: 'demo', name: `late-${metadata.name}`, uid: 'late', podUid: 'a', podResourceVersion: '1', cordoned: true }
      const body = { metadata: { annotations: { 'tranche.dev/cordon': JSON.stringify(mark) } } }
      await drive(stage.clock, stage.client.patch(resourcePaths.nodes, { namespace: '', name: metadata.name }, { type: 'merge', body }))
    }
    let asked = 0
    stage.disturb({
      onRequest({ actor, verb, name }) {
        if (!actor.startsWith('executor') || verb !== 'get' || name?.startsWith('late-') !== true) return undefined
        asked += 1
        return { kind: 'delay', ms: 60_000, when: 'before' }
      },
    })
    await stage.pass(20 * 60_000)
    expect(asked).toBeGreaterThan(0)
    // Each waits for five seconds.
    expect(asked).toBeLessThanOrEqual(240)
  })

  it('the deletion of the node ends its drain, and the release continues', async () => {
    await beginDraining()
    await drive(stage.clock, stage.client.delete(resourcePaths.nodes, { namespace: '', name: NODE }))
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
    expect(await drive(stage.clock, nodesOf(stage))).toHaveLength(3)
  })

  it('a policy without drain updates the node as it is, and leaves no cordon', async () => {
    await beginDraining()
    const body = { spec: { drain: null } }
    await drive(stage.clock, stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body }))
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
    expect(await consumerNames(stage)).toEqual(['web'])
  })

  it('a policy with other consumers drains the node for these', async () => {
    await beginDraining()
    await makeConsumer(stage, 'other', NODE, {}, { labels: { uses: 'other' } })
    const body = { spec: { drain: { consumers: [{ selector: { matchLabels: { uses: 'other' } } }] } } }
    await drive(stage.clock, stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body }))
    await untilReleased(stage, 'v2')
    expectDrained(stage, 'other')
    await expectNoMarks(stage)
    expect(await consumerNames(stage)).toEqual(['web'])
  })
})

describe('an executor', () => {
  it('without the right to evict keeps the old pod, leaves no cordon, and the release says why', async () => {
    await begin({ tap: (_identity, exchange) => withoutRights(exchange) })
    const allow = forbidEvictions()
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 3)
    await stage.until('it is reported', async () => (await waiting())?.message.includes('pods/eviction is forbidden') === true)
    await expectNoMarks(stage)
    expect(await nodesOn(stage, 'v1')).toEqual([NODE])
    allow()
    await untilReleased(stage, 'v2', HOUR)
    await expectNoMarks(stage)
  })

  it('that was frozen before it cordons a node does not cordon it once another one has updated it (G7, G8)', async () => {
    await begin({ executors: ['executor-1', 'executor-2'] })
    stage.program('executor-1').process.freezeBefore(isCordon)
    await stage.setImage('v2')
    await untilReleased(stage, 'v2', HOUR)
    await stage.pass(HOUR)
    const written = stage.recording().filter(({ kind, actor }) => kind === 'Node' && actor === 'executor-1').length
    stage.program('executor-1').process.thaw()
    await stage.pass(60_000)
    expect(stage.program('executor-1').process.held()).toBeGreaterThan(0)
    expect(stage.recording().filter(({ kind, actor }) => kind === 'Node' && actor === 'executor-1')).toHaveLength(written)
    await expectNoMarks(stage)
    expectKept(stage)
  })
})

it.each([1, 2, 3])('two executors drain each node once, and leave no cordon, seed %i (G8)', async (seed) => {
  stage = await setDrainStage(byLabel, { nodes: 8, executors: ['executor-1', 'executor-2'], seed, watchDelayMs: 200 })
  for (const node of [1, 2, 3, 4]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  await expectNoMarks(stage)
  expectDrained(stage, 'web')
  expectKept(stage)
})

/** A consumer on one node; `held`: a PodDisruptionBudget keeps it. */
/** Answers that the process has no right that it asks for. */
function withoutRights(exchange: Exchange): Exchange {
  async function* denial() {
    yield JSON.stringify({ status: { allowed: false } })
  }
  const headers = { 'content-type': 'application/json' }
  return async (request, signal) => (isReview(request) ? { status: 201, headers, body: denial() } : exchange(request, signal))
}

/** @returns what ends it */
function forbidEvictions(): () => void {
  return stage.disturb({
    onRequest: ({ actor, subresource }) =>
      actor.startsWith('executor') && subresource === 'eviction' ? { kind: 'error', error: forbidden } : undefined,
  })
}

async function begin({ held = false, ...options }: StageOptions & { readonly held?: boolean } = {}): Promise<void> {
  stage = await setDrainStage(byLabel, options)
  await makeConsumer(stage, 'web', NODE, {}, { labels: labelled })
  if (held) await makeBudget(stage)
}

/** A release whose other nodes are updated, and which waits for the consumer on the last one. */
async function beginDraining(): Promise<void> {
  await begin({ held: true })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 3)
  await untilCordoned(stage, NODE)
}

async function waiting() {
  return (await stage.release())?.status?.waiting
}
