import type { Lease } from '@tranche/kube-types'

/** @see coordination.k8s.io/v1 LeaseSpec */
export type LeaseSpec = NonNullable<Lease['spec']>

/** Who writes a Lease, and when. */
export interface LeaseHolder {
  readonly identity: string
  readonly leaseDurationMs: number
  /** Wall time, epoch milliseconds. Written for people to read; nobody decides by it. */
  readonly nowMs: number
}

/**
 * @param before the Lease as it stands; null when there is none
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
    leaseTransitions: keeps || before === null ? transitions : transitions + 1,
  }
}

/** @returns the spec of a Lease that nobody holds, so that the next candidate need not wait */
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

/** @returns who holds the Lease; null when nobody does */
export function holderOf(lease: Lease): string | null {
  const identity = lease.spec?.holderIdentity ?? ''
  return identity === '' ? null : identity
}

/**
 * A write that changes nothing keeps the `resourceVersion`, and others would take the Lease for not renewed. A wall clock
 * that was set back could repeat a renewTime, hence the extra millisecond.
 */
function renewTimeUnlike(before: string | undefined, nowMs: number): string {
  const renewTime = microTime(nowMs)
  return renewTime === before ? microTime(nowMs + 1) : renewTime
}

/** The API server reads a MicroTime with exactly six digits of the second. @see meta/v1 MicroTime */
function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z')
}
