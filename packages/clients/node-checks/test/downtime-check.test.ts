import { FakeClock } from '@tranche/clock'
import type { DowntimeWrite, NodeDowntimes, WatchedCluster } from '@tranche/cluster'
import type { Downtimes, DowntimeWanted, NodeDowntime } from '@tranche/drain'
import type { LivePod } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import type { Check, CheckTarget } from '../src/check.ts'
import { createDowntimeCheck } from '../src/downtime-check.ts'

const signal = new AbortController().signal
const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const own = { namespace: 'demo', name: 'agent', uid: 'u1' }
const permit = { node: 'a', podUid: 'p1', podResourceVersion: '7' }
const permitted = { node: 'a', purpose: 'permit' } as const
const deletion = { node: 'a', purpose: 'deletion' } as const
const daemonSetKey = { namespace: 'demo', name: 'agent', uid: 'd1' }

interface World {
  readonly clock: FakeClock
  readonly check: Check
  readonly calls: string[]
  readonly wanted: DowntimeWanted[]
  memory: NodeDowntime | null
  answer: DowntimeWrite | Error
  isSynced: boolean
  position: string
  /** Pods of the DaemonSet on node a. */
  pods: { readonly uid: string; readonly ready: boolean; readonly readyFromMs: number | null }[]
  known: CheckTarget['release'] | undefined
  daemonSet: object | undefined
  isDesired: boolean
  /** As it was when a sweep began. @default `memory` */
  listed?: NodeDowntime
  /** Position of the watch of pods. */
  podsSeen: string
  /** The pod of the permit, as the API server has it; null: it is gone. */
  live: LivePod | null | Error
  /** Runs while the pod is read. */
  onRead?: () => void
}

function aWorld(given: { readonly isAllowed?: boolean; readonly watched?: readonly string[] } = {}): World {
  const clock = new FakeClock()
  const world: Omit<World, 'check'> = {
    ...{
      clock,
      calls: [],
      wanted: [],
      memory: null,
      answer: { kind: 'done' },
      isSynced: true,
      position: '50',
      podsSeen: '50',
      isDesired: true,
    },
    ...{ pods: [standing], live: standing as unknown as LivePod, known: aTarget().release, daemonSet: controlled },
  }
  const downtimes: NodeDowntimes = {
    namespace: 'tranche',
    start: () => {},
    isSynced: () => world.isSynced,
    get: () => world.memory,
    list(uid) {
      const memory = world.listed ?? world.memory
      return memory !== null && (uid === undefined || memory.open?.permitted.release.uid === uid) ? [memory] : []
    },
    async write(wanted) {
      world.calls.push('write')
      world.wanted.push(wanted)
      if (world.answer instanceof Error) throw world.answer
      if (world.answer.kind === 'done') world.memory = aMemory(wanted.downtimes)
      return world.answer
    },
    async forget() {
      world.calls.push('forget')
    },
  }
  const cluster = {
    nodes: { store: { get: () => ({ name: 'a', uid: 'n1' }) } },
    batchReleases: { positionOf: () => world.position },
    pods: { positionOf: () => world.podsSeen },
    overlay: { batchReleases: { get: () => world.known }, daemonSets: { get: () => world.daemonSet } },
    fleet: { view: () => ({ nodes: [{ name: 'a', desired: world.isDesired, pods: world.pods }] }) },
  } as unknown as WatchedCluster
  const { isAllowed = true, watched } = given
  const readPod = async (): Promise<LivePod | null> => {
    world.calls.push('read pod')
    world.onRead?.()
    if (world.live instanceof Error) throw world.live
    return world.live
  }
  const check = createDowntimeCheck({ cluster, clock, downtimes: isAllowed ? downtimes : undefined, watched, readPod })
  return Object.assign(world, { check })
}

const standing = { uid: 'p1', resourceVersion: '8', ready: true, readyFromMs: 0, readyStamp: undefined, createdAt: '', terminating: false }
const live = (fields: Partial<LivePod>): LivePod => ({ ...(standing as unknown as LivePod), ...fields })
const newer = { ...standing, uid: 'p2' }
const broken = { ...standing, ready: false, readyFromMs: null }

