import { heldText, isHeld, isLockedBy, lockBody, type LockWanted, type NodeLock, renewalDueMs, toNodeLock } from '@tranche/drain'
import type { Lease } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')
const MINUTE = 60_000
const release = { namespace: 'demo', name: 'agent', uid: 'u1' }
const locked = { release, permit: { podUid: 'p1', podResourceVersion: '7' }, seenAt: '40' }
const wanted: LockWanted = { node: 'a', nodeUid: 'n1', locked }
const HOLDER = 'tranche/demo/agent/u1'

describe('a Lease', () => {
  it.each<[string, Lease['spec'], boolean]>([
    ['is held until its time is over', spec('other', 0, 60), true],
    ['is held at the last moment of its time', spec('other', -60_000, 60), true],
    ['is free once its time is over', spec('other', -60_001, 60), false],
    ['is free without a time', { holderIdentity: 'other', leaseDurationSeconds: 60 }, false],
    ['is free without a duration', { holderIdentity: 'other', renewTime: at(0) }, false],
    ['is free with a duration of zero', spec('other', 0, 0), false],
    ['is free with a time that is none', { holderIdentity: 'other', leaseDurationSeconds: 60, renewTime: 'soon' }, false],
    ['is held by a program that names no holder', { leaseDurationSeconds: 60, renewTime: at(0) }, true],
    ['is held where the clock of its holder is a little ahead', spec('other', 30_000, 60), true],
    ['is free where its renewal lies further in the future than it lasts', spec('other', 61_000, 60), false],
  ])('%s', (_name, given, held) => {
    expect(isHeld(lockOf(given), NOW_MS)).toBe(held)
  })

  it('with another name is no lock of a node', () => {
    expect(toNodeLock({ ...leaseOf(spec('other', 0, 60)), metadata: { ...leaseOf({}).metadata, name: 'controller' } })).toBeNull()
  })

  it.each([
    ['of another program', 'node-maintenance'],
    ['of another program with a holder of the same form', 'other/demo/agent/u1'],
    ['with a slash too many', `${HOLDER}/x`],
    ['without a uid', 'tranche/demo/agent/'],
  ])('%s is not that of a BatchRelease', (_name, holder) => {
    expect(lockOf(spec(holder, 0, 60))).toMatchObject({ release: null, permit: null })
  })

  it('of another program keeps no mark that a BatchRelease left on it', () => {
    expect(lockOf(spec('node-maintenance', 0, 60), { podUid: 'p1', podResourceVersion: '7', seenAt: '40' }).permit).toBeNull()
  })

  it.each([['no JSON'], ['{}'], ['null'], ['{"podUid":1,"podResourceVersion":"7","seenAt":"40"}']])(
    'of a BatchRelease with the mark %s is for no known permit',
    (mark) => {
      expect(toNodeLock(leaseOf(spec(HOLDER, 0, 60), mark))?.permit).toBeNull()
    },
  )

  it('names at most 128 characters of its holder', () => {
    expect(lockOf(spec('x'.repeat(5_000), 0, 60)).holder).toHaveLength(128)
  })
})

