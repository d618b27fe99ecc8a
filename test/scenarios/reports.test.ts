import type { BatchRelease, ReleasePolicySpec, Rollout } from '@tranche/api-schema'
import { BY_STAMPS, FleetIndex, toFleetNode, toFleetPod } from '@tranche/fleet'
import { resourcePaths } from '@tranche/kube-client'
import { revisionsOf, type ControllerRevision, type DaemonSet, type Node, type Pod } from '@tranche/kube-types'
import {
  explainNode,
  explainRollout,
  outcomeOf,
  type ReleaseFacts,
  reportBatches,
  reportHistory,
  reportNodes,
  reportRevisions,
  reportRollout,
} from '@tranche/reports'
import { afterEach, expect, it } from 'vitest'
import { killNodes } from './kill-nodes.ts'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { copies, setPinnedStage, write } from './pinned-stage.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '20%', pause: {} }, { replicas: '50%', pause: { duration: 30 } }, { replicas: '100%' }]

it('a version that fails while a disabled Rollout completes its release is Failed, and the message names a way out that works', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 4, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2-bad-crash')
  await stage.until('it is Failed', async () => outcomeOf(await read()) === 'Failed')
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/on-delete': 'Complete' } }, spec: { disabled: true } })
  await stage.pass(60_000)
  const report = reportRollout(await read())
  expect(report).toMatchObject({ phase: 'Disabling', outcome: 'Failed', need: { reason: 'ReleaseFailed', actions: ['undo', 'retry'] } })
  expect(report.message).toContain('tranche.dev/on-delete=Rollback')
  expect(report.message).not.toContain('tranche abort')
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/on-delete': 'Rollback' } } })
  await stage.until('it is over', async () => (await stage.rollout()).status?.phase === 'Disabled')
  expect(await nodesOn(stage, 'v1')).toHaveLength(8)
  expect(outcomeOf(await read())).toBe('Done')
})

it('a release that is over but for dead nodes is Done, and its explanation names the rule that left them', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  const [dead] = await killNodes(stage, 1)
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 7)
  await stage.until('it is over', async () => outcomeOf(await read()) === 'Done')
  const left = explainRollout(await read())
  expect(left).toMatchObject({ rule: 'NodesLeft', answer: expect.stringContaining(dead!) as string })
  await drive(stage.clock, stage.simulator.nodes.revive(dead!))
  await untilReleased(stage, 'v2')
  await stage.until('nothing is left', async () => explainRollout(await read()).rule === 'Done')
})

it('a rollback whose version fails on a node names the ways out', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '100%' }] })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 4)
  // It has never run v1, and cannot pull it.
  const name = 'node-new'
  await drive(stage.clock, stage.simulator.nodes.addNode(name))
  await stage.until('the new node runs v2', async () => (await nodesOn(stage, 'v2')).includes(name))
  const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': 'true' } } }
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body })
  await stage.setImage('v1')
  await stage.pass(5 * 60_000)
  const facts = await read()
  const { message } = reportRollout(facts)
  expect(message).toContain(name)
  expect(message).toContain('nothing stops a rollback: fix these nodes, undo to another revision, or apply another template')
  expect(explainRollout(facts)).toMatchObject({ next: expect.stringMatching(/; undo: .*; or another template is applied$/) as string })
})

it('reports show a whole release as the cluster has it, at every moment', async () => {
  stage = await setStage({ nodes: 10, steps })
  expect(outcomeOf(await read())).toBe('Done')

  await stage.setImage('v2')
  expect(outcomeOf(await read())).toBe('Running')
  await untilPausedAt(stage, 1)
  const paused = await agreesWithCluster()
  expect(outcomeOf(paused)).toBe('Waiting')
  expect(reportRollout(paused)).toMatchObject({
    need: { reason: 'StepPaused', actions: ['approve', 'promote', 'abort', 'jump'] },
    nodes: { desired: 10, updated: 2, updatedAvailable: 2, unavailable: 0 },
    steps: [{ nodes: 2, state: 'current', pause: 'person' }, { nodes: 5, state: 'ahead', pause: '30s' }, { nodes: 10 }],
    maxUnavailable: 2,
  })
  expect(reportBatches(paused)).toMatchObject([{ updated: 2, available: 2, state: 'current' }, { updated: 0, state: 'ahead' }, {}])
  expect(explainRollout(paused)).toMatchObject({ rule: 'Step', next: expect.stringMatching(/^approve: continue with the next step; /) })

  const old = reportNodes(paused).filter(({ state }) => state === 'old')
  const rules = old.map(({ name }) => explainNode(paused, name))
  expect(rules.map((said) => said?.rule)).toEqual(Array(8).fill('Partition'))
  const first = rules.find((said) => said?.facts.some(({ name, value }) => name === 'before it' && value === '0 nodes'))
  await stage.approve()
  await stage.until('the next node is updated', async () => (await nodesOn(stage, 'v1')).length < 8)
  expect(await nodesOn(stage, 'v1')).not.toContain(first?.subject)

  for (let look = 0; look < 12; look++) {
    await stage.pass(1_500)
    await agreesWithCluster()
  }
  await untilReleased(stage, 'v2')
  await stage.pass(1_000)
  const after = await agreesWithCluster()
  expect(outcomeOf(after)).toBe('Done')
  expect(reportRollout(after)).toMatchObject({
    phase: 'Healthy',
    actions: ['pause', 'undo', 'restart'],
    nodes: { updated: 10, unavailable: 0 },
  })
  expect(reportBatches(after).map(({ state, updated }) => `${state} ${updated}`)).toEqual(['done 2', 'done 3', 'done 5'])
  expect(reportRevisions(after)).toMatchObject([
    { number: 2, role: 'stable', nodes: 10, images: [expect.stringMatching(/:v2$/)], held: false },
    { number: 1, role: 'none', nodes: 0 },
  ])
})

