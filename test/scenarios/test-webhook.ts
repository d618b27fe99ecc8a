import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AdmissionWebhook, admissionWebhooks } from '@tranche/admission'
import { issueCertificate } from '@tranche/certificates'
import { systemClock } from '@tranche/clock'
import { startWebhook } from '@tranche/controller'
import { silentLogger } from '@tranche/telemetry'
import type { Metrics } from '@tranche/metrics'
import type { Exchange } from '@tranche/wire'

/** URL of the webhooks, and the authority of their certificate. */
export interface WebhookAddress {
  /** `https://127.0.0.1:9443` */
  readonly url: string
  /** PEM; empty if no authority is named. */
  readonly authority: string
}

/** Tranche's webhooks, served by this process. */
export interface TestWebhook extends WebhookAddress {
  end(): Promise<void>
}

/** Host at which the API server reaches this machine. The default is for an API server on the same machine. */
const HOST = process.env['TRANCHE_TEST_WEBHOOK_HOST'] ?? '127.0.0.1'
const DAY_MS = 24 * 3_600_000

/** Serves Tranche's webhooks with a certificate from files. @param lastsMs validity; negative for an expired certificate */
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

/** Both webhook configurations for one namespace. @param fields overrides of each webhook's fields */
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