describe('the body that takes a lock', () => {
  it('is a whole Lease where there is none, owned by the node', () => {
    const body = lockBody(null, wanted, NOW_MS)
    expect(body.metadata).toMatchObject({ name: 'node-a', ownerReferences: [{ kind: 'Node', name: 'a', uid: 'n1' }] })
    expect(body.spec).toEqual({
      holderIdentity: HOLDER,
      leaseDurationSeconds: 600,
      acquireTime: at(0),
      renewTime: at(0),
      leaseTransitions: 0,
    })
  })

  it('rests on the version that was read, and counts the transition from another holder', () => {
    const before = { ...lockOf({ ...spec('other', -120_000, 60), leaseTransitions: 3 }), resourceVersion: '12' }
    const body = lockBody(before, wanted, NOW_MS)
    expect(body.metadata).toMatchObject({ resourceVersion: '12' })
    expect(body.spec).toMatchObject({ holderIdentity: HOLDER, acquireTime: at(0), leaseTransitions: 4 })
  })

  it('counts no more transitions than the API server accepts, whatever another program wrote', () => {
    const most = 2_147_483_647
    const before = lockOf({ ...spec('other', -120_000, 60), leaseTransitions: most })
    expect(lockBody(before, wanted, NOW_MS).spec).toMatchObject({ holderIdentity: HOLDER, leaseTransitions: most })
  })

  it('keeps the time of the first permit when a lock moves to the next one', () => {
    const before = lockOf({ ...spec(HOLDER, -MINUTE, 600), acquireTime: at(-5 * MINUTE) })
    expect(lockBody(before, wanted, NOW_MS).spec).toMatchObject({ acquireTime: at(-5 * MINUTE), renewTime: at(0), leaseTransitions: 0 })
  })

  it('begins again where the own lock has expired', () => {
    const before = lockOf({ ...spec(HOLDER, -20 * MINUTE, 600), acquireTime: at(-30 * MINUTE) })
    expect(lockBody(before, wanted, NOW_MS).spec).toMatchObject({ acquireTime: at(0), leaseTransitions: 1 })
  })

  it('is read back as a lock of the permit', () => {
    const body = lockBody(null, wanted, NOW_MS)
    const metadata = { ...leaseOf({}).metadata, ...body.metadata }
    const lock = toNodeLock({ ...leaseOf({}), metadata, spec: body.spec } as Lease)
    expect(lock).toMatchObject({ node: 'a', release, permit: { ...locked.permit, seenAt: '40' } })
    expect(lock !== null && isLockedBy(lock, release, NOW_MS)).toBe(true)
    expect(lock !== null && isLockedBy(lock, { ...release, uid: 'u2' }, NOW_MS)).toBe(false)
    expect(lock !== null && isLockedBy(lock, { ...release, namespace: 'x' }, NOW_MS)).toBe(false)
  })
})

describe('a renewal', () => {
  it('is due after half of the time', () => {
    expect(renewalDueMs(lockOf(spec(HOLDER, 0, 600)))).toBe(NOW_MS + 5 * MINUTE)
  })

  it('is never due once the lock was renewed for an hour', () => {
    const given = spec(HOLDER, 0, 600)
    expect(renewalDueMs(lockOf({ ...given, acquireTime: at(-59 * MINUTE) }))).not.toBeNull()
    expect(renewalDueMs(lockOf({ ...given, acquireTime: at(-60 * MINUTE) }))).toBeNull()
  })
})

it.each([
  ['node-maintenance', 'node-maintenance holds the Lease of the node until 2026-01-01T00:01:00.000Z'],
  ['', 'a program without a name holds the Lease of the node until 2026-01-01T00:01:00.000Z'],
  [HOLDER, 'BatchRelease demo/agent holds the Lease of the node until 2026-01-01T00:01:00.000Z'],
])('the holder "%s" is named with the end of its time', (holder, text) => {
  expect(heldText(lockOf(spec(holder, 0, 60)))).toBe(text)
})

function spec(holderIdentity: string, renewedAfterMs: number, leaseDurationSeconds: number): NonNullable<Lease['spec']> {
  return { holderIdentity, leaseDurationSeconds, acquireTime: at(renewedAfterMs), renewTime: at(renewedAfterMs) }
}

function leaseOf(given: Lease['spec'], mark?: string): Lease {
  const annotations = mark === undefined ? {} : { annotations: { 'tranche.dev/node-lock': mark } }
  const metadata = { namespace: 'leases', name: 'node-a', uid: 'l1', resourceVersion: '5', ...annotations }
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, ...(given !== undefined && { spec: given }) } as Lease
}

function lockOf(given: Lease['spec'], mark?: object): NodeLock {
  const lock = toNodeLock(leaseOf(given, mark === undefined ? undefined : JSON.stringify(mark)))
  if (lock === null) throw new Error('no lock')
  return lock
}

function at(afterMs: number): string {
  return new Date(NOW_MS + afterMs).toISOString().replace('Z', '000Z')
}
