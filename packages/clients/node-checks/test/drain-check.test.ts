import type { DrainRules } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import type { NodeCheck } from '@tranche/fence'
import { type NodeView, toFleetView } from '@tranche/fleet'
import { KubeStatusError, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import type { CheckTarget } from '../src/check.ts'
import { createDrainCheck } from '../src/drain-check.ts'

const signal = new AbortController().signal
const MINUTE = 60_000
const own = { namespace: 'demo', name: 'agent', uid: 'u1' }
const permit = { node: 'a', podUid: 'p1', podResourceVersion: '7' }
const permitted = { node: 'a', purpose: 'permit' } as const
const deletion = { node: 'a', purpose: 'deletion' } as const
const consumers = [{ selector: { matchLabels: { uses: 'agent' } } }]
/** Without a cordon, a drain only evicts. */
const rules: DrainRules = { cordon: false, timeout: '10m', consumers }

interface World {
  readonly clock: FakeClock
  readonly calls: string[]
  readonly events: string[]
  /** Pods that use the agent; a budget keeps them. */
  pods: string[]
  /** Uid of the pod of the agent on node a, as the API server has it. */
  agent: string
  /** Pods of the agent on node a, as the watches show them. */
  watched: { readonly name: string; readonly uid: string }[]
  /** Mark of a drain on node a. */
  mark: object | null
  /** The BatchRelease of the mark, as the watches show it and the API server has it. */
  known: CheckTarget['release'] | undefined
  /** Its DaemonSet, as the watches show it. */
  daemonSet: object
  readonly check: ReturnType<typeof createDrainCheck>
}

function aWorld(trusted: readonly string[] = ['demo']): World {
  const clock = new FakeClock()
  const calls: string[] = []
  const events: string[] = []
  const world: Omit<World, 'check'> = {
    clock,
    calls,
    events,
    pods: [],
    agent: 'p1',
    watched: [{ name: 'agent-1', uid: 'p1' }],
    ...{ mark: null, known: undefined, daemonSet: controlled },
  }
  const client = {
    async get({ plural }: { readonly plural: string }) {
      calls.push(`get ${plural}`)
      if (plural === resourcePaths.pods.plural) return { metadata: { name: 'agent-1', uid: world.agent } }
      if (plural === resourcePaths.batchReleases.plural && world.known !== undefined) return world.known
      return plural === resourcePaths.nodes.plural ? aNode(world.mark) : aTarget(rules).release
    },
    async list({ plural }: { readonly plural: string }) {
      calls.push(`list ${plural}`)
      if (plural === resourcePaths.batchReleases.plural) return { items: [world.known] }
      if (plural === resourcePaths.daemonSets.plural) return { items: [controlled] }
      return { items: world.pods.map(aPod) }
    },
    async patch({ plural }: { readonly plural: string }) {
      calls.push(`patch ${plural}`)
      return aNode(null)
    },
    async create() {
      calls.push('evict')
      throw new KubeStatusError({ status: 429, reason: 'TooManyRequests', message: 'the budget forbids it', attempt: 'POST' })
    },
  } as unknown as KubeClient
  const marked = [{ name: 'a', cordonMark: JSON.stringify({ ...own, ...permit, cordoned: true }) }]
  const cluster = {
    fleet: {
      view: () =>
        toFleetView([{ name: 'a', desired: true, ready: true, answers: true, pods: world.watched }] as unknown as readonly NodeView[]),
    },
    nodes: { store: { byIndex: (_index: string, uid: string) => (uid === own.uid || uid === '' ? marked : []) } },
    overlay: { batchReleases: { get: () => world.known }, daemonSets: { get: () => world.daemonSet } },
  }
  const check = createDrainCheck({
    ...{ client, cluster: cluster as unknown as WatchedCluster, clock, log: silentLogger, trusted, watched: undefined },
    setsConditions: false,
    events: { record: ({ kind }, type, reason, message) => void events.push(`${kind} ${type} ${reason}: ${message}`) },
  })
  return Object.assign(world, { check })
}

const control = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', name: own.name, uid: own.uid, controller: true }
const controlled = {
  metadata: {
    namespace: 'demo',
    name: 'agent',
    uid: 'd1',
    annotations: { 'batchrelease.rollouts.kruise.io/control-info': JSON.stringify(control) },
  },
  spec: {},
}

/** A pod that crashes is a failure at once. */
const broken = { phase: 'Failed', trouble: { reason: 'CrashLoopBackOff', container: 'agent' } }
const START = '2026-01-01T00:00:00Z'

function aNode(mark: object | null): object {
  const annotations = mark === null ? {} : { 'tranche.dev/cordon': JSON.stringify(mark) }
  return { metadata: { name: 'a', resourceVersion: '1', annotations }, spec: {} }
}

function aPod(name: string): object {
  return { metadata: { namespace: 'team-a', name, uid: name, labels: { uses: 'agent' } }, spec: { nodeName: 'a' }, status: {} }
}

function aTarget(drain: DrainRules | undefined, permits: readonly object[] = [permit]): CheckTarget {
  const owner = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: 'agent', uid: 'ro', controller: true }
  return {
    daemonSet: { metadata: { namespace: 'demo', name: 'agent', uid: 'd1' }, spec: {} },
    release: {
      metadata: { ...own, resourceVersion: '40', ownerReferences: [owner] },
      spec: { workloadRef: { name: 'agent' }, tranche: { ...(drain !== undefined && { drain }) } },
      status: { flight: { state: 'open', permits } },
    },
  } as unknown as CheckTarget
}

