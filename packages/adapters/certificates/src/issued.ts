import type { Certificate } from './certificate.ts'

/** Server certificate, and the authority that signed it and nothing else. */
export interface IssuedCertificate extends Certificate {
  /** PEM of the authority to trust. */
  readonly authority: string
}

/** Subject and validity of a new certificate. */
export interface CertificateOrder {
  /** DNS names or addresses of the server; at least one. */
  readonly names: readonly string[]
  readonly nowMs: number
  /** Validity from now, in milliseconds; below 0 the certificate has already expired. */
  readonly lastsMs: number
}

/**
 * Creates a new authority and a server certificate signed by it. The authority's key is not kept, so no other certificate can ever be
 * signed by that authority.
 */
export async function issueCertificate(order: CertificateOrder): Promise<IssuedCertificate> {
  // Loaded on demand: it costs memory that a process with certificate files does not need.
  const { issue } = await import('./issue-certificate.ts')
  return issue(order)
}