it('reports name the version that was rolled back, and that it is blocked', async () => {
  stage = await setStage({ nodes: 5, steps })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const action = JSON.stringify({ id: '1', type: 'abort', by: 'alice', reason: 'errors in the log' })
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': action } } })
  await untilReleased(stage, 'v1')
  await stage.pass(1_000)
  const facts = await agreesWithCluster()
  expect(outcomeOf(facts)).toBe('RolledBack')
  expect(explainRollout(facts)).toMatchObject({
    rule: 'RolledBack',
    answer: expect.stringMatching(/; revision \S+ was rolled back by an abort$/),
  })
  const [stable, held] = reportHistory(facts).revisions
  expect([stable?.role, stable?.held, held?.held]).toEqual(['stable', false, true])
})

it('reports say of each dead node whether it costs budget: one that was lost before its update costs none, also in later releases', async () => {
  stage = await setStage({ nodes: 10, steps, policy: { failure: { maxFailedNodes: 1 } } })
  const [dead] = await killNodes(stage, 1)
  await stage.pass(60_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const [updated] = await nodesOn(stage, 'v2')
  await drive(stage.clock, stage.simulator.nodes.kill(updated!))
  await stage.pass(60_000)
  expect(await budgets()).toEqual([`${dead} stable Exempt`, `${updated} canary Updated`].toSorted())
  await drive(stage.clock, stage.simulator.nodes.revive(updated!))
  await stage.approve()
  await untilNodesOn(stage, 'v2', 9)
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  expect(await budgets()).toEqual([])
  await stage.setImage('v3')
  await untilPausedAt(stage, 1)
  expect(await budgets()).toEqual([`${dead} former Exempt`])
  expect(reportRollout(await read()).budget).toMatchObject({ unreachable: 1, exempt: 1 })
})

it('reports say of a node that was lost after its update why the release stops, though the agent is not desired there then', async () => {
  stage = await setStage({ nodes: 10, steps, tolerations: [] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const [lost] = await nodesOn(stage, 'v2')
  await drive(stage.clock, stage.simulator.nodes.kill(lost!))
  await stage.until('it is Failed', async () => outcomeOf(await read()) === 'Failed')
  await stage.pass(60_000)
  const facts = await read()
  expect(reportRollout(facts)).toMatchObject({
    nodes: { desired: 9, failed: 1 },
    failure: { message: expect.stringMatching(/^1 of 10 nodes/) },
  })
  expect(reportNodes(facts).filter(({ state }) => state === 'failing')).toMatchObject([{ name: lost }])
  expect(reportNodes(facts)).toHaveLength(10)
  expect(explainNode(facts, lost!)).toMatchObject({
    rule: 'Failed',
    answer: expect.stringMatching(/was lost after its update to revision \w+ and is not available: NodeNotReady: /),
    next: 'abort: roll back to the stable revision; undo: return to an earlier revision; retry: continue with this version despite the failures',
  })
})

it('reports name no failure where a node is removed in an orderly way after its update', async () => {
  stage = await setStage({ nodes: 10, steps, tolerations: [] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const [gone, away] = await nodesOn(stage, 'v2')
  const taints = [{ key: 'example.com/repair', effect: 'NoSchedule' }]
  await stage.client.patch(resourcePaths.nodes, { namespace: '', name: away! }, { type: 'merge', body: { spec: { taints } } })
  await stage.pass(5_000)
  await drive(stage.clock, stage.simulator.nodes.kill(away!))
  await stage.client.delete(resourcePaths.nodes, { namespace: '', name: gone! })
  await stage.pass(60_000)
  expect(reportRollout(await read())).toMatchObject({ outcome: 'Waiting', nodes: { desired: 8, failed: 0 } })
})

async function budgets(): Promise<readonly string[]> {
  const nodes = reportNodes(await read()).filter(({ budget }) => budget !== undefined)
  return nodes.map(({ name, role, budget }) => `${name} ${role} ${budget?.reason}`).toSorted()
}

it('reports say where and why a version does not start, and what helps', async () => {
  stage = await setStage({ nodes: 5, steps: [{ replicas: '100%' }] })
  await stage.setImage('bad-crash')
  await stage.until('it is Failed', async () => outcomeOf(await read()) === 'Failed')
  const facts = await agreesWithCluster()
  const failing = reportNodes(facts).filter(({ state }) => state === 'failing')
  expect(failing.length).toBeGreaterThan(0)
  expect(explainNode(facts, failing[0]!.name)).toMatchObject({
    rule: 'Failed',
    answer: expect.stringMatching(/is not available: CrashLoopBackOff: container agent/),
    next: 'abort: roll back to the stable revision; undo: return to an earlier revision; retry: continue with this version despite the failures',
  })
  expect(explainRollout(facts)).toMatchObject({ rule: 'Failed' })
})

/** Reads the facts like a client that has just started: pods count by the timestamps of the API server. */
async function read(): Promise<ReleaseFacts> {
  const { client, clock } = stage
  const { namespace } = stageKey
  const rollout: Rollout = await stage.rollout()
  const release: BatchRelease | undefined = await stage.release()
  const daemonSet: DaemonSet = await stage.daemonSet()
  const { items: revisions } = await client.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace })
  const { items: nodes } = await client.list<Node>(resourcePaths.nodes)
  const pods: readonly Pod[] = await stage.pods()
  const index = new FleetIndex()
  for (const node of nodes) index.nodeChanged(undefined, toFleetNode(node, undefined, BY_STAMPS))
  for (const pod of pods) index.podChanged(undefined, toFleetPod(pod, undefined, BY_STAMPS) ?? undefined)
  return {
    rollout,
    release,
    daemonSet,
    revisions: revisionsOf(daemonSet, revisions),
    fleet: index.view(daemonSet),
    nowMs: clock.nowMs(),
    monotonicMs: clock.nowMs(),
  }
}

/** Expects that the reports agree with the objects of the cluster on every node. */
async function agreesWithCluster(): Promise<ReleaseFacts> {
  const facts = await read()
  const report = reportRollout(facts)
  const pods = await stage.pods()
  const standing = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  const onCanary = standing.filter(({ metadata }) => metadata.labels?.['controller-revision-hash'] === report.canaryRevision)
  const upNodes = new Set(standing.filter(isReady).map(({ spec }) => spec?.nodeName))
  expect(report.nodes).toMatchObject({
    updated: onCanary.length,
    updatedAvailable: onCanary.filter(isReady).length,
    unavailable: report.nodes.desired - upNodes.size,
  })
  for (const { name, state } of reportNodes(facts)) {
    const isUp = state === 'updated' || state === 'old'
    if (state !== 'failing') expect({ name, isUp }).toEqual({ name, isUp: upNodes.has(name) })
  }
  return facts
}

it.each<[string, ReleasePolicySpec, Partial<Parameters<typeof setStage>[0]>, RegExp]>([
  ['RoomNotAllowed', { nodes: { room: 'Check' } }, { room: false }, /rbac\.room: true in the chart/],
  ['PrePullNotAllowed', { prePull: {} }, { prePull: false }, /rbac\.prePull: true in the chart/],
  ['DrainNotAllowed', { drain: {} }, { drainNamespaces: ['other'] }, /rbac\.drain\.namespaces of the chart/],
  ['NodeLockNotAllowed', { downtime: { nodeLock: 'Take' } }, { lockNamespaces: ['other'] }, /rbac\.nodeLocks\.namespaces of the chart/],
  ['DowntimeNotAllowed', { downtime: { perDay: '1h' } }, { downtimeNamespace: null }, /rbac\.downtime: true in the chart/],
  ['GroupNotAllowed', { downtime: { group: 'agents' } }, {}, /rbac\.groups: true/],
])(
  'a release whose policy asks for a right that the installation does not give is Blocked, and says the fix: %s',
  async (reason, policy, more, fix) => {
    stage = await setStage({ nodes: 3, steps: [{ replicas: '100%' }], policy, ...more })
    await stage.setImage('v2')
    await stage.until('it is Blocked', async () => outcomeOf(await read()) === 'Blocked')
    const facts = await read()
    expect(reportRollout(facts).need).toMatchObject({ reason, message: expect.stringMatching(fix), actions: [] })
    expect(explainRollout(facts)).toMatchObject({ answer: expect.stringMatching(fix), next: expect.stringContaining('rbac.') })
    await stage.pass(60_000)
    expect(outcomeOf(await read())).toBe('Blocked')
    await drive(
      stage.clock,
      stage.client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec: withoutMembers(policy) } }),
    )
    await untilReleased(stage, 'v2', 15 * 60_000)
    await stage.pass(1_000)
    expect(outcomeOf(await read())).toBe('Done')
  },
)

it('the copies that pods read are reported with the first pins, before a release of them has ended', async () => {
  stage = await setPinnedStage()
  await write(stage, '1')
  await untilPausedAt(stage, 1)
  const [copy] = await copies(stage)
  const facts = await read()
  expect(reportRollout(facts).pinnedConfig).toEqual([{ kind: 'ConfigMap', name: 'agent', copy: copy?.metadata.name }])
  expect(explainRollout(facts).facts).toContainEqual({ name: 'pinned', value: `ConfigMap agent as ${copy?.metadata.name}` })
})

/** A merge patch that removes every member. */
function withoutMembers(policy: ReleasePolicySpec): object {
  return Object.fromEntries(Object.keys(policy).map((member) => [member, null]))
}
