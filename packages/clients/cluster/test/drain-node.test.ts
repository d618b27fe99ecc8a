import { customResourceDefinitions, type DrainRules } from '@tranche/api-schema'
import { sleep } from '@tranche/clock'
import { createNodeDrainer, type DrainReading, type NodeDrainer, type SettledPermits, uncordonNode } from '@tranche/cluster'
import type { DrainedPermit } from '@tranche/drain'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Node, Pod } from '@tranche/kube-types'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SimStage, startSimStage } from './sim-stage.ts'

const signal = new AbortController().signal
const agent = { metadata: { namespace: 'demo', uid: 'ds-1' }, spec: { selector: { matchLabels: { app: 'agent' } } } }
const permit = { node: 'node-001', podUid: 'p1', podResourceVersion: '7' }
const laterPermit = { ...permit, podResourceVersion: '9' }
/** The BatchRelease of the stories, whose record has both permits. */
let drained: DrainedPermit
const byLabel: DrainRules = { consumers: [{ selector: { matchLabels: { uses: 'agent' } } }] }
const byDriver: DrainRules = { consumers: [{ csiDriver: 'disk.example.com' }] }

let stage: SimStage
let client: KubeClient
let drainer: NodeDrainer
let asked: string[]
let fault: FaultInjector['onRequest']

beforeEach(async () => {
  fault = undefined
  asked = []
  stage = await startSimStage(
    (call) => {
      const { verb, resource, subresource } = call
      if (call.actor === 'drainer') asked.push(`${verb} ${resource.resource}${subresource === undefined ? '' : `/${subresource}`}`)
      return call.actor === 'drainer' ? fault?.(call) : undefined
    },
    { actors: { limited: { name: 'limited', groups: ['system:authenticated'] } } },
  )
  client = stage.clientOf('admin')
  drainer = createNodeDrainer(stage.clientOf('drainer'), stage.clock)
  for (const definition of customResourceDefinitions)
    await drive(client.create(resourcePaths.customResourceDefinitions, definition as never))
  for (const name of ['demo', 'team-a']) await create(resourcePaths.namespaces, { kind: 'Namespace', metadata: { name } })
  drained = await makeRelease()
  await setPermits(permit, laterPermit)
  asked = []
})

afterEach(() => stage.stop())