describe('the check that drains', () => {
  it.each<[sentence: string, trusted: readonly string[], isAllowed: boolean]>([
    ['does nothing for a policy of a namespace that the installation does not list', ['other'], false],
    ['does nothing for any policy where the list is empty', [], false],
    ['serves the listed namespaces', ['other', 'demo'], true],
    ['serves every namespace where the list has *', ['*'], true],
  ])('%s', async (_sentence, trusted, isAllowed) => {
    const world = aWorld(trusted)
    const answer = await world.check.check(aTarget(rules), deletion, signal)
    if (isAllowed) return expect(answer).toEqual({ kind: 'ready', for: 'deletion' })
    expect(answer).toMatchObject({ kind: 'blocked', reason: 'DrainNotAllowed', message: expect.stringContaining('rbac.drain.namespaces') })
    expect(world.calls).toEqual([])
  })

  it.each<[sentence: string, target: CheckTarget, purpose: 'ahead' | 'permit' | 'deletion', answer: NodeCheck | null]>([
    ['answers nothing without drain in the policy', aTarget(undefined), 'deletion', null],
    ['answers nothing for a node that is prepared ahead', aTarget(rules), 'ahead', null],
    ['allows a permit for a node that does not rest', aTarget(rules), 'permit', { kind: 'ready', for: 'permit' }],
    ['asks again where the permit is gone', aTarget(rules, []), 'deletion', { kind: 'pending', againInMs: 1_000 }],
  ])('%s, without a request', async (_sentence, target, purpose, answer) => {
    const world = aWorld()
    expect(await world.check.check(target, { node: 'a', purpose }, signal)).toEqual(answer)
    expect(world.calls).toEqual([])
  })

  it('waits while a pod uses the node, and says for which once that takes long', async () => {
    const world = aWorld()
    world.pods = ['web']
    expect(await world.check.check(aTarget(rules), deletion, signal)).toEqual({ kind: 'pending', againInMs: 2_000 })
    world.clock.advance(5_000)
    expect(await world.check.check(aTarget(rules), deletion, signal)).toMatchObject({
      kind: 'pending',
      waits: {
        reason: 'Draining',
        message: expect.stringMatching(/team-a\/web \(the budget forbids it\), since .* drained again 10m later/),
      },
    })
    world.pods = []
    expect(await world.check.check(aTarget(rules), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
  })

  it('evicts nothing for a permit that another executor has used, though the record still has it', async () => {
    const world = aWorld()
    Object.assign(world, { pods: ['web'], agent: 'p2' })
    expect(await world.check.check(aTarget(rules), deletion, signal)).toMatchObject({ kind: 'pending' })
    expect(world.calls).not.toContain('evict')
    world.agent = 'p1'
    await world.check.check(aTarget(rules), deletion, signal)
    expect(world.calls).toContain('evict')
  })

  it.each<readonly [string, World['watched']]>([
    ['has replaced', [{ name: 'agent-2', uid: 'p2' }]],
    ['has deleted', []],
  ])('neither cordons the node nor evicts for a pod that another executor %s since the permit was read', async (_done, watched) => {
    const world = aWorld()
    Object.assign(world, { pods: ['web'], watched })
    expect(await world.check.check(aTarget({ ...rules, cordon: true }), deletion, signal)).toEqual({ kind: 'pending', againInMs: 1_000 })
    expect(world.calls).toEqual([])
  })

  it('keeps the pod after its time, and gives no permit while the node rests, with the same words', async () => {
    const world = aWorld()
    world.pods = ['web']
    await world.check.check(aTarget(rules), deletion, signal)
    world.clock.advance(10 * MINUTE)
    const want = { kind: 'blocked', reason: 'DrainBlocked', message: expect.stringContaining('not drained within 10m: 1 pod') }
    expect(await world.check.check(aTarget(rules), deletion, signal)).toMatchObject(want)
    world.calls.length = 0
    expect(await world.check.check(aTarget(rules), permitted, signal)).toMatchObject(want)
    expect(world.calls).toEqual([])
    world.clock.advance(10 * MINUTE)
    expect(await world.check.check(aTarget(rules), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
    expect(world.events).toEqual([])
  })

  it.each<[sentence: string, restedMs: number, againInMs: number]>([
    ['as soon as it rests', 0, 10 * MINUTE],
    ['in the middle of its rest', 4 * MINUTE, 6 * MINUTE],
    ['a moment before its end, and not at once', 10 * MINUTE - 1, 1_000],
  ])('asks a node again when its rest ends, also %s', async (_sentence, restedMs, againInMs) => {
    const world = aWorld()
    world.pods = ['web']
    await world.check.check(aTarget(rules), deletion, signal)
    world.clock.advance(10 * MINUTE)
    expect(await world.check.check(aTarget(rules), deletion, signal)).toMatchObject({ kind: 'blocked', againInMs: 10 * MINUTE })
    world.clock.advance(restedMs)
    expect(await world.check.check(aTarget(rules), permitted, signal)).toMatchObject({ kind: 'blocked', againInMs })
  })

  it('says after its time that another release drains the node', async () => {
    const world = aWorld()
    world.mark = { ...own, name: 'csi', uid: 'u2', podUid: 'p9', podResourceVersion: '1', cordoned: true }
    const cordoning = { ...rules, cordon: true }
    await world.check.check(aTarget(cordoning), deletion, signal)
    world.clock.advance(10 * MINUTE)
    const want = { kind: 'blocked', reason: 'DrainTaken', message: 'not drained within 10m: BatchRelease demo/csi drains it' }
    expect(await world.check.check(aTarget(cordoning), deletion, signal)).toMatchObject(want)
    expect(await world.check.check(aTarget(cordoning), permitted, signal)).toMatchObject(want)
  })

  it('updates the node after its time where the policy continues, and records that once on DaemonSet and Rollout', async () => {
    const world = aWorld()
    world.pods = ['web']
    const target = aTarget({ ...rules, onTimeout: 'Continue' })
    await world.check.check(target, deletion, signal)
    world.clock.advance(10 * MINUTE)
    for (const _again of [1, 2]) expect(await world.check.check(target, deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.events.map((event) => event.slice(0, event.indexOf(':')))).toEqual([
      'DaemonSet Warning DrainTimedOut',
      'Rollout Warning DrainTimedOut',
    ])
  })

  describe('has ended on a node that it marked', () => {
    const flight = { state: 'open', permits: [permit], revision: 'v2' }
    const failure = { reason: 'ReleaseFailed', message: 'failed', nodes: [] as string[], count: 1, stops: true, retry: '1', at: START }
    const accepted = { reason: 'Accepted', message: '', nodes: [], accepted: ['a'], release: 'v2' }
    const analysed = { ...failure, reason: 'AnalysisFailed' }
    it.each<[sentence: string, status: object, pod: object, hasEnded: boolean]>([
      ['not while its new pod may become available', { flight }, {}, false],
      ['if the release has failed there', { flight }, broken, true],
      ['not if only the status names the node', { flight, failure: { ...failure, nodes: ['a'] } }, {}, false],
      ['not while its pod is there', { flight }, { ...broken, uid: 'p1' }, false],
      ['if a retry has accepted its failure', { flight, failure: accepted }, broken, true],
      ['not if a retry has accepted an earlier failure of the node', { flight, failure: accepted }, {}, false],
      ['if the release has failed there, although an analysis stops it', { flight, failure: analysed }, broken, true],
      [
        'if the release has failed there, although the status names other nodes',
        { flight, failure: { ...failure, nodes: ['b'] } },
        broken,
        true,
      ],
      ['if the release is over', { flight, phase: 'Completed' }, {}, true],
      ['not if the release is over and its pod is there', { flight, phase: 'Completed' }, { uid: 'p1' }, false],
    ])('%s', (_sentence, status, pod, hasEnded) => {
      const world = aWorld()
      const base = {
        name: 'agent-2',
        uid: 'p2',
        hash: 'v2',
        terminating: false,
        ready: false,
        readyFromMs: null,
        restarts: 0,
        phase: 'Pending',
      }
      world.watched = [{ ...base, ...pod }]
      const target = aTarget(rules)
      const spec = { ...target.release.spec, releasePlan: { batches: [{ canaryReplicas: 1 }] } }
      const stoppedTime = { release: 'v2', startedAt: new Date(world.clock.nowMs()).toISOString(), seconds: 0, older: [] }
      const release = { ...target.release, spec, status: { stoppedTime, ...status } } as unknown as CheckTarget['release']
      const [done] = world.check.preparations({ ...target, release })
      expect(done?.isStale).toBe(hasEnded)
    })
  })

  describe('sweeps a node that it marked', () => {
    const isFree = { ...controlled, metadata: { ...controlled.metadata, annotations: {} } }
    const patched = ['get nodes', 'get batchreleases', 'patch nodes']
    const read = ['list batchreleases', 'list daemonsets']
    it.each<[sentence: string, status: object | null, daemonSet: object, calls: readonly string[]]>([
      ['which keeps its cordon while its release has the permit', { flight: { state: 'open', permits: [permit] } }, controlled, []],
      ['which keeps its cordon while definitions hide the permits of its release (G7)', {}, controlled, []],
      ['which keeps it then also where the watch of DaemonSets is behind', {}, isFree, read],
      ['which is schedulable again once its release has no permit of it', { flight: { state: 'open', permits: [] } }, controlled, patched],
      ['which is schedulable again once its release is gone', null, controlled, patched],
    ])('%s', async (_sentence, status, daemonSet, calls) => {
      const world = aWorld()
      const { release } = aTarget(rules)
      Object.assign(world, { mark: { ...own, ...permit, cordoned: true }, daemonSet })
      world.known = { ...release, ...(status === null ? { metadata: { ...release.metadata, uid: 'u9' } } : { status }) } as typeof release
      await world.check.sweep(signal)
      expect(world.calls).toEqual(calls)
    })
  })

  it('asks for work on nodes only where the policy drains, and finds what it did there by the marks', () => {
    const { check } = aWorld()
    expect([check.rules(aTarget(rules)), check.rules(aTarget(undefined))]).toEqual([{ ahead: 0 }, undefined])
    expect(check.preparations(aTarget(undefined))).toEqual([
      { node: 'a', check: 'drain', state: 'begun', isAhead: false, isStale: false, changesAtMs: null },
    ])
  })
})
