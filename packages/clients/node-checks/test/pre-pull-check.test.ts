import type { PrePullRules } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import type { HelperCreation, HelperPods } from '@tranche/cluster'
import type { HelperPod, PullState } from '@tranche/pre-pull'
import { describe, expect, it } from 'vitest'
import type { Check, CheckTarget } from '../src/check.ts'
import { createPrePullCheck } from '../src/pre-pull-check.ts'

const signal = new AbortController().signal
const failed: PullState = { kind: 'failed', message: 'cannot pull image "agent:v2": ErrImagePull' }

interface World {
  readonly clock: FakeClock
  readonly check: Check
  readonly calls: string[]
  pods: HelperPod[]
  creation: HelperCreation
  isSynced: boolean
  hasJustGone: boolean
  controlling: ReadonlySet<string>
  /** Uids of the BatchReleases that control a DaemonSet, as the API server has them. */
  live: ReadonlySet<string>
}

/** @param isAllowed whether the installation allows helper pods */
function aWorld(isAllowed = true): World {
  const clock = new FakeClock()
  const world: Omit<World, 'check'> = {
    ...{
      clock,
      calls: [],
      pods: [],
      creation: { kind: 'created' },
      isSynced: true,
      hasJustGone: false,
      controlling: new Set(['release']),
      live: new Set(['release']),
    },
  }
  const helpers: HelperPods = {
    start: () => {},
    isSynced: () => world.isSynced,
    hasJustGone: () => world.hasJustGone,
    list: (uid) => world.pods.filter(({ release }) => uid === undefined || release.uid === uid),
    async create({ spec }) {
      world.calls.push(`create on ${String(spec['nodeName'])}`)
      return world.creation
    },
    async delete({ name }) {
      world.calls.push(`delete ${name}`)
      if (name.startsWith('stuck')) throw new Error('denied by a webhook')
    },
    subscribe: () => {},
  }
  const check = createPrePullCheck({
    ...{ clock, helpers: isAllowed ? helpers : undefined, controlling: () => world.controlling },
    readsControl: async ({ uid }) => world.live.has(uid),
  })
  return Object.assign(world, { check })
}

function aTarget(prePull: PrePullRules | undefined = {}, images: readonly object[] = [{ image: 'agent:v2' }]): CheckTarget {
  return {
    daemonSet: { metadata: { namespace: 'demo', name: 'agent' }, spec: { template: { spec: { containers: images } } } },
    release: {
      metadata: { namespace: 'demo', name: 'agent', uid: 'release', resourceVersion: '50' },
      spec: { tranche: { prePull } },
      status: { flight: { revision: 'new', limit: 3 } },
    },
  } as unknown as CheckTarget
}

function aPod({ clock }: World, state: PullState, fields: Partial<HelperPod> = {}): HelperPod {
  return {
    ...{ namespace: 'demo', name: 'helper-a', uid: 'pod-a', resourceVersion: '1', node: 'a', revision: 'new' },
    ...{ release: { name: 'agent', uid: 'release' }, seenAt: '50', createdMs: clock.nowMs(), state, ...fields },
  }
}

const ahead = { node: 'a', purpose: 'ahead' } as const
const deletion = { node: 'a', purpose: 'deletion' } as const