describe('a drain', () => {
  it('cordons the node and evicts its consumers, and is ready once they are gone', async () => {
    await makePod('web', { uses: 'agent' })
    await makePod('other', {})
    expect(await drain(byLabel)).toMatchObject({ kind: 'pending', againMs: 2_000, message: '1 pod uses the agent: team-a/web', spentMs: 0 })
    expect((await readNode()).spec?.unschedulable).toBe(true)
    await pass(60_000)
    expect(await drain(byLabel)).toEqual({ kind: 'ready' })
    expect(await podNames()).toEqual(['other'])
    expect(asked).toEqual([
      ...['get nodes', 'get batchreleases', 'patch nodes', 'list pods', 'get batchreleases', 'create pods/eviction'],
      ...['get nodes', 'list pods', 'list pods'],
    ])
  })

  it('without cordon leaves the node as it is', async () => {
    await makePod('web', { uses: 'agent' })
    expect(await drain({ ...byLabel, cordon: false })).toMatchObject({ kind: 'pending' })
    expect((await readNode()).spec?.unschedulable).toBeUndefined()
    expect(asked).toEqual(['list pods', 'get batchreleases', 'create pods/eviction'])
  })

  it('without consumers only cordons the node', async () => {
    expect(await drain({})).toMatchObject({ kind: 'ready' })
    expect(asked).toEqual(['get nodes', 'get batchreleases', 'patch nodes'])
  })

  it('finds consumers by the driver of their claims, and reads each claim once', async () => {
    await makeVolume('data', 'disk.example.com')
    await makeVolume('logs', 'other.example.com')
    const claiming = (claimName: string): object => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] })
    await makePod('db', {}, claiming('data'))
    await makePod('collector', {}, claiming('logs'))
    await makePod('unbound', {}, claiming('missing'))
    expect(await drain(byDriver)).toMatchObject({ message: '1 pod uses the agent: team-a/db' })
    await pass(60_000)
    asked = []
    expect(await drain(byDriver)).toMatchObject({ kind: 'ready' })
    expect(asked.filter((one) => one.includes('persistent'))).toEqual(['get persistentvolumeclaims', 'get persistentvolumeclaims'])
    expect(await podNames()).toEqual(['collector', 'unbound'])
  })

  it('waits for a PodDisruptionBudget, and names it; once the time is over it holds', async () => {
    await makePod('web', { uses: 'agent' })
    await makeBudget()
    await pass(20_000)
    const text = '1 pod uses the agent: team-a/web (The disruption budget web needs 1 healthy pods and has 1 currently)'
    const waits: DrainReading[] = []
    for (let at = 0; at < 6; at++) {
      waits.push(await drain(byLabel))
      await pass(15_000)
    }
    expect(waits.map((one) => one.kind === 'pending' && one.againMs)).toEqual([2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
    expect(waits).toMatchObject(Array(6).fill({ message: text }))
    await pass(10 * 60_000)
    asked = []
    const want = { kind: 'blocked', reason: 'DrainBlocked', message: `not drained within 10m: ${text}`, restMs: 10 * 60_000 }
    expect(await drain(byLabel)).toEqual(want)
    expect(asked).toEqual(['get nodes', 'list pods'])
  })

  it('has its whole time again for the next permit', async () => {
    await makePod('web', { uses: 'agent' })
    await makeBudget()
    await drain(byLabel)
    await pass(10 * 60_000)
    expect(await drain(byLabel)).toMatchObject({ kind: 'blocked' })
    const again = { ...drained, permit: laterPermit }
    expect(await drain(byLabel, again)).toMatchObject({ kind: 'pending' })
  })

  it('has its whole time again for a permit that replaces the one of a drain in progress', async () => {
    await makePod('web', { uses: 'agent' })
    await makeBudget()
    await drain(byLabel)
    await pass(9 * 60_000)
    const again = { ...drained, permit: laterPermit }
    await drain(byLabel, again)
    await pass(9 * 60_000)
    expect(await drain(byLabel, again)).toMatchObject({ kind: 'pending' })
  })

  it('ends in time although the pod of the agent changes again and again, which ends each permit', async () => {
    await makePod('web', { uses: 'agent' })
    await makeBudget()
    const rules = { ...byLabel, timeout: '2m', onTimeout: 'Continue' } as const
    const ends: string[] = []
    for (let version = 10; version < 24; version++) {
      const changed = { ...permit, podResourceVersion: String(version) }
      await setPermits(changed)
      ends.push((await drain(rules, { ...drained, permit: changed })).kind)
      await pass(10_000)
    }
    expect(ends).toEqual([...Array<string>(12).fill('pending'), 'late', 'late'])
  })

  it('evicts other consumers although as many as are evicted at once may not be', async () => {
    for (let at = 0; at < 40; at++) await makePod(`a-${String(at).padStart(2, '0')}`, { uses: 'agent', kept: 'true' })
    await makePod('web', { uses: 'agent' })
    fault = ({ subresource, name }) =>
      subresource === 'eviction' && name?.startsWith('a-') === true
        ? { kind: 'error', error: new ApiStatusError(429, 'TooManyRequests', 'not now') }
        : undefined
    for (let at = 0; at < 3; at++) await drain(byLabel)
    await pass(60_000)
    expect(await podNames()).not.toContain('web')
    const evictions = asked.filter((one) => one.includes('eviction')).length
    expect(evictions).toBe(48)
  })

  it('continues where an eviction gets no clear response, and says so', async () => {
    await makePod('web', { uses: 'agent' })
    fault = ({ subresource }) => (subresource === 'eviction' ? { kind: 'delay', ms: 60_000, when: 'before' } : undefined)
    expect(await drain(byLabel)).toMatchObject({ kind: 'pending', message: expect.stringContaining('team-a/web (') })
  })

  it('reads a bounded number of the claims of one pod, few at once', async () => {
    const volumes = Array.from({ length: 1_000 }, (_, at) => ({ name: `v${at}`, persistentVolumeClaim: { claimName: `missing-${at}` } }))
    await makePod('greedy', {}, { volumes })
    await drain(byDriver)
    expect(asked.filter((one) => one.includes('persistent'))).toHaveLength(2 * 128)
  })

  it('that was given up lets the node rest for as long, under the same rules', async () => {
    const rules = { ...byLabel, timeout: '1m' }
    await makePod('web', { uses: 'agent' })
    await makeBudget()
    await drain(rules)
    expect(drainer.whyResting('node-001', drained.release.uid, rules)).toBeNull()
    await pass(60_000)
    await drain(rules)
    expect(drainer.whyResting('node-001', drained.release.uid, rules)?.message).toContain('not drained within 1m: 1 pod uses the agent')
    expect(drainer.whyResting('node-001', 'br-2', rules)).toBeNull()
    await pass(30_000)
    expect(drainer.whyResting('node-001', drained.release.uid, rules)).toMatchObject({ restMs: 30_000 })
    await pass(30_000)
    expect(drainer.whyResting('node-001', drained.release.uid, rules)).toBeNull()
  })

  it('that was given up lets the node rest under no other rules', async () => {
    await makePod('web', { uses: 'agent' })
    await makeBudget()
    await drain({ ...byLabel, timeout: '1m' })
    await pass(60_000)
    await drain({ ...byLabel, timeout: '1m' })
    expect(drainer.whyResting('node-001', drained.release.uid, { ...byLabel, timeout: '2m' })).toBeNull()
  })

  it('continues when the time is over, if the policy says so, and says what remains', async () => {
    await makePod('web', { uses: 'agent' }, {}, ['example.com/keep'])
    const rules = { ...byLabel, timeout: '30s', onTimeout: 'Continue' } as const
    await drain(rules)
    await pass(30_000)
    const message = 'not drained within 30s: 1 pod uses the agent: team-a/web (terminating, with finalizer example.com/keep)'
    expect(await drain(rules)).toEqual({ kind: 'late', isNews: true, message })
    expect(await drain(rules)).toEqual({ kind: 'late', isNews: false, message })
  })

  it('waits while another release drains the node, and touches nothing', async () => {
    await drain({})
    await makePod('web', { uses: 'agent' })
    asked = []
    const other = { ...drained, release: { namespace: 'demo', name: 'csi', uid: 'br-2' } }
    expect(await drain(byLabel, other)).toMatchObject({ kind: 'pending', message: 'BatchRelease demo/node-agent drains it' })
    expect(asked).toEqual(['get nodes'])
  })

  it('gives up after its time where another release drains the node, and says that, not that pods use the agent', async () => {
    await drain({})
    await makePod('web', { uses: 'agent' })
    const other = { ...drained, release: { namespace: 'demo', name: 'csi', uid: 'br-2' } }
    await drain(byLabel, other)
    await pass(10 * 60_000)
    const message = 'not drained within 10m: BatchRelease demo/node-agent drains it'
    const end = { reason: 'DrainTaken', message, restMs: 10 * 60_000 }
    expect(await drain(byLabel, other)).toEqual({ kind: 'blocked', ...end })
    expect(drainer.whyResting('node-001', 'br-2', byLabel)).toEqual(end)
  })

  it('does not cordon a node that changed between read and write, and evicts nothing before the next attempt', async () => {
    await makePod('web', { uses: 'agent' })
    let isFirst = true
    fault = ({ verb, resource }) => {
      if (verb !== 'patch' || resource.resource !== 'nodes' || !isFirst) return undefined
      isFirst = false
      return { kind: 'error', error: new ApiStatusError(409, 'Conflict', 'the object has been modified') }
    }
    expect(await drain(byLabel)).toMatchObject({ kind: 'pending', againMs: 2_000, message: 'it changed while it was cordoned' })
    expect(asked).toEqual(['get nodes', 'get batchreleases', 'patch nodes'])
    expect(await drain(byLabel)).toMatchObject({ kind: 'pending', message: '1 pod uses the agent: team-a/web' })
  })

  it.each(['revoking', 'stopped'])('changes nothing on a node once its record is %s', async (state) => {
    await makePod('web', { uses: 'agent' })
    asked = []
    await setRecord({ state })
    for (const cordon of [true, false])
      expect(await drain({ ...byLabel, cordon })).toMatchObject({ kind: 'pending', message: 'its permit has ended' })
    expect(asked).toEqual(['get nodes', 'get batchreleases', 'list pods', 'get batchreleases'])
  })

  it('does nothing on a node whose permit has ended', async () => {
    await makePod('web', { uses: 'agent' })
    await setPermits(laterPermit)
    expect(await drain(byLabel)).toMatchObject({ kind: 'pending', message: 'its permit has ended' })
    expect(asked).toEqual(['get nodes', 'get batchreleases'])
  })

  it('without the right to evict fails, and says so', async () => {
    await makePod('web', { uses: 'agent' })
    await allowAllButEvictions('limited')
    drainer = createNodeDrainer(stage.clientOf('limited'), stage.clock)
    await expect(drain(byLabel)).rejects.toThrow('pods "web" is forbidden')
  })

  it.each<[status: number, reason: string, message: string]>([
    [403, 'Forbidden', 'admission webhook "freeze.example.com" denied the request: code freeze'],
    [422, 'Invalid', "ValidatingAdmissionPolicy 'freeze' with binding 'freeze' denied request: code freeze"],
    [400, '', 'admission webhook "freeze.example.com" denied the request without explanation'],
    [500, 'InternalError', 'failed calling webhook "freeze.example.com": connection refused'],
  ])('waits for a consumer whose eviction is answered with %i %s, and says why', async (status, reason, message) => {
    await makePod('web', { uses: 'agent' })
    fault = ({ subresource }) =>
      subresource === 'eviction' ? { kind: 'error', error: new ApiStatusError(status, reason, message) } : undefined
    expect(await drain({ ...byLabel, timeout: '10s' })).toMatchObject({ kind: 'pending', message: expect.stringContaining(message) })
    await pass(10_000)
    const text = `not drained within 10s: 1 pod uses the agent: team-a/web (${message})`
    expect(await drain({ ...byLabel, timeout: '10s' })).toEqual({ kind: 'blocked', reason: 'DrainBlocked', message: text, restMs: 10_000 })
  })
})

