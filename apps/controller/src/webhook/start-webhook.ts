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
import type { Logger } from '@tranche/log'
import type { Metrics } from '@tranche/metrics'
import type { Exchange } from '@tranche/wire'
import { keepCertificates } from './certificate-keeper.ts'
import { createCertificatePort } from './certificate-port.ts'
import { createWebhookHandler } from './webhook-handler.ts'
import { openWebhookServer, type WebhookListen } from './webhook-server.ts'

/** Where the certificate of the webhooks comes from. */
export type WebhookCertificate =
  /** Somebody else makes and renews it, and says to the API server whom to trust. */
  | { readonly kind: 'files'; readonly files: CertificateFiles }
  /** We do, as the leader. */
  | {
      readonly kind: 'own'
      /** Where it is kept; the Secret exists. */
      readonly secret: ObjectKey
      /** By which the API server reaches us. */
      readonly service: ObjectKey
      /** Name of the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration that are to trust it. */
      readonly configuration: string
      readonly isLeading: () => boolean
    }

/** What the webhooks are given. */
export interface WebhookOptions {
  readonly exchange: Exchange
  readonly clock: Clock
  readonly log: Logger
  readonly identity: string
  readonly listen: WebhookListen
  readonly certificate: WebhookCertificate
  readonly metrics?: Metrics
  readonly seed?: number
  /** A version to name in the user agent. @default 0.1.0 */
  readonly version?: string
}

/** A server that runs until it is stopped. */
export interface RunningWebhook {
  readonly url: string
  /** Resolves when there is a certificate to serve. */
  readonly ready: Promise<void>
  /** Resolves at the end. */
  readonly stopped: Promise<void>
  /** Takes no more reviews, lets those under way end, then ends. */
  stop(): Promise<void>
}

const owner = { of: 'the webhook', options: { cert: '--webhook-cert-file', key: '--webhook-key-file' } }
/** How often the end of the certificate is looked at, in milliseconds. */
const AGE_EVERY_MS = 60_000

/**
 * Serves our webhooks. Every process does, whether it leads or not: what they decide needs nothing that a process knows.
 *
 * @throws {AppError} PORT_IN_USE; OPTION_INVALID where the files cannot be used
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

/** Logs once that the certificate expires soon, and once that it has: whoever renews it cannot, then. */
function watchAge({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
  let timer: Timer | undefined
  const look = (certificate: Certificate, before: CertificateAge = 'fresh'): void => {
    timer?.cancel()
    const age = sayAge(certificate, { of: owner.of, before }, { clock, log })
    timer = clock.setTimer(AGE_EVERY_MS, () => look(certificate, age))
  }
  return { look, end: () => timer?.cancel() }
}
