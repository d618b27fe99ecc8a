import {
  type Certificate,
  type CertificateAge,
  type CertificateFiles,
  followCertificate,
  goodUntilMs,
  readCertificate,
  sayAge,
} from '@tranche/certificates'
import type { Clock, Timer } from '@tranche/clock'
import { createKubeClient } from '@tranche/kube-client'
import { fieldManagers, keyText, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { Metrics } from '@tranche/metrics'
import type { Exchange } from '@tranche/wire'
import { keepCertificates } from './certificate-keeper.ts'
import { createCertificatePort } from './certificate-port.ts'
import { createWebhookHandler } from './webhook-handler.ts'
import { openWebhookServer, type WebhookListen } from './webhook-server.ts'

/** Source of the webhook certificate. */
export type WebhookCertificate =
  /** Issued and renewed elsewhere, including the caBundle of the webhook configurations. */
  | { readonly kind: 'files'; readonly files: CertificateFiles }
  /** Issued and renewed by the leading controller. */
  | {
      readonly kind: 'own'
      /** Secret with the certificate; it must exist. */
      readonly secret: ObjectKey
      /** Service through which the API server reaches the webhook. */
      readonly service: ObjectKey
      /** Common name of the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration. */
      readonly configuration: string
      readonly isLeading: () => boolean
    }

/** Options of the webhook server. */
export interface WebhookOptions {
  readonly exchange: Exchange
  readonly clock: Clock
  readonly log: Logger
  readonly identity: string
  readonly listen: WebhookListen
  readonly certificate: WebhookCertificate
  readonly metrics?: Metrics
  readonly seed?: number
  /** Version in the user agent. @default 0.1.0 */
  readonly version?: string
}

/** A running webhook server. */
export interface RunningWebhook {
  readonly url: string
  /** Resolves when it has a certificate to serve. */
  readonly ready: Promise<void>
  /** Resolves after `stop`. */
  readonly stopped: Promise<void>
  /** Shuts down gracefully: refuses new reviews and waits for those in progress. */
  stop(): Promise<void>
}

const owner = { of: 'the webhook', options: { cert: '--webhook-cert-file', key: '--webhook-key-file' } }
/** Interval of the certificate expiry check, in milliseconds. */
const AGE_EVERY_MS = 60_000

/**
 * Serves the admission webhooks on every replica, leading or not: their decisions need no state of the process.
 *
 * @throws {AppError} PORT_IN_USE; OPTION_INVALID if the certificate files are not usable
 */
export async function startWebhook(options: WebhookOptions): Promise<RunningWebhook> {
  const { clock, metrics, seed = 0, version = '0.1.0' } = options
  const log = options.log.child({ program: fieldManagers.controller, identity: options.identity })
  const client = createKubeClient({ exchange: options.exchange, clock, log, seed, userAgent: `${fieldManagers.controller}/${version}` })
  const first = options.certificate.kind === 'files' ? readCertificate(options.certificate.files, owner) : undefined
  const server = await openWebhookServer(options.listen, createWebhookHandler({ client, clock, log, metrics }))
  const ready = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  let current: Certificate | undefined
  const use = (certificate: Certificate): void => {
    server.use(certificate)
    current = certificate
    ready.resolve()
  }
  if (first !== undefined) use(first)
  const forget = follow(options, { client, log, use, first })
  const removeGauge = metrics?.gauge('tranche_webhook_certificate_left_seconds', () =>
    current === undefined ? [] : [{ labels: {}, value: (goodUntilMs(current) - clock.nowMs()) / 1000 }],
  )
  return {
    url: server.url,
    ready: ready.promise,
    stopped: end.promise,
    async stop() {
      forget()
      removeGauge?.()
      await server.close()
      end.resolve()
    },
  }
}

interface Following {
  readonly client: ReturnType<typeof createKubeClient>
  readonly log: Logger
  readonly use: (certificate: Certificate) => void
  readonly first: Certificate | undefined
}

function follow({ certificate, clock }: WebhookOptions, { client, log, use, first }: Following): () => void {
  if (certificate.kind === 'files') {
    return followCertificate(certificate.files, first!, { clock, log, owner, onChange: use })
  }
  const { secret, service, configuration, isLeading } = certificate
  const watching = watchAge({ clock, log })
  const forget = keepCertificates({
    ...{ clock, log, isLeading, secret: keyText(secret) },
    port: createCertificatePort(client, { secret, configuration }),
    names: [`${service.name}.${service.namespace}.svc`],
    onCertificate(next) {
      use(next)
      watching.look(next)
      log.info({ validTo: new Date(goodUntilMs(next)).toISOString() }, 'reloaded certificate')
    },
  })
  return () => {
    watching.end()
    forget()
  }
}

/** Logs once when the certificate expires soon, and once when it has expired: its renewal has failed. */
function watchAge({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
  let timer: Timer | undefined
  const look = (certificate: Certificate, before: CertificateAge = 'fresh'): void => {
    timer?.cancel()
    const age = sayAge(certificate, { of: owner.of, before }, { clock, log })
    timer = clock.setTimer(AGE_EVERY_MS, () => look(certificate, age))
  }
  return { look, end: () => timer?.cancel() }
}