const control = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', name: own.name, uid: own.uid, controller: true }
const controlled = {
  metadata: { ...daemonSetKey, annotations: { 'batchrelease.rollouts.kruise.io/control-info': JSON.stringify(control) } },
  spec: {},
}

function aTarget(tranche: object = { downtime: { perDay: '10m' } }, permits: readonly object[] = [permit]): CheckTarget {
  return {
    daemonSet: controlled,
    release: {
      metadata: { ...own, resourceVersion: '40' },
      spec: { workloadRef: { name: 'agent' }, tranche },
      status: { flight: { permits } },
    },
  } as unknown as CheckTarget
}

const rollback = { downtime: { perDay: '10m' }, canaryRevision: 'r1', stableRevision: 'r1' }

function aMemory(downtimes: Downtimes): NodeDowntime {
  return { daemonSet: daemonSetKey, node: 'a', uid: 'l1', resourceVersion: '9', ...downtimes }
}

/** Time of the first clock plus this, in seconds. */
function stampOf(seconds: number): string {
  return new Date(new FakeClock().nowMs() + seconds * 1_000).toISOString()
}

/** A downtime with its length, and the time since its end, in minutes. */
const away = (nowMs: number, minutes: number, ago: number): Downtimes => ({
  past: [{ fromMs: nowMs - (ago + minutes) * MINUTE, toMs: nowMs - ago * MINUTE }],
  open: null,
})

const openSince = (fromMs: number, { podUid = 'p1', seenAt = '40', uid = 'u1' } = {}): Downtimes => ({
  past: [],
  open: { fromMs, permitted: { release: { ...own, uid }, permit: { podUid, podResourceVersion: '7' }, seenAt } },
})

