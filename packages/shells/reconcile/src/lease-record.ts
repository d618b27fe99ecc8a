import { type Lease, microTime, MOST_LEASE_TRANSITIONS } from '@tranche/kube-types'

/** @see coordination.k8s.io/v1 LeaseSpec */
export type LeaseSpec = NonNullable<Lease['spec']>

/** Writer and time of a Lease. */
export interface LeaseHolder {
  readonly identity: string
  readonly leaseDurationMs: number
  /** Wall time in epoch milliseconds. Written for people to read; no decision uses it. */
  readonly nowMs: number
}

/**
 * @param before the current Lease; null if there is none
 * @returns the spec with which `holder` takes or keeps the Lease
 */
export function heldSpec(before: Lease | null, holder: LeaseHolder): LeaseSpec {
  const spec = before?.spec
  const renewTime = renewTimeUnlike(spec?.renewTime, holder.nowMs)
  const keeps = spec?.holderIdentity === holder.identity
  const transitions = spec?.leaseTransitions ?? 0
  return {
    holderIdentity: holder.identity,
    leaseDurationSeconds: Math.ceil(holder.leaseDurationMs / 1000),
    acquireTime: keeps ? (spec.acquireTime ?? renewTime) : renewTime,
    renewTime,
    leaseTransitions: keeps || before === null ? transitions : Math.min(transitions + 1, MOST_LEASE_TRANSITIONS),
  }
}

/** @returns the spec of a Lease without a holder, so that the next candidate need not wait */
export function releasedSpec(before: Lease, nowMs: number): LeaseSpec {
  const renewTime = renewTimeUnlike(before.spec?.renewTime, nowMs)
  return {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: renewTime,
    renewTime,
    leaseTransitions: before.spec?.leaseTransitions ?? 0,
  }
}

/** @returns the holder of the Lease; null if there is none */
export function holderOf(lease: Lease): string | null {
  const identity = lease.spec?.holderIdentity ?? ''
  return identity === '' ? null : identity
}

/**
 * A write that changes nothing keeps the `resourceVersion`, and other candidates would see no renewal. A wall clock that was set back could
 * repeat a renewTime, so one millisecond is added.
 */
function renewTimeUnlike(before: string | undefined, nowMs: number): string {
  const renewTime = microTime(nowMs)
  return renewTime === before ? microTime(nowMs + 1) : renewTime
}
