import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Clock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'

/** Certificate and private key, as PEM. */
export interface Certificate {
  /** The certificate, followed by its chain. */
  readonly cert: string
  readonly key: string
}

/** Remaining validity below which a warning is logged, in milliseconds. */
export const EXPIRES_SOON_MS = 7 * 24 * 3_600_000

/** Age of a certificate relative to its expiry. */
export type CertificateAge = 'fresh' | 'expires soon' | 'has expired'

/** @returns the expiry in epoch milliseconds @throws if the text is not a certificate */
export function goodUntilMs({ cert }: Pick<Certificate, 'cert'>): number {
  return Date.parse(new X509Certificate(cert).validTo)
}

/**
 * Logs once that a certificate expires soon, and once that it has expired.
 *
 * @param of owner of the certificate, such as `the REST API`
 * @param before return value of the previous call; `fresh` at first
 */
export function sayAge(
  certificate: Certificate,
  { of, before }: { readonly of: string; readonly before: CertificateAge },
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): CertificateAge {
  const { validTo } = new X509Certificate(certificate.cert)
  const leftMs = Date.parse(validTo) - clock.nowMs()
  const age = leftMs <= 0 ? 'has expired' : leftMs < EXPIRES_SOON_MS ? 'expires soon' : 'fresh'
  if (age === before || age === 'fresh') return age
  if (age === 'has expired') log.error({ validTo, server: of }, 'certificate has expired')
  else log.warn({ validTo, server: of }, 'certificate expires soon')
  return age
}

/** What a client checks when it connects. */
export interface Trust {
  /** PEM of the trusted authorities, concatenated. */
  readonly authorities: string
  /** Names that clients use to reach the server. */
  readonly names: readonly string[]
  readonly nowMs: number
}

/** @returns why no client could connect to a server with this certificate; null if it is usable */
export function whyUnusable({ cert, key }: Certificate, { authorities, names, nowMs }: Trust): string | null {
  let leaf: X509Certificate
  try {
    leaf = new X509Certificate(cert)
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'the key belongs to another certificate'
  } catch (error) {
    return `it cannot be read: ${(error as Error).message}`
  }
  return whyDistrusted(leaf, { authorities, names, nowMs })
}

/** @returns why no client would trust this certificate (PEM, or parsed already); null if it is trusted */
export function whyDistrusted(cert: string | X509Certificate, { authorities, names, nowMs }: Trust): string | null {
  let leaf: X509Certificate
  try {
    leaf = typeof cert === 'string' ? new X509Certificate(cert) : cert
  } catch (error) {
    return `it cannot be read: ${(error as Error).message}`
  }
  if (Date.parse(leaf.validTo) <= nowMs) return `it expired on ${new Date(leaf.validTo).toISOString()}`
  if (Date.parse(leaf.validFrom) > nowMs) return `it is not valid before ${new Date(leaf.validFrom).toISOString()}`
  const other = names.find((name) => (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) === undefined)
  if (other !== undefined) return `it is not for ${other}`
  const signed = certificatesIn(authorities).filter((authority) => isSignedBy(leaf, authority))
  if (signed.length === 0) return 'no trusted authority signed it'
  return signed.some((authority) => Date.parse(authority.validTo) > nowMs) ? null : 'its authority has expired'
}

/** @returns the certificates in a PEM text, without those that cannot be read */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const texts = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  return texts.flatMap((text) => {
    try {
      return [new X509Certificate(text)]
    } catch {
      return []
    }
  })
}

/** @returns the authorities that signed a certificate, as PEM */
export function authoritiesOf({ cert }: Pick<Certificate, 'cert'>, authorities: string): string {
  const leaf = new X509Certificate(cert)
  return certificatesIn(authorities)
    .filter((authority) => isSignedBy(leaf, authority))
    .map((authority) => `${authority.toString().trim()}\n`)
    .join('')
}

/** Also true if the certificate itself is among the authorities. */
function isSignedBy(leaf: X509Certificate, authority: X509Certificate): boolean {
  return leaf.fingerprint256 === authority.fingerprint256 || (leaf.checkIssued(authority) && leaf.verify(authority.publicKey))
}
