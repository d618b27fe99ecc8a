import { authoritiesOf, type Certificate, goodUntilMs, whyUnusable } from './certificate.ts'
import type { IssuedCertificate } from './issued.ts'

/** What is kept of our own certificates, as the Secret has it. */
export interface KeptCertificates {
  /** What is served; null where there is none yet. */
  readonly served: Certificate | null
  /** What is trusted already and served next; null between renewals. */
  readonly next: Certificate | null
  /** PEM of the authorities to trust; empty where there is none. */
  readonly authorities: string
}

/** What is read to decide. */
export interface RotationView {
  readonly kept: KeptCertificates
  /** By which names the server is reached. */
  readonly names: readonly string[]
  /** What those who connect trust, by where that stands; PEM. */
  readonly trusted: ReadonlyMap<string, readonly string[]>
  /** For how long whoever asks has seen that everybody trusts what is kept, in milliseconds. */
  readonly trustedForMs: number
  readonly nowMs: number
}

/** The next step. */
export type RotationPlan =
  /** Nothing that could be served: make a pair that is served at once. */
  | { readonly kind: 'begin'; readonly why: string }
  /** Make the pair that is served next, and trust it beside the one that is served. */
  | { readonly kind: 'prepare' }
  /** Write the authorities to where somebody trusts others. */
  | { readonly kind: 'trust'; readonly where: string }
  /** Serve what everybody trusts by now. */
  | { readonly kind: 'promote' }
  | { readonly kind: 'wait' }

/**
 * Makes what is kept after a step.
 *
 * @param issued made for this step; `promote` needs none
 */
export function rotated(kept: KeptCertificates, kind: 'promote'): KeptCertificates
export function rotated(kept: KeptCertificates, kind: 'begin' | 'prepare', issued: IssuedCertificate): KeptCertificates
export function rotated(
  { served, next, authorities }: KeptCertificates,
  kind: 'begin' | 'prepare' | 'promote',
  issued?: IssuedCertificate,
): KeptCertificates {
  // The authority of what was served until now stays trusted until the next renewal: others may serve it for a moment.
  if (issued === undefined || kind === 'promote') return { served: next, next: null, authorities }
  const pair = { cert: issued.cert, key: issued.key }
  if (kind === 'begin') return { served: pair, next: null, authorities: issued.authority }
  return { served, next: pair, authorities: authoritiesOf(served!, authorities) + issued.authority }
}

/** How long a certificate lasts, in milliseconds. */
export const LASTS_MS = 90 * 24 * 3_600_000
/** How long before its end it is renewed, in milliseconds. */
export const RENEWED_BEFORE_MS = 30 * 24 * 3_600_000
/** How long a new authority is trusted before something it signed is served, in milliseconds: API servers learn of it by and by. */
export const TRUSTED_FOR_MS = 60_000

/** Decides how certificates get renewed while somebody connects at every moment: first trusted, then served. */
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
