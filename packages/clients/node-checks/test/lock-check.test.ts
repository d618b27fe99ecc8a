import { FakeClock } from '@tranche/clock'
import type { LeaseWrite, NodeLocks, WatchedCluster } from '@tranche/cluster'
import { heldText, type LockWanted, type NodeLock } from '@tranche/drain'
import { describe, expect, it } from 'vitest'
import type { Check, CheckTarget } from '../src/check.ts'
import { createLockCheck } from '../src/lock-check.ts'

const signal = new AbortController().signal
const MINUTE = 60_000
const own = { namespace: 'demo', name: 'agent', uid: 'u1' }
const permit = { node: 'a', podUid: 'p1', podResourceVersion: '7' }
const permitted = { node: 'a', purpose: 'permit' } as const
const deletion = { node: 'a', purpose: 'deletion' } as const

interface World {
  readonly clock: FakeClock
  readonly check: Check
  readonly calls: string[]
  readonly wanted: LockWanted[]
  locks: NodeLock[]
  answer: LeaseWrite
  isSynced: boolean
  /** Version that the watch of BatchReleases has reached. */
  position: string
  isReady: boolean
  /** Pods of the DaemonSet on node a. */
  pods: { readonly uid: string; readonly ready: boolean }[]
  known: CheckTarget['release'] | undefined
  isControlling: boolean
  /** Whether Leases can be given back. */
  isFreed: boolean
  /** Namespace of the mark on node a; null without one. */
  cordoned: string | null
}

function aWorld(given: { readonly trusted?: readonly string[]; readonly isAllowed?: boolean } = {}): World {
  const clock = new FakeClock()
  const world: Omit<World, 'check'> = {
    ...{ clock, calls: [], wanted: [], locks: [], answer: { kind: 'done' }, isSynced: true, position: '50', isReady: true },
    ...{ pods: [{ uid: 'p1', ready: true }], known: aTarget().release, isControlling: true, isFreed: true, cordoned: null },
  }
  const locks: NodeLocks = {
    namespace: 'leases',
    start: () => {},
    isSynced: () => world.isSynced,
    get: (node) => world.locks.find((lock) => lock.node === node) ?? null,
    list: (uid) => world.locks.filter(({ release }) => release !== null && (uid === undefined || release.uid === uid)),
    async write(wanted) {
      world.calls.push(`write ${wanted.node}`)
      world.wanted.push(wanted)
      return world.answer
    },
    async free({ node, resourceVersion }) {
      world.calls.push(`free ${node} ${resourceVersion}`)
      return world.isFreed
    },
    subscribe: () => {},
  }
  const cluster = {
    nodes: {
      store: {
        get: () => ({ name: 'a', uid: 'n1', ready: world.isReady }),
        byIndex: () => (world.cordoned === null ? [] : [{ name: 'a', cordonMark: markOf(world.cordoned) }]),
      },
    },
    batchReleases: { positionOf: () => world.position },
    overlay: {
      batchReleases: { get: () => world.known },
      daemonSets: { get: () => (world.isControlling ? controlled : undefined) },
    },
    fleet: { view: () => ({ nodes: [{ name: 'a', desired: true, pods: world.pods }] }) },
  } as unknown as WatchedCluster
  const { trusted = ['demo'], isAllowed = true } = given
  const check = createLockCheck({ cluster, clock, locks: isAllowed ? locks : undefined, trusted, watched: undefined })
  return Object.assign(world, { check })
}

const controlled = {
  metadata: {
    namespace: 'demo',
    name: 'agent',
    annotations: { 'batchrelease.rollouts.kruise.io/control-info': controlInfo() },
  },
}