describe('the undo of a cordon', () => {
  it('makes the node schedulable once the record has no such permit', async () => {
    await drain({})
    await setPermits()
    expect(await uncordon()).toBe(true)
    const { metadata, spec } = await readNode()
    expect(spec?.unschedulable).toBeUndefined()
    expect(metadata.annotations?.['tranche.dev/cordon']).toBeUndefined()
    expect(await uncordon()).toBe(true)
  })

  it('waits while the record has the permit, unless the caller knows that it has settled', async () => {
    await drain({})
    expect(await uncordon([laterPermit])).toBe(false)
    expect((await readNode()).spec?.unschedulable).toBe(true)
    expect(await uncordon([permit])).toBe(true)
    expect((await readNode()).spec?.unschedulable).toBeUndefined()
  })

  it('waits while the record has another permit of the node, whose pod may be deleted and not replaced yet', async () => {
    await drain({})
    await setPermits(laterPermit)
    expect(await uncordon()).toBe(false)
    expect((await readNode()).spec?.unschedulable).toBe(true)
    await setPermits({ ...laterPermit, node: 'node-002' })
    expect(await uncordon()).toBe(true)
  })

  it('needs no release of that name: a later one is another', async () => {
    await drain({})
    await drive(client.delete(resourcePaths.batchReleases, drained.release))
    await makeRelease()
    await setPermits(permit)
    expect(await uncordon()).toBe(true)
  })

  it('fails on a node that is marked for a later permit meanwhile', async () => {
    await drain({})
    await setPermits(laterPermit)
    let isFirst = true
    const late = async (...args: Parameters<KubeClient['patch']>): Promise<unknown> => {
      const later = { node: 'node-001', agent, rules: {}, drained: { ...drained, permit: laterPermit } }
      if (isFirst) await drainer.drain(later, signal)
      isFirst = false
      return client.patch(...args)
    }
    expect(await drive(uncordonNode({ ...client, patch: late as KubeClient['patch'] }, 'node-001', [], signal))).toBe(false)
    expect((await readNode()).spec?.unschedulable).toBe(true)
  })

  it('leaves the cordon of a user', async () => {
    await cordonByHand(true)
    await drain({})
    await uncordon([permit])
    expect((await readNode()).spec?.unschedulable).toBe(true)
  })

  it('leaves the cordon of a user that replaced its own between two readings', async () => {
    await drain({})
    await cordonByHand(null)
    await cordonByHand(true)
    await uncordon([permit])
    const { metadata, spec } = await readNode()
    expect(spec?.unschedulable).toBe(true)
    expect(metadata.annotations?.['tranche.dev/cordon']).toBeUndefined()
  })

  it('leaves what a user has changed in mid-drain', async () => {
    await drain({})
    await cordonByHand(null)
    await drain({})
    await cordonByHand(true)
    await uncordon([permit])
    expect((await readNode()).spec?.unschedulable).toBe(true)
  })
})

