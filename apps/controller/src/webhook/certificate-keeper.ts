import { type Certificate, issueCertificate, LASTS_MS, planRotation, rotated, type RotationPlan } from '@tranche/certificates'
import type { Clock, Timer } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import type { CertificatePort, ReadCertificates, TrustingConfiguration } from './certificate-port.ts'

/** Options of {@link keepCertificates}. */
export interface CertificateKeeperOptions {
  readonly port: CertificatePort
  readonly clock: Clock
  readonly log: Logger
  /** `namespace/name` of the Secret, for logs: `tranche-system/tranche-webhook`. */
  readonly secret: string
  /** DNS names of the server. */
  readonly names: readonly string[]
  /** Only the leader writes; other replicas serve the stored certificate. */
  readonly isLeading: () => boolean
  /** Called with every certificate to serve. */
  readonly onCertificate: (certificate: Certificate) => void
}

/** Check intervals during a rotation and otherwise, in milliseconds. */
const SOON_MS = 1_000
const AT_REST_MS = 15_000

/**
 * Checks the certificates at once and then periodically.
 *
 * @returns stop function
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
      // Continues at once after a write, until nothing is left to do.
      do inMs = await look(ending.signal)
      while (inMs === 0 && !ending.signal.aborted)
      if (complaint !== '') log.info({ secret }, 'resumed maintaining the webhook certificate')
      complaint = ''
    } catch (error) {
      if (ending.signal.aborted) return
      // Missing objects or rights persist until a user acts: the error is logged once.
      const { message } = error as Error
      if (message !== complaint) log.error({ err: error, secret }, 'failed to maintain the webhook certificate')
      complaint = message
    }
    if (!ending.signal.aborted) timer = clock.setTimer(inMs, () => void run())
  }
  void run()
  return () => {
    ending.abort(new Error('the webhook is stopping'))
    timer?.cancel()
  }
}

/**
 * Creates a function that checks the certificates once: it serves the stored certificate and, as leader, makes at most one write.
 *
 * @returns a function that resolves with the delay until the next check, in milliseconds; it rejects if an object is missing or
 * inaccessible
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
    if (places.length < CONFIGURATIONS) throw new Error('the MutatingWebhookConfiguration or ValidatingWebhookConfiguration is missing')
    return kept.next === null ? AT_REST_MS : SOON_MS
  }
}

/** @returns the authorities if all webhooks trust exactly these; otherwise null */
function trustedBy(places: readonly TrustingConfiguration[], authorities: string, before: Trusted | null, clock: Clock): Trusted | null {
  if (!places.every(({ bundles }) => bundles.every((bundle) => bundle.trim() === authorities.trim()))) return null
  return before?.authorities === authorities ? before : { authorities, sinceMs: clock.monotonicMs() }
}

/** Authorities that all webhooks trust, and the monotonic time since when, in milliseconds. */
interface Trusted {
  readonly authorities: string
  readonly sinceMs: number
}

/** Number of webhook configurations: one mutating, one validating. */
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
      return log.info({ secret, why: plan.why }, 'created webhook certificate')
    case 'prepare':
      await port.keep(read, rotated(read.kept, 'prepare', await issue()), signal)
      return log.info({ secret }, 'created next webhook certificate')
    case 'trust':
      await port.trust(places.find(({ name }) => name === plan.where)!, read.kept.authorities, signal)
      return log.info({ name: plan.where }, 'updated caBundle for the webhook certificate')
    case 'promote':
      await port.keep(read, rotated(read.kept, 'promote'), signal)
      return log.info({ secret }, 'renewed webhook certificate')
    case 'wait':
  }
}