describe('a node whose images are pulled first', () => {
  it('gets a helper pod, and waits', async () => {
    const world = aWorld()
    expect(await world.check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'pending' })
    expect(world.calls).toEqual(['create on a'])
  })

  it('gets no second helper pod, and waits while the first one pulls', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulling' })]
    expect(await world.check.check(aTarget(), deletion, signal)).toMatchObject({ kind: 'pending' })
    expect(world.calls).toEqual([])
  })

  it('gets another helper pod for another revision', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulled' }, { revision: 'old' })]
    expect(await world.check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'pending' })
    expect(world.calls).toEqual(['create on a'])
  })

  it('gets none before the process has seen those that exist', async () => {
    const world = aWorld()
    world.isSynced = false
    expect(await world.check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'pending' })
    expect(world.calls).toEqual([])
  })

  it('gets none right after its last one has gone: another executor may have updated it', async () => {
    const world = aWorld()
    world.hasJustGone = true
    expect(await world.check.check(aTarget(), ahead, signal)).toEqual({ kind: 'pending', againInMs: 5_000 })
    expect(world.calls).toEqual([])
  })

  it('is ready once its helper pod has pulled', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulled' })]
    expect(await world.check.check(aTarget(), ahead, signal)).toEqual({ kind: 'ready', for: 'ahead' })
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
  })

  it('is ready where the template has nothing to pull', async () => {
    const world = aWorld()
    const target = aTarget({}, [{ image: 'agent:v2', imagePullPolicy: 'Never' }])
    expect(await world.check.check(target, deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.check.rules(target)).toBeUndefined()
  })

  it('is blocked with the words of its kubelet', async () => {
    const world = aWorld()
    world.pods = [aPod(world, failed)]
    expect(await world.check.check(aTarget(), ahead, signal)).toEqual({ kind: 'blocked', reason: 'ImagePull', message: failed.message })
  })

  it('is blocked with the words of the API server that rejects the helper pod', async () => {
    const world = aWorld()
    world.creation = { kind: 'rejected', message: 'exceeded quota' }
    const message = 'the helper pod was rejected: exceeded quota'
    expect(await world.check.check(aTarget(), ahead, signal)).toEqual({ kind: 'blocked', reason: 'ImagePull', message })
  })

  it('is blocked when another pod has the name of the helper pod for a minute', async () => {
    const world = aWorld()
    world.creation = { kind: 'exists' }
    expect(await world.check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'pending' })
    world.clock.advance(59_000)
    expect(await world.check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'pending' })
    world.clock.advance(1_000)
    const answer = await world.check.check(aTarget(), ahead, signal)
    expect(answer).toMatchObject({
      kind: 'blocked',
      reason: 'ImagePull',
      message: expect.stringContaining('is taken: pod demo/agent-pull-'),
    })
  })

  it('is blocked when the pull takes too long', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulling' })]
    const target = aTarget({ timeout: '30s' })
    expect(world.check.preparations(target)).toMatchObject([{ state: 'begun', changesAtMs: world.clock.monotonicMs() + 30_000 }])
    world.clock.advance(30_000)
    expect(world.check.preparations(target)).toMatchObject([{ state: 'failed', changesAtMs: null }])
    const message = 'the images were not pulled within 30s'
    expect(await world.check.check(target, ahead, signal)).toEqual({ kind: 'blocked', reason: 'ImagePull', message })
  })

  it.each([
    ['Hold', 'it keeps its pod, and pulls again later'],
    ['Continue', 'it is updated all the same'],
  ] as const)('says what it pulls, since when, until when, and what then: %s', (onFailure, then) => {
    const world = aWorld()
    const createdMs = Date.parse('2026-11-27T20:00:00Z')
    world.clock.advance(createdMs + 1_000 - world.clock.nowMs())
    world.pods = [aPod(world, { kind: 'pulling' }, { createdMs })]
    const images = [{ image: 'init:1' }, { image: 'agent:v2' }, { image: 'side:3' }]
    const message = `helper pod helper-a pulls init:1, agent:v2 and 1 more, since 2026-11-27T20:00:00Z, until 2026-11-27T20:05:00Z at the latest; then ${then}`
    const fromMs = world.clock.monotonicMs() + 4_000
    expect(world.check.preparations(aTarget({ timeout: '5m', onFailure }, images))).toMatchObject([
      { state: 'begun', waits: { reason: 'Pulling', message, fromMs } },
    ])
  })

  it('says nothing of a pull that has ended, or of another revision', () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulled' }), aPod(world, { kind: 'pulling' }, { node: 'b', revision: 'old' })]
    expect(world.check.preparations(aTarget()).map(({ waits }) => waits)).toEqual([undefined, undefined])
  })

  it('is ready although it cannot pull, if the policy says Continue', async () => {
    const world = aWorld()
    const target = aTarget({ onFailure: 'Continue' })
    world.pods = [aPod(world, failed)]
    expect(world.check.preparations(target)).toMatchObject([{ state: 'ready' }])
    expect(await world.check.check(target, deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    world.pods = []
    world.creation = { kind: 'rejected', message: 'exceeded quota' }
    expect(await world.check.check(target, ahead, signal)).toEqual({ kind: 'ready', for: 'ahead' })
  })

  it('is blocked if the policy names an action that this version does not know', async () => {
    const world = aWorld()
    const target = aTarget({ onFailure: 'Defer' as never })
    world.pods = [aPod(world, failed)]
    expect(world.check.preparations(target)).toMatchObject([{ state: 'failed' }])
    expect(await world.check.check(target, deletion, signal)).toMatchObject({ kind: 'blocked', reason: 'ImagePull' })
  })

  it('waits while it pulls, although the policy says Continue', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulling' })]
    expect(await world.check.check(aTarget({ onFailure: 'Continue' }), deletion, signal)).toMatchObject({ kind: 'pending' })
  })

  it('is blocked where the installation does not allow helper pods', async () => {
    expect(await aWorld(false).check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'blocked', reason: 'PrePullNotAllowed' })
  })

  it('is not checked where the policy does not ask for it', async () => {
    const world = aWorld()
    const target = { ...aTarget(), release: { ...aTarget().release, spec: {} } } as CheckTarget
    expect(await world.check.check(target, ahead, signal)).toBeNull()
    expect(world.check.rules(target)).toBeUndefined()
    expect(world.calls).toEqual([])
  })
})