function controlInfo(): string {
  return JSON.stringify({ apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', name: own.name, uid: own.uid, controller: true })
}

function aTarget(nodeLock: string | undefined = 'Take', permits: readonly object[] = [permit]): CheckTarget {
  return {
    daemonSet: { metadata: { namespace: 'demo', name: 'agent' } },
    release: {
      metadata: { ...own, resourceVersion: '40' },
      spec: { workloadRef: { name: 'agent' }, tranche: { downtime: { nodeLock } } },
      status: { flight: { permits } },
    },
  } as unknown as CheckTarget
}

/** A Lease that was renewed a moment ago, of the release and for its permit. */
function aLock({ clock }: World, fields: Partial<NodeLock> = {}): NodeLock {
  const nowMs = clock.nowMs()
  return {
    ...{ node: 'a', uid: 'l1', resourceVersion: '9', holder: 'tranche/demo/agent/u1', release: own, transitions: 0 },
    ...{ permit: { podUid: 'p1', podResourceVersion: '7', seenAt: '40' }, acquiredMs: nowMs, renewedMs: nowMs, durationMs: 10 * MINUTE },
    ...fields,
  }
}

function markOf(namespace: string): string {
  return JSON.stringify({ ...own, namespace, ...permit, cordoned: true })
}

const foreign = { holder: 'node-maintenance', release: null, permit: null } as const

describe('a node whose Lease is free', () => {
  it('may get a permit, without a request', async () => {
    const world = aWorld()
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
    expect(world.calls).toEqual([])
  })

  it('is taken for its newest permit before a deletion', async () => {
    const world = aWorld()
    const target = aTarget('Take', [{ ...permit, podResourceVersion: '3' }, permit])
    expect(await world.check.check(target, deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.wanted).toMatchObject([{ node: 'a', nodeUid: 'n1', locked: { release: own, permit, seenAt: '40' } }])
  })

  it('is taken under a rule of a newer version, which this one does not know', async () => {
    const world = aWorld()
    await world.check.check(aTarget('TakeAndTell'), deletion, signal)
    expect(world.calls).toEqual(['write a'])
  })

  it('waits a moment if its permit has gone', async () => {
    const world = aWorld()
    expect(await world.check.check(aTarget('Take', []), deletion, signal)).toEqual({ kind: 'pending', againInMs: 1_000 })
    expect(world.calls).toEqual([])
  })

  it('waits a moment if another process has just written it', async () => {
    const world = aWorld()
    world.answer = { kind: 'changed' }
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'pending', againInMs: 1_000 })
  })

  it('is blocked with the words of the API server, and gets no permit for a minute', async () => {
    const world = aWorld()
    world.answer = { kind: 'rejected', message: 'namespaces "leases" not found' }
    const found = await world.check.check(aTarget(), deletion, signal)
    expect(found).toMatchObject({
      kind: 'blocked',
      reason: 'NodeLockFailed',
      message: expect.stringContaining('"leases" not found') as string,
    })
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual(found)
    world.clock.advance(MINUTE)
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
  })
})

describe('a node whose Lease is held', () => {
  it('by another program gets no permit, and is asked again every 15 seconds', async () => {
    const world = aWorld()
    const lock = aLock(world, foreign)
    world.locks = [lock]
    const want = { kind: 'blocked', reason: 'NodeLocked', message: heldText(lock), againInMs: 15_000 }
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual(want)
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual(want)
    expect(world.calls).toEqual([])
  })

  it('by another release that may still need it gets no permit', async () => {
    const world = aWorld()
    Object.assign(world, { locks: [aLock(world, { release: { ...own, uid: 'u2' } })], position: '39' })
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'blocked', reason: 'NodeLocked' })
    expect(world.calls).toEqual([])
  })

  it('by an earlier release of the name, which is gone, gets a permit once that Lease is given back', async () => {
    const world = aWorld()
    world.locks = [aLock(world, { release: { ...own, uid: 'u2' } })]
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual({ kind: 'ready', for: 'permit' })
    expect(world.calls).toEqual(['free a 9'])
  })

  it('by an earlier release of the name gets no permit while that Lease cannot be given back', async () => {
    const world = aWorld()
    Object.assign(world, { locks: [aLock(world, { release: { ...own, uid: 'u2' } })], isFreed: false })
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'blocked', reason: 'NodeLocked' })
  })

  it('by a holder of another namespace with the uid of the release gets no permit, and its Lease is left to it', async () => {
    const world = aWorld()
    world.locks = [aLock(world, { release: { ...own, namespace: 'other' } })]
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'blocked', reason: 'NodeLocked' })
    expect(await world.check.check(aTarget(), deletion, signal)).toMatchObject({ kind: 'blocked', reason: 'NodeLocked' })
    await world.check.undo(aTarget('Ignore'), 'a', signal)
    expect(world.calls).toEqual([])
  })

  it('by the release for this permit is ready, without a request', async () => {
    const world = aWorld()
    world.locks = [aLock(world)]
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.calls).toEqual([])
  })

  it('by the release for an earlier permit is marked for this one', async () => {
    const world = aWorld()
    world.locks = [aLock(world, { permit: { podUid: 'p1', podResourceVersion: '6', seenAt: '30' } })]
    expect(await world.check.check(aTarget(), deletion, signal)).toEqual({ kind: 'ready', for: 'deletion' })
    expect(world.calls).toEqual(['write a'])
  })

  it('by the release is renewed before a deletion once half of its time is over', async () => {
    const world = aWorld()
    world.locks = [aLock(world, { acquiredMs: 0 })]
    world.clock.advance(5 * MINUTE)
    await world.check.check(aTarget(), deletion, signal)
    expect(world.calls).toEqual(['write a'])
  })

  it.each<[sentence: string, drain: object | undefined, forMs: number, says: string]>([
    ['after an hour', undefined, 60 * MINUTE, 'within 1h00m'],
    ['after an hour and the time limit of a drain', { timeout: '2h' }, 180 * MINUTE, 'within 3h00m'],
    ['after an hour and the usual time limit of a drain', {}, 70 * MINUTE, 'within 1h10m'],
  ])('by the release is given up for a moment if the pod could not be deleted %s', async (_sentence, drain, forMs, says) => {
    const world = aWorld()
    const ask = (resourceVersion = permit.podResourceVersion): ReturnType<Check['check']> => {
      const { release, ...target } = aTarget('Take', [{ ...permit, podResourceVersion: resourceVersion }])
      const tranche = { ...release.spec.tranche, ...(drain !== undefined && { drain }) } as typeof release.spec.tranche
      world.locks = [aLock(world, { permit: { podUid: 'p1', podResourceVersion: resourceVersion, seenAt: '40' } })]
      return world.check.check({ ...target, release: { ...release, spec: { ...release.spec, tranche } } }, deletion, signal)
    }
    const ready = { kind: 'ready', for: 'deletion' }
    for (let askedMs = 0; askedMs < forMs; askedMs += MINUTE) {
      expect(await ask()).toEqual(ready)
      world.clock.advance(MINUTE - 1)
      expect(await ask()).toEqual(ready)
      world.clock.advance(1)
    }
    expect(await ask()).toMatchObject({
      ...{ kind: 'blocked', reason: 'DeletionRefused', againInMs: 5 * MINUTE },
      message: expect.stringContaining(says),
    })
    expect(await ask()).toEqual(ready)
    world.clock.advance(forMs)
    expect(await ask('8')).toEqual(ready)
  })

  it('is no matter where the policy ignores it, or the node is prepared ahead', async () => {
    const world = aWorld()
    world.locks = [aLock(world, foreign)]
    expect(await world.check.check(aTarget('Ignore'), deletion, signal)).toBeNull()
    expect(await world.check.check(aTarget(), { node: 'a', purpose: 'ahead' }, signal)).toBeNull()
    expect(world.check.rules(aTarget('Ignore'))).toBeUndefined()
  })
})

