import type { Lease } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { heldSpec, holderOf, type LeaseSpec, releasedSpec } from '../src/lease-record.ts'

const nowMs = Date.UTC(2024, 0, 1, 0, 0, 5, 250)
const NOW = '2024-01-01T00:00:05.250000Z'
const LATER = '2024-01-01T00:00:05.251000Z'
const BEFORE = '2024-01-01T00:00:00.000000Z'
const holder = { identity: 'me', leaseDurationMs: 15_000, nowMs }

describe('what a candidate writes', () => {
  it.each<[string, LeaseSpec | null | undefined, LeaseSpec]>([
    ['as the first', null, { acquireTime: NOW, renewTime: NOW, leaseTransitions: 0 }],
    ['into a Lease that is empty', undefined, { acquireTime: NOW, renewTime: NOW, leaseTransitions: 1 }],
    [
      'after another',
      { holderIdentity: 'other', leaseTransitions: 4, renewTime: BEFORE },
      { acquireTime: NOW, renewTime: NOW, leaseTransitions: 5 },
    ],
    [
      'after as many transitions as a Lease can count',
      { holderIdentity: 'other', leaseTransitions: 2_147_483_647, renewTime: BEFORE },
      { acquireTime: NOW, renewTime: NOW, leaseTransitions: 2_147_483_647 },
    ],
    [
      'to keep it',
      { holderIdentity: 'me', leaseTransitions: 4, acquireTime: BEFORE, renewTime: BEFORE },
      { acquireTime: BEFORE, renewTime: NOW, leaseTransitions: 4 },
    ],
    [
      'to keep one that does not say since when',
      { holderIdentity: 'me', renewTime: BEFORE },
      { acquireTime: NOW, renewTime: NOW, leaseTransitions: 0 },
    ],
    [
      'to keep one that was renewed at the same millisecond',
      { holderIdentity: 'me', acquireTime: BEFORE, renewTime: NOW },
      { acquireTime: BEFORE, renewTime: LATER, leaseTransitions: 0 },
    ],
  ])('%s', (_when, spec, want) => {
    expect(heldSpec(leaseOf(spec), holder)).toEqual({ holderIdentity: 'me', leaseDurationSeconds: 15, ...want })
  })

  it('has its lease duration rounded up to whole seconds (E3)', () => {
    const seconds = [1_000, 1_001, 15_500].map((leaseDurationMs) => heldSpec(null, { ...holder, leaseDurationMs }).leaseDurationSeconds)
    expect(seconds).toEqual([1, 2, 16])
  })

  it.each<[string, LeaseSpec, LeaseSpec]>([
    [
      'keeps the number of transitions',
      { holderIdentity: 'me', leaseTransitions: 4, renewTime: BEFORE },
      { acquireTime: NOW, renewTime: NOW, leaseTransitions: 4 },
    ],
    [
      'says none where there were none',
      { holderIdentity: 'me', renewTime: NOW },
      { acquireTime: LATER, renewTime: LATER, leaseTransitions: 0 },
    ],
  ])('to release the Lease %s', (_how, spec, want) => {
    expect(releasedSpec(leaseOf(spec)!, nowMs)).toEqual({ holderIdentity: '', leaseDurationSeconds: 1, ...want })
  })
})

it.each<[LeaseSpec | undefined, string | null]>([
  [{ holderIdentity: 'me' }, 'me'],
  [{ holderIdentity: '' }, null],
  [{}, null],
  [undefined, null],
])('a Lease of %j is held by %s', (spec, want) => {
  expect(holderOf(leaseOf(spec)!)).toBe(want)
})

function leaseOf(spec: LeaseSpec | null | undefined): Lease | null {
  if (spec === null) return null
  return { metadata: { name: 'leader', namespace: 'demo', uid: 'u', resourceVersion: '7' }, ...(spec !== undefined && { spec }) }
}