function drain(rules: DrainRules, of = drained): Promise<DrainReading> {
  return drive(drainer.drain({ node: 'node-001', agent, rules, drained: of }, signal))
}

function uncordon(settled: SettledPermits = []): Promise<boolean> {
  return drive(uncordonNode(client, 'node-001', settled, signal))
}

async function allowAllButEvictions(user: string): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false }
  const metadata = { name: user }
  const rules = [
    { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'patch'] },
    { apiGroups: ['rollouts.kruise.io'], resources: ['batchreleases'], verbs: ['get'] },
  ]
  await create({ ...rbac, plural: 'clusterroles' }, { apiVersion, kind: 'ClusterRole', metadata, rules })
  const roleRef = { apiGroup: rbac.group, kind: 'ClusterRole', name: user }
  const subjects = [{ apiGroup: rbac.group, kind: 'User', name: user }]
  await create({ ...rbac, plural: 'clusterrolebindings' }, { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects })
}

async function makeRelease(): Promise<DrainedPermit> {
  const metadata = { namespace: 'demo', name: 'node-agent' }
  const spec = { releasePlan: { enableExtraWorkloadForCanary: false } }
  const release = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', metadata, spec }
  const stored = await drive(client.create(resourcePaths.batchReleases, release))
  return { release: { ...metadata, uid: stored.metadata.uid }, permit }
}

