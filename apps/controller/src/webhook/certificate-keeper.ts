import { type Certificate, issueCertificate, LASTS_MS, planRotation, rotated, type RotationPlan } from '@tranche/certificates'
import type { Clock, Timer } from '@tranche/clock'
import type { Logger } from '@tranche/log'
import type { CertificatePort, ReadCertificates, TrustingConfiguration } from './certificate-port.ts'

/** What keeping certificates needs. */
export interface CertificateKeeperOptions {
  readonly port: CertificatePort
  readonly clock: Clock
  readonly log: Logger
  /** For logs: `tranche-system/tranche-webhook`. */
  readonly secret: string
  /** By which names the server is reached. */
  readonly names: readonly string[]
  /** Who writes; the others only serve what is kept. */
  readonly isLeading: () => boolean
  /** Told of every certificate that is to be served. */
  readonly onCertificate: (certificate: Certificate) => void
}

/** While there is something to do, and at rest; milliseconds. */
const SOON_MS = 1_000
const AT_REST_MS = 15_000

/**
 * Looks at once, and then every so often.
 *
 * @returns what ends it
 */
export function keepCertificates(options: CertificateKeeperOptions): () => void {
  const { clock, log, secret } = options
  const look = createCertificateLook(options)
  const ending = new AbortController()
  let timer: Timer | undefined
  let complaint = ''

  const run = async (): Promise<void> => {
    let inMs = SOON_MS
    try {
      // What a write leaves to be done is done at once.
      do inMs = await look(ending.signal)
      while (inMs === 0 && !ending.signal.aborted)
      if (complaint !== '') log.info({ secret }, 'keeps the certificate of the webhook again')
      complaint = ''
    } catch (error) {
      if (ending.signal.aborted) return
      // What is missing, or may not be read, stays so until somebody acts: it is said once.
      const { message } = error as Error
      if (message !== complaint) log.error({ err: error, secret }, 'cannot keep the certificate of the webhook')
      complaint = message
    }
    if (!ending.signal.aborted) timer = clock.setTimer(inMs, () => void run())
  }
  void run()
  return () => {
    ending.abort(new Error('the webhook stops'))
    timer?.cancel()
  }
}

/**
 * Makes one look at the certificates: it serves what is kept, and makes at most one write where it leads.
 *
 * @returns a function that resolves with how soon the next look is due, in milliseconds; it rejects where something cannot be
 * read or written, or is missing
 */
export function createCertificateLook(options: CertificateKeeperOptions): (signal: AbortSignal) => Promise<number> {
  const { port, clock, names, secret } = options
  let trusted: Trusted | null = null
  let served = ''
  return async (signal) => {
    const read = await port.read(signal)
    if (read === null) throw new Error(`there is no Secret ${secret}`)
    const { kept } = read
    if (kept.served !== null && kept.served.cert !== served) {
      options.onCertificate(kept.served)
      served = kept.served.cert
    }
    if (!options.isLeading()) return served === '' ? SOON_MS : AT_REST_MS
    const places = await port.readTrusting(signal)
    trusted = trustedBy(places, kept.authorities, trusted, clock)
    const plan = planRotation({
      ...{ kept, names, nowMs: clock.nowMs() },
      trusted: new Map(places.map(({ name, bundles }) => [name, bundles])),
      trustedForMs: trusted === null ? 0 : clock.monotonicMs() - trusted.sinceMs,
    })
    await carryOut(options, plan, { read, places, signal })
    if (plan.kind !== 'wait') return 0
    if (places.length < CONFIGURATIONS) throw new Error('a configuration of our webhooks is missing')
    return kept.next === null ? AT_REST_MS : SOON_MS
  }
}

/** @returns what everybody trusts by now; null where somebody trusts others */
function trustedBy(places: readonly TrustingConfiguration[], authorities: string, before: Trusted | null, clock: Clock): Trusted | null {
  if (!places.every(({ bundles }) => bundles.every((bundle) => bundle.trim() === authorities.trim()))) return null
  return before?.authorities === authorities ? before : { authorities, sinceMs: clock.monotonicMs() }
}

/** What everybody trusts, and since when that is known; monotonic milliseconds. */
interface Trusted {
  readonly authorities: string
  readonly sinceMs: number
}

/** A mutating one and a validating one. */
const CONFIGURATIONS = 2

interface Look {
  readonly read: ReadCertificates
  readonly places: readonly TrustingConfiguration[]
  readonly signal: AbortSignal
}

async function carryOut(
  { port, clock, log, names, secret }: CertificateKeeperOptions,
  plan: RotationPlan,
  { read, places, signal }: Look,
): Promise<void> {
  const issue = () => issueCertificate({ names, nowMs: clock.nowMs(), lastsMs: LASTS_MS })
  switch (plan.kind) {
    case 'begin':
      await port.keep(read, rotated(read.kept, 'begin', await issue()), signal)
      return log.info({ secret, why: plan.why }, 'made a certificate for the webhook')
    case 'prepare':
      await port.keep(read, rotated(read.kept, 'prepare', await issue()), signal)
      return log.info({ secret }, 'made the next certificate for the webhook')
    case 'trust':
      await port.trust(places.find(({ name }) => name === plan.where)!, read.kept.authorities, signal)
      return log.info({ name: plan.where }, 'let the API server trust the certificate of the webhook')
    case 'promote':
      await port.keep(read, rotated(read.kept, 'promote'), signal)
      return log.info({ secret }, 'renewed the certificate of the webhook')
    case 'wait':
  }
}
