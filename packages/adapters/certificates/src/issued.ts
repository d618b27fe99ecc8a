import type { Certificate } from './certificate.ts'

/** A certificate of a server, and the authority that has signed it and nothing else. */
export interface IssuedCertificate extends Certificate {
  /** PEM of the authority, which is to be trusted. */
  readonly authority: string
}

/** For whom, and when. */
export interface CertificateOrder {
  /** DNS names, or addresses, by which the server is reached; at least one. */
  readonly names: readonly string[]
  readonly nowMs: number
  /** From now; below 0 it has expired already. */
  readonly lastsMs: number
}

/**
 * Makes an authority and, signed by it, a certificate of a server; both new at each call. The key of the authority is not kept: what it
 * has signed is all that it will ever have signed, so that nobody can make another certificate that is trusted.
 */
export async function issueCertificate(order: CertificateOrder): Promise<IssuedCertificate> {
  // Loaded where one is made: it costs memory that a process with files need not spend.
  const { issue } = await import('./issue-certificate.ts')
  return issue(order)
}