/** Gives the record these permits. */
function setPermits(...permits: readonly object[]): Promise<unknown> {
  return setRecord({ permits })
}

function setRecord(fields: object): Promise<unknown> {
  const flight = {
    ...{ workloadUid: 'ds-1', epoch: 1, seq: 1, state: 'open', holds: [], generation: 1, revision: 'a' },
    ...{ size: 1, partition: 0, limit: 1, watermark: '1', permits: [permit] },
    ...fields,
  }
  const key = { namespace: 'demo', name: 'node-agent' }
  return drive(client.patch(resourcePaths.batchReleases, key, { type: 'merge', body: { status: { flight } } }, { subresource: 'status' }))
}

async function cordonByHand(unschedulable: true | null): Promise<void> {
  await drive(client.patch(resourcePaths.nodes, { namespace: '', name: 'node-001' }, { type: 'merge', body: { spec: { unschedulable } } }))
}

async function makePod(name: string, labels: object, spec: object = {}, finalizers: readonly string[] = []): Promise<void> {
  const containers = [{ name: 'main', image: 'registry.example/main:1' }]
  await create(resourcePaths.pods, {
    kind: 'Pod',
    metadata: { namespace: 'team-a', name, labels, finalizers },
    spec: { nodeName: 'node-001', containers, ...spec },
  })
  await pass(10_000)
}

/** A bound claim. */
async function makeVolume(name: string, driver: string): Promise<void> {
  await create(resourcePaths.persistentVolumes, {
    kind: 'PersistentVolume',
    metadata: { name: `pv-${name}` },
    spec: { csi: { driver, volumeHandle: name } },
  })
  await create(resourcePaths.persistentVolumeClaims, {
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'team-a', name },
    spec: { volumeName: `pv-${name}` },
  })
}

async function makeBudget(): Promise<void> {
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace: 'team-a', name: 'web' } }
  const path = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespaced: true }
  await create(path, { ...budget, spec: { minAvailable: 1, selector: { matchLabels: { uses: 'agent' } } } })
}

async function podNames(): Promise<readonly string[]> {
  return (await drive(client.list<Pod>(resourcePaths.pods))).items.map(({ metadata }) => metadata.name).toSorted()
}

function readNode(): Promise<Node> {
  return drive(client.get<Node>(resourcePaths.nodes, { namespace: '', name: 'node-001' }))
}

async function create(path: Parameters<KubeClient['create']>[0], object: object): Promise<void> {
  await drive(client.create(path, { apiVersion: 'v1', ...object } as never))
}

function pass(ms: number): Promise<void> {
  return drive(sleep(stage.clock, ms))
}

function drive<T>(promise: Promise<T>): Promise<T> {
  return stage.drive(promise)
}