describe('a node under downtime.perDay', () => {
  it('gets a permit without a request, and one before its pod is deleted', async () => {
    const world = aWorld()
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
    expect(world.calls).toEqual([])
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.calls).toEqual(['write'])
    expect(world.wanted[0]).toMatchObject({ nodeUid: 'n1', downtimes: openSince(world.clock.nowMs()) })
  })

  it('whose agent was away for long enough keeps its pod, and is asked again when it can be updated', async () => {
    const world = aWorld()
    world.memory = aMemory(away(world.clock.nowMs(), 10, 24 * 60 - 12))
    const answer = await world.check.check(aTarget(), permitted, signal)
    const at = new Date(world.clock.nowMs() + 2 * MINUTE + 1).toISOString()
    expect(answer).toEqual({
      kind: 'blocked',
      reason: 'DowntimeSpent',
      message: `its agent was away for 10m00s of the 10m00s allowed in 24 hours; it can be updated at ${at}`,
      againInMs: 2 * MINUTE + 1,
    })
    expect(await world.check.check(aTarget(), deletion, signal)).toMatchObject({ kind: 'blocked' })
    world.clock.advance(2 * MINUTE + 1)
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
    expect(world.calls).toEqual([])
  })

  it('is asked again after five minutes at most: the policy may allow more', async () => {
    const world = aWorld()
    world.memory = aMemory(away(world.clock.nowMs(), 10, 60))
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ againInMs: 5 * MINUTE })
    expect(await world.check.check(aTarget({ downtime: { perDay: '11m' } }), permitted, signal)).toMatchObject({ kind: 'ready' })
  })

  it.each([
    ['whose kubelet does not say since when it is Ready waits, because this process may have seen it only now', {}, 'blocked'],
    ['that has been Ready for long, as its kubelet says, waits', { readyStamp: stampOf(-10) }, 'blocked'],
    ['that flaps does not wait: it is not available', { readyStamp: stampOf(-9) }, 'ready'],
    ['that is not Ready does not wait', { ready: false, readyFromMs: null }, 'ready'],
    ['that is available waits', { readyFromMs: -20_000 }, 'blocked'],
  ] as const)('with a pod %s', async (_name, fields, kind) => {
    const world = aWorld()
    const target = aTarget()
    const spec = { minReadySeconds: 10 }
    world.memory = aMemory(away(world.clock.nowMs(), 10, 60))
    world.pods = [{ ...standing, readyFromMs: world.clock.monotonicMs() - 9_999, ...fields }]
    const answer = await world.check.check({ ...target, daemonSet: { ...target.daemonSet, spec } as never }, permitted, signal)
    expect(answer?.kind).toBe(kind)
  })

  it('without a Ready pod does not wait: its agent is away already', async () => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs() - 30 * MINUTE, { podUid: 'p0' }))
    world.pods = [broken]
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'ready' })
    expect(await world.check.check(aTarget(), deletion, signal)).toMatchObject({ kind: 'ready' })
    expect(world.wanted[0]?.downtimes).toMatchObject(openSince(world.clock.nowMs() - 30 * MINUTE))
  })

  it('does not wait in a rollback, which is remembered', async () => {
    const world = aWorld()
    world.memory = aMemory(away(world.clock.nowMs(), 10, 60))
    expect(await world.check.check(aTarget(rollback), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
    expect(await world.check.check(aTarget(rollback), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.calls).toEqual(['write'])
  })

  it.each<[string, (world: World) => void]>([
    ['the memory cannot be written', (world) => (world.answer = { kind: 'rejected', message: 'forbidden' })],
    ['the API server does not answer', (world) => (world.answer = new Error('timeout'))],
    ['another process writes it', (world) => (world.answer = { kind: 'changed' })],
    ['the memory is not read yet', (world) => (world.isSynced = false)],
  ])('does not wait in a rollback while %s', async (_name, change) => {
    const world = aWorld()
    change(world)
    expect(await world.check.check(aTarget(rollback), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
  })

  it('does not wait in a rollback where the installation does not allow the rule', async () => {
    const world = aWorld({ isAllowed: false })
    expect(await world.check.check(aTarget(rollback), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'blocked', reason: 'DowntimeNotAllowed' })
  })

  it('is left alone without the rule', async () => {
    const world = aWorld()
    world.memory = aMemory(away(world.clock.nowMs(), 10, 60))
    for (const tranche of [{}, { downtime: { group: 'x' } }]) {
      expect(world.check.rules(aTarget(tranche))).toBeUndefined()
      expect(await world.check.check(aTarget(tranche), deletion, signal)).toBeNull()
    }
  })

  it('gets no permit for a minute after its memory could not be written', async () => {
    const world = aWorld()
    world.answer = { kind: 'rejected', message: 'leases is forbidden' }
    const failed = await world.check.check(aTarget(), deletion, signal)
    expect(failed).toMatchObject({ kind: 'blocked', reason: 'DowntimeFailed', message: expect.stringContaining('leases is forbidden') })
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual(failed)
    expect(world.calls).toEqual(['write'])
  })

  it('gets its next permit only once its memory can be written: it would be drained in vain', async () => {
    const world = aWorld()
    world.answer = { kind: 'rejected', message: 'leases is forbidden' }
    const failed = await world.check.check(aTarget(), deletion, signal)
    world.clock.advance(MINUTE)
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual(failed)
    world.answer = { kind: 'done' }
    world.clock.advance(MINUTE)
    for (const _again of [1, 2]) expect(await world.check.check(aTarget(), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
    expect(world.calls).toEqual(['write', 'write', 'write'])
    expect(world.memory).toMatchObject({ past: [], open: null })
  })

  it('gets a permit only once its memory can be written, where that of another node could not be lately', async () => {
    const world = aWorld()
    const other = { node: 'b', podUid: 'p1', podResourceVersion: '7' }
    const askOther = (): ReturnType<Check['check']> =>
      world.check.check(aTarget(undefined, [other]), { node: 'b', purpose: 'deletion' }, signal)
    world.answer = { kind: 'rejected', message: 'leases is forbidden' }
    await askOther()
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'blocked', reason: 'DowntimeFailed' })
    expect(world.calls).toEqual(['write', 'write'])
  })

  it.each<[sentence: string, minutes: number, isWritten: boolean, calls: number]>([
    ['where another one could be written since', 1, true, 0],
    ['where the failure is of ten minutes ago', 10, false, 0],
    ['but not before that', 9.9, false, 1],
  ])('gets a permit without a request after the failure of another node %s', async (_sentence, minutes, isWritten, calls) => {
    const world = aWorld()
    const asked = (node: string): ReturnType<Check['check']> =>
      world.check.check(aTarget(undefined, [{ ...permit, node }]), { node, purpose: 'deletion' }, signal)
    world.answer = { kind: 'rejected', message: 'leases is forbidden' }
    await asked('b')
    world.answer = { kind: 'done' }
    world.clock.advance(minutes * MINUTE)
    if (isWritten) await asked('c')
    world.calls.length = 0
    world.memory = null
    await world.check.check(aTarget(), permitted, signal)
    expect(world.calls.length).toBe(calls)
  })

  it('is asked about again where another process has written its memory while its pod was read', async () => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs() - 30 * MINUTE))
    world.onRead = () => (world.memory = { ...world.memory!, resourceVersion: '10' })
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'pending', againInMs: 1_000 })
    expect(world.calls).toEqual(['read pod'])
  })

  it('keeps its downtimes while it is found out whether they can be written', async () => {
    const world = aWorld()
    world.answer = { kind: 'rejected', message: 'leases is forbidden' }
    await world.check.check(aTarget(), deletion, signal)
    world.clock.advance(MINUTE)
    const before = away(world.clock.nowMs(), 5, 60)
    Object.assign(world, { memory: aMemory(before), answer: { kind: 'done' } })
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'ready' })
    expect(world.wanted.at(-1)?.downtimes).toEqual(before)
  })

  it.each<[sentence: string, minutes: number, change: (world: World) => void, calls: readonly string[], fromMin: number]>([
    ['begins when its pod can be deleted, not when that was refused before', 30, () => {}, ['read pod', 'write'], 30],
    ['begins then also where the agent is not Ready', 30, (world) => (world.pods = [broken]), ['read pod', 'write'], 30],
    ['does not begin again within a minute', 0.99, () => {}, [], 0],
    ['began earlier where the pod is gone, which the watch does not show', 30, (world) => (world.live = null), ['read pod'], 0],
    ['began earlier where another pod has its name', 30, (world) => (world.live = live({ uid: 'p2' })), ['read pod'], 0],
    ['began earlier where the pod is being deleted', 30, (world) => (world.live = live({ terminating: true })), ['read pod'], 0],
    ['began earlier where the watch shows that the pod is gone', 30, (world) => (world.pods = []), [], 0],
    [
      'began earlier where the agent has been away since',
      30,
      (world) => {
        world.pods = [broken]
        world.memory = aMemory({ past: [], open: { ...world.memory!.open!, wasAway: true } })
      },
      [],
      0,
    ],
  ])('%s', async (_sentence, minutes, change, calls, fromMin) => {
    const world = aWorld()
    const startMs = world.clock.nowMs()
    world.memory = aMemory(openSince(startMs))
    world.clock.advance(minutes * MINUTE)
    change(world)
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.calls).toEqual(calls)
    expect(world.memory.open).toMatchObject({ fromMs: startMs + fromMin * MINUTE })
  })

  it('is not updated while its pod cannot be read to say when its downtime begins', async () => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs() - 30 * MINUTE))
    world.live = new Error('timeout')
    await expect(world.check.check(aTarget(), deletion, signal)).rejects.toThrow('timeout')
    world.calls.length = 0
    expect(await world.check.check(aTarget(rollback), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.calls).toEqual([])
  })

  it('is asked again at once where another process has written its memory', async () => {
    const world = aWorld()
    world.answer = { kind: 'changed' }
    expect(await world.check.check(aTarget(), deletion, signal)).toMatchObject({ kind: 'pending' })
    expect(await world.check.check(aTarget(undefined, []), deletion, signal)).toMatchObject({ kind: 'pending' })
  })

  it('is blocked after a minute in which a Lease of the name exists that is no memory, until it is gone', async () => {
    const world = aWorld()
    world.answer = { kind: 'taken' }
    const asked = (): ReturnType<Check['check']> => world.check.check(aTarget(), deletion, signal)
    expect(await asked()).toEqual({ kind: 'pending', againInMs: 1_000 })
    world.clock.advance(MINUTE)
    const message = expect.stringMatching(/in namespace tranche: the Lease \S+ exists, but is no memory of downtime; delete it$/)
    expect(await asked()).toMatchObject({ kind: 'blocked', reason: 'DowntimeFailed', message })
    world.answer = { kind: 'done' }
    world.clock.advance(MINUTE)
    expect(await asked()).toMatchObject({ kind: 'ready' })
    world.memory = null
    world.answer = { kind: 'taken' }
    expect(await asked()).toEqual({ kind: 'pending', againInMs: 1_000 })
  })

  it('waits until the memories are read, and says so after half a minute', async () => {
    const world = aWorld()
    world.isSynced = false
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'pending' })
    world.clock.advance(30_000)
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'blocked', reason: 'DowntimeFailed' })
  })
})

