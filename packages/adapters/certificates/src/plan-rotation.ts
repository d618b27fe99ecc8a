import { authoritiesOf, type Certificate, goodUntilMs, whyUnusable } from './certificate.ts'
import type { IssuedCertificate } from './issued.ts'

/** Certificates that Tranche issues itself, as stored in the Secret. */
export interface KeptCertificates {
  /** Certificate in use; null if there is none yet. */
  readonly served: Certificate | null
  /** Certificate that is trusted already and served next; null between renewals. */
  readonly next: Certificate | null
  /** PEM of the authorities to trust; empty if there is none. */
  readonly authorities: string
}

/** State that the rotation is decided from. */
export interface RotationView {
  readonly kept: KeptCertificates
  /** Names that clients use to reach the server. */
  readonly names: readonly string[]
  /** Authorities that clients trust, by where that is configured; PEM. */
  readonly trusted: ReadonlyMap<string, readonly string[]>
  /** How long the caller has seen that every client trusts the kept authorities, in milliseconds. */
  readonly trustedForMs: number
  readonly nowMs: number
}

/** Next step of the rotation. */
export type RotationPlan =
  /** No usable certificate: issue a pair and serve it at once. */
  | { readonly kind: 'begin'; readonly why: string }
  /** Issue the pair that is served next, and trust it beside the current one. */
  | { readonly kind: 'prepare' }
  /** Write the authorities to the place where other ones are trusted. */
  | { readonly kind: 'trust'; readonly where: string }
  /** Serve the next pair, which every client trusts by now. */
  | { readonly kind: 'promote' }
  | { readonly kind: 'wait' }

/**
 * Returns the kept certificates after a step.
 *
 * @param issued the pair issued for this step; `promote` needs none
 */
export function rotated(kept: KeptCertificates, kind: 'promote'): KeptCertificates
export function rotated(kept: KeptCertificates, kind: 'begin' | 'prepare', issued: IssuedCertificate): KeptCertificates
export function rotated(
  { served, next, authorities }: KeptCertificates,
  kind: 'begin' | 'prepare' | 'promote',
  issued?: IssuedCertificate,
): KeptCertificates {
  // The previous authority stays trusted until the next renewal: other replicas may serve its certificate for a moment.
  if (issued === undefined || kind === 'promote') return { served: next, next: null, authorities }
  const pair = { cert: issued.cert, key: issued.key }
  if (kind === 'begin') return { served: pair, next: null, authorities: issued.authority }
  return { served, next: pair, authorities: authoritiesOf(served!, authorities) + issued.authority }
}

/** Validity of a certificate, in milliseconds. */
export const LASTS_MS = 90 * 24 * 3_600_000
/** Remaining validity at which a certificate is renewed, in milliseconds. */
export const RENEWED_BEFORE_MS = 30 * 24 * 3_600_000
/** How long a new authority is trusted before its certificate is served, in milliseconds: API servers learn of it gradually. */
export const TRUSTED_FOR_MS = 60_000

/** Decides the next rotation step so that clients can connect at every moment: first trust, then serve. */
export function planRotation({ kept, names, trusted, trustedForMs, nowMs }: RotationView): RotationPlan {
  const { served, next, authorities } = kept
  const fault = (pair: Certificate | null): string | null =>
    pair === null ? 'there is none' : whyUnusable(pair, { authorities, names, nowMs })
  const servedFault = fault(served)
  if (servedFault !== null) return fault(next) === null ? { kind: 'promote' } : { kind: 'begin', why: servedFault }
  const other = [...trusted].find(([, bundles]) => bundles.some((bundle) => bundle.trim() !== authorities.trim()))
  if (other !== undefined) return { kind: 'trust', where: other[0] }
  if (fault(next) === null) return trustedForMs >= TRUSTED_FOR_MS ? { kind: 'promote' } : { kind: 'wait' }
  return goodUntilMs(served!) - nowMs <= RENEWED_BEFORE_MS ? { kind: 'prepare' } : { kind: 'wait' }
}