describe('where the installation does not allow it', () => {
  it.each([
    ['for the namespace', { trusted: ['other'] }],
    ['at all', { isAllowed: false }],
  ])('%s, the node keeps its pod', async (_name, given) => {
    const found = await aWorld(given).check.check(aTarget(), permitted, signal)
    expect(found).toMatchObject({
      kind: 'blocked',
      reason: 'NodeLockNotAllowed',
      message: expect.stringContaining('namespace demo') as string,
    })
  })

  it('to read Leases, the node waits for a moment and is blocked then', async () => {
    const world = aWorld()
    world.isSynced = false
    expect(await world.check.check(aTarget(), permitted, signal)).toEqual({ kind: 'pending', againInMs: 1_000 })
    world.clock.advance(30_000)
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'blocked', reason: 'NodeLockFailed' })
    world.isSynced = true
    expect(await world.check.check(aTarget(), permitted, signal)).toMatchObject({ kind: 'ready' })
  })
})

describe('a Lease of the release', () => {
  it('is due to be renewed after half of its time', () => {
    const world = aWorld()
    world.locks = [aLock(world)]
    const [preparation] = world.check.preparations(aTarget())
    expect(preparation).toMatchObject({ node: 'a', isLast: true, isAhead: false, renewAtMs: world.clock.monotonicMs() + 5 * MINUTE })
  })

  it('is not renewed on a node that is NotReady', async () => {
    const world = aWorld()
    world.locks = [aLock(world)]
    world.isReady = false
    expect(world.check.preparations(aTarget())).toMatchObject([{ renewAtMs: null }])
    await world.check.renew?.(aTarget(), 'a', signal)
    expect(world.calls).toEqual([])
  })

  it('is renewed for the permit that it has', async () => {
    const world = aWorld()
    world.locks = [aLock(world)]
    await world.check.renew?.(aTarget(), 'a', signal)
    expect(world.wanted).toMatchObject([{ locked: { permit: { podUid: 'p1' }, seenAt: '40' } }])
  })

  it('reports a renewal that the API server rejects, so that it is logged and tried again', async () => {
    const world = aWorld()
    world.locks = [aLock(world)]
    world.answer = { kind: 'rejected', message: 'leases is forbidden' }
    await expect(world.check.renew?.(aTarget(), 'a', signal)).rejects.toThrow(
      'the Lease of the node cannot be renewed: leases is forbidden',
    )
    world.answer = { kind: 'changed' }
    await world.check.renew?.(aTarget(), 'a', signal)
  })

  it('is stale where the policy no longer asks for it', () => {
    const world = aWorld()
    world.locks = [aLock(world)]
    expect(world.check.preparations(aTarget('Ignore'))).toMatchObject([{ isStale: true, renewAtMs: null }])
  })

  it.each<[string, (world: World) => void, boolean]>([
    ['is given back once its permit has left the record', (world) => (world.known = aTarget('Take', []).release), true],
    ['is given back once the new pod is Ready', (world) => (world.pods = [{ uid: 'p2', ready: true }]), true],
    ['is kept while the new pod is not Ready', (world) => (world.pods = [{ uid: 'p2', ready: false }]), false],
    ['is kept while its pod is still there', () => {}, false],
    [
      'is kept by a process whose watch has not reached its permit',
      (world) => Object.assign(world, { known: aTarget('Take', []).release, position: '39' }),
      false,
    ],
    [
      'is given back if another BatchRelease has the name',
      (world) => (world.known = { ...aTarget().release, metadata: { ...aTarget().release.metadata, uid: 'u2' } }),
      true,
    ],
    ['is given back without a mark', (world) => (world.locks = [aLock(world, { permit: null })]), true],
  ])('%s', async (_name, change, isFreed) => {
    const world = aWorld()
    world.locks = [aLock(world)]
    change(world)
    await world.check.undo(aTarget(), 'a', signal)
    expect(world.calls).toEqual(isFreed ? ['free a 9'] : [])
  })

  it('is given back at once where the policy no longer asks for it', async () => {
    const world = aWorld()
    world.locks = [aLock(world)]
    await world.check.undo(aTarget('Ignore'), 'a', signal)
    expect(world.calls).toEqual(['free a 9'])
  })
})