describe('the downtime of a node', () => {
  it('ends once the permit is over and the new pod is available', async () => {
    const world = aWorld()
    world.clock.advance(20 * MINUTE)
    world.memory = aMemory(openSince(world.clock.nowMs() - 5 * MINUTE))
    world.pods = [{ ...newer, readyFromMs: world.clock.monotonicMs() - MINUTE }]
    await world.check.undo(aTarget(), 'a', signal)
    const nowMs = world.clock.nowMs()
    expect(world.wanted[0]?.downtimes).toEqual({ past: [{ fromMs: nowMs - 5 * MINUTE, toMs: nowMs - MINUTE }], open: null })
  })

  it('counts for nothing where the permit was withdrawn', async () => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs()))
    world.known = aTarget(undefined, []).release
    world.clock.advance(5 * MINUTE)
    await world.check.undo(aTarget(undefined, []), 'a', signal)
    expect(world.wanted[0]?.downtimes).toEqual({ past: [], open: null })
  })

  it.each<[string, (world: World) => void]>([
    ['its permit is in use', () => {}],
    [
      'this process is behind the one that saw the permit',
      (world) => Object.assign(world, { position: '39', known: undefined, pods: [newer] }),
    ],
    ['the agent is away', (world) => Object.assign(world, { known: aTarget(undefined, []).release, pods: [] })],
    ['nothing is open', (world) => Object.assign(world, { memory: aMemory(away(world.clock.nowMs(), 1, 1)) })],
  ])('does not end while %s', async (_name, change) => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs()))
    change(world)
    await world.check.undo(aTarget(), 'a', signal)
    await world.check.sweep(signal)
    expect(world.calls).toEqual([])
  })

  it('reports an end that the API server rejects, so that it is logged and tried again', async () => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs()))
    Object.assign(world, { known: aTarget(undefined, []).release, pods: [], isDesired: false })
    world.answer = { kind: 'rejected', message: 'leases is forbidden' }
    await expect(world.check.undo(aTarget(), 'a', signal)).rejects.toThrow('the end of a downtime cannot be written: leases is forbidden')
  })

  it.each([
    ['its pod is seen as it was when it was permitted', { pods: [{ ...standing, resourceVersion: '7' }] }],
    ['the watch of pods is behind that', { podsSeen: '6', pods: [newer] }],
  ])('is not over while %s, because the pod may be deleted since', async (_while, seen) => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs()))
    Object.assign(world, { known: undefined, ...seen })
    await world.check.undo(aTarget(undefined, []), 'a', signal)
    await world.check.sweep(signal)
    expect(world.calls).toEqual([])
    Object.assign(world, { podsSeen: '50', pods: [standing] })
    await world.check.sweep(signal)
    expect(world.calls).toEqual(['write'])
  })

  it('that another release has begun since the sweep began is not ended by the sweep', async () => {
    const world = aWorld()
    world.listed = aMemory(openSince(world.clock.nowMs(), { podUid: 'p0' }))
    world.memory = { ...aMemory(openSince(world.clock.nowMs(), { uid: 'another' })), resourceVersion: '10' }
    Object.assign(world, { known: undefined, pods: [newer] })
    await world.check.sweep(signal)
    expect(world.calls).toEqual([])
  })

  it('of a DaemonSet that was created again is no preparation of this one', () => {
    const world = aWorld()
    world.memory = { ...aMemory(openSince(world.clock.nowMs())), daemonSet: { ...daemonSetKey, uid: 'd0' } }
    expect(world.check.preparations(aTarget())).toEqual([])
    world.memory = aMemory(openSince(world.clock.nowMs()))
    expect(world.check.preparations(aTarget())).toHaveLength(1)
  })

  it.each([
    ['in a newer version, as which it cannot be deleted any more', { pods: [standing] }, {}, true],
    ['in a newer version, while the permit is not over', { pods: [standing], known: aTarget().release }, {}, false],
    ['in the version that was permitted', { pods: [{ ...standing, resourceVersion: '7' }] }, {}, false],
    ['as terminating', { pods: [{ ...standing, terminating: true }] }, {}, false],
    ['no more', { pods: [] }, {}, false],
    ['in a newer version, while the agent has been away since an earlier permit', { pods: [standing] }, { wasAway: true }, false],
  ])('is undone before its release needs it no more if the pod is seen %s', (_how, seen, open, isStale) => {
    const world = aWorld()
    const memory = openSince(world.clock.nowMs())
    world.memory = aMemory({ ...memory, open: { ...memory.open!, ...open } })
    Object.assign(world, { known: aTarget(undefined, []).release, ...seen })
    expect(world.check.preparations(aTarget())).toMatchObject([{ node: 'a', isStale }])
  })

  it('ends where the agent is not desired any more', async () => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs()))
    Object.assign(world, { known: aTarget(undefined, []).release, pods: [], isDesired: false })
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual(['write'])
  })

  it('is undone by the release that opened it', () => {
    const world = aWorld()
    world.memory = aMemory(openSince(0, { uid: 'another' }))
    expect(world.check.preparations(aTarget())).toEqual([])
    world.memory = aMemory(openSince(0))
    world.pods = [newer]
    expect(world.check.preparations(aTarget())).toMatchObject([{ node: 'a', check: 'downtime', state: 'begun', isStale: false }])
  })

  it.each<[string, (world: World) => void, string[]]>([
    ['ends after its release, once the agent is back', (world) => Object.assign(world, { known: undefined, pods: [newer] }), ['write']],
    ['stays open after its release while the agent is away', (world) => Object.assign(world, { known: undefined, pods: [broken] }), []],
    ['is left to the release that controls the DaemonSet', (world) => Object.assign(world, { pods: [newer] }), []],
    ['is kept for a day after its DaemonSet is gone', (world) => Object.assign(world, { daemonSet: undefined }), []],
  ])('%s', async (_name, change, calls) => {
    const world = aWorld()
    world.memory = aMemory(openSince(world.clock.nowMs() - DAY + 1, { podUid: 'p0' }))
    change(world)
    await world.check.sweep(signal)
    expect(world.calls).toEqual(calls)
  })

  it.each([
    ['is gone', undefined],
    ['is another one', { metadata: { ...daemonSetKey, uid: 'd2' } }],
  ])('is forgotten a day later if its DaemonSet %s', async (_name, daemonSet) => {
    const world = aWorld()
    world.memory = aMemory(away(world.clock.nowMs(), 1, 24 * 60))
    world.daemonSet = daemonSet
    await world.check.sweep(signal)
    expect(world.calls).toEqual(['forget'])
  })

  it('is not touched in a namespace that this process does not watch', async () => {
    const world = aWorld({ watched: ['another'] })
    world.memory = aMemory(away(world.clock.nowMs(), 1, 24 * 60))
    world.daemonSet = undefined
    await world.check.sweep(signal)
    expect(world.calls).toEqual([])
  })
})