it('as many nodes pull at a time as may be unavailable, unless the policy says otherwise', () => {
  const { check } = aWorld()
  expect([check.rules(aTarget()), check.rules(aTarget({ parallel: 7 }))]).toEqual([{ ahead: 3 }, { ahead: 7 }])
})

describe('a helper pod', () => {
  it('is stale for another revision, and where the policy no longer asks for it', () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulled' }), aPod(world, { kind: 'pulled' }, { node: 'b', revision: 'old' })]
    expect(world.check.preparations(aTarget()).map(({ isStale }) => isStale)).toEqual([false, true])
    const without = { ...aTarget(), release: { ...aTarget().release, spec: {} } } as CheckTarget
    expect(world.check.preparations(without).map(({ isStale }) => isStale)).toEqual([true, true])
  })

  it('of another revision is deleted without that of the present one', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulled' }), aPod(world, { kind: 'pulled' }, { name: 'helper-old', revision: 'old' })]
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual(['delete helper-old'])
  })

  it('is deleted with its node alone', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulled' }), aPod(world, { kind: 'pulled' }, { name: 'helper-b', node: 'b' })]
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual(['delete helper-a'])
  })

  it('is not deleted by a process whose BatchRelease is older than that of its creator, for a minute', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulling' }, { seenAt: '51' })]
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual([])
    world.clock.advance(60_001)
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual(['delete helper-a'])
  })

  it('of another namespace that names the release is no answer, whatever it says, and is not deleted with a node', async () => {
    const world = aWorld()
    world.pods = [aPod(world, failed, { namespace: 'team-a' })]
    expect(world.check.preparations(aTarget())).toEqual([])
    expect(await world.check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'pending' })
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual(['create on a'])
  })

  it('that a user adds to a node changes no answer: one state of a node would contradict the other for ever', async () => {
    const world = aWorld()
    world.pods = [aPod(world, { kind: 'pulled' }), aPod(world, failed, { name: 'forged' })]
    expect(world.check.preparations(aTarget())).toMatchObject([{ node: 'a', state: 'ready' }])
    expect(await world.check.check(aTarget(), ahead, signal)).toMatchObject({ kind: 'ready' })
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual(['delete helper-a', 'delete forged'])
  })

  it('that cannot be deleted keeps no other one from being swept', async () => {
    const world = aWorld()
    const left = { name: 'left', uid: 'left' }
    world.pods = ['stuck', 'helper-left'].map((name) => aPod(world, { kind: 'pulled' }, { release: left, name }))
    world.clock.advance(61_000)
    await expect(world.check.sweep(signal)).rejects.toThrow('denied by a webhook')
    expect(world.calls).toEqual(['delete stuck', 'delete helper-left'])
  })

  it('is swept a minute after its creation if its release controls no DaemonSet', async () => {
    const world = aWorld()
    const other = { release: { name: 'left', uid: 'left' }, name: 'helper-left' }
    world.pods = [aPod(world, { kind: 'pulled' }), aPod(world, { kind: 'pulled' }, other)]
    await world.check.sweep(signal)
    expect(world.calls).toEqual([])
    world.clock.advance(61_000)
    await world.check.sweep(signal)
    expect(world.calls).toEqual(['delete helper-left'])
  })

  it('is not swept while a watch of DaemonSets is behind, however old the pod is', async () => {
    const world = aWorld()
    Object.assign(world, { controlling: new Set() })
    world.pods = [aPod(world, { kind: 'pulled' })]
    world.clock.advance(10 * 60_000)
    await world.check.sweep(signal)
    expect(world.calls).toEqual([])
  })
})
