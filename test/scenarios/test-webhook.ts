import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AdmissionWebhook, admissionWebhooks } from '@tranche/admission'
import { issueCertificate } from '@tranche/certificates'
import { systemClock } from '@tranche/clock'
import { startWebhook } from '@tranche/controller'
import { silentLogger } from '@tranche/log'
import type { Metrics } from '@tranche/metrics'
import type { Exchange } from '@tranche/wire'

/** Where webhooks listen, and whom to trust there. */
export interface WebhookAddress {
  /** `https://127.0.0.1:9443` */
  readonly url: string
  /** PEM; empty: nobody is named. */
  readonly authority: string
}

/** Our webhooks, served by this process. */
export interface TestWebhook extends WebhookAddress {
  end(): Promise<void>
}

/** The API server reaches this machine there: the one on which it runs itself, unless told otherwise. */
const HOST = process.env['TRANCHE_TEST_WEBHOOK_HOST'] ?? '127.0.0.1'
const DAY_MS = 24 * 3_600_000

/** Serves our webhooks with a certificate out of files. @param lastsMs below 0 it has expired */
export async function startTestWebhook(exchange: Exchange, lastsMs = DAY_MS, metrics?: Metrics): Promise<TestWebhook> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-webhook-'))
  const { authority, cert, key } = await issueCertificate({ names: [HOST], nowMs: systemClock.nowMs(), lastsMs })
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
  writeFileSync(files.certFile, cert)
  writeFileSync(files.keyFile, key)
  const running = await startWebhook({
    ...{ exchange, clock: systemClock, log: silentLogger, identity: 'webhook-1' },
    listen: { host: HOST, port: 0 },
    certificate: { kind: 'files', files },
    ...(metrics && { metrics }),
  })
  return {
    url: running.url,
    authority,
    async end() {
      await running.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Both configurations, for one namespace. @param fields of each webhook, over those that it has */
export function webhookConfigurations(namespace: string, { url, authority }: WebhookAddress, fields: object = {}) {
  const caBundle = authority === '' ? {} : { caBundle: Buffer.from(authority).toString('base64') }
  return (['Mutating', 'Validating'] as const).map((kind) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: namespace },
    webhooks: admissionWebhooks.filter((webhook) => webhook.kind === kind).map(complete),
  }))

  function complete({ name, webhook }: AdmissionWebhook): object {
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
    return { ...webhook, namespaceSelector, clientConfig: { url: `${url}/${name}`, ...caBundle }, ...fields }
  }
}