describe('the sweep', () => {
  it.each<[string, (world: World) => void, boolean]>([
    ['keeps the Lease of a release that controls its DaemonSet', (world) => (world.known = aTarget('Take', []).release), false],
    ['frees that of a release that is gone', (world) => (world.known = undefined), true],
    [
      'frees that of a release without a DaemonSet, once its permit is gone',
      (world) => Object.assign(world, { isControlling: false, known: aTarget('Take', []).release }),
      true,
    ],
    ['keeps that of a release without a DaemonSet as long as it may be in use', (world) => (world.isControlling = false), false],
    [
      'frees that of a release without a DaemonSet once no process renews it',
      (world) => {
        world.isControlling = false
        world.clock.advance(6 * MINUTE)
      },
      true,
    ],
    [
      'keeps it while the node is cordoned for the release',
      (world) => Object.assign(world, { known: undefined, cordoned: own.namespace }),
      false,
    ],
    [
      'frees it while the node has a mark with the uid of the release and another namespace',
      (world) => Object.assign(world, { known: undefined, cordoned: 'other' }),
      true,
    ],
    ['keeps one that it may know too little of', (world) => Object.assign(world, { known: undefined, position: '39' }), false],
    ['keeps that of another program', (world) => Object.assign(world, { known: undefined, locks: [aLock(world, foreign)] }), false],
  ])('%s', async (_name, change, isFreed) => {
    const world = aWorld()
    world.locks = [aLock(world)]
    change(world)
    await world.check.sweep(signal)
    expect(world.calls).toEqual(isFreed ? ['free a 9'] : [])
  })
})
