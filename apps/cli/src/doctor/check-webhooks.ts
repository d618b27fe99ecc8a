import { certificatesIn, EXPIRES_SOON_MS, goodUntilMs, whyDistrusted } from '@tranche/certificates'
import type { ClusterSigns } from './cluster-signs.ts'
import type { DoctorFinding } from './finding.ts'
import type { WebhookSign } from './webhook-signs.ts'

const FIX =
  'Look for "failed to maintain the webhook certificate" in the log of the leading controller, or at cert-manager and its injector where that makes it.'

/** What is to be said of our webhooks: nothing where there are none. Pure. */
export function webhookFindings({ webhooks, nowMs }: Pick<ClusterSigns, 'webhooks' | 'nowMs'>): readonly DoctorFinding[] {
  if (webhooks === 'forbidden' || webhooks.length === 0) return []
  const problem = webhooks.map((sign) => problemOf(sign, nowMs)).find((text) => text !== null)
  if (problem !== undefined) return [{ check: 'webhook', state: 'problem', message: problem, fix: FIX }]
  if (webhooks.length === 1)
    return [
      {
        check: 'webhook',
        state: 'problem',
        message: `there is ${webhooks[0]!.name} alone, of a mutating and a validating one`,
        fix: 'Bring the other one back: helm upgrade, with the values that it was installed with.',
      },
    ]
  const [{ secret, certificate }] = webhooks as [WebhookSign]
  if (certificate.kind !== 'found')
    return [
      { check: 'webhook', state: 'unknown', message: `you may not read the Secret ${secret ?? ''} with the certificate of the webhook` },
    ]
  const endMs = goodUntilMs(certificate)
  const message = `the API server trusts the certificate in the Secret ${secret}, which is good until ${new Date(endMs).toISOString()}`
  return endMs - nowMs < EXPIRES_SOON_MS
    ? [{ check: 'webhook', state: 'note', message: `${message}: it should have been renewed`, fix: FIX }]
    : [{ check: 'webhook', state: 'ok', message }]
}

function problemOf({ name, bundles, names, secret, certificate }: WebhookSign, nowMs: number): string | null {
  if (bundles.some((bundle) => bundle.trim() === '')) return `${name} names nobody to trust (caBundle)`
  const isOver = (bundle: string): boolean => certificatesIn(bundle).every(({ validTo }) => Date.parse(validTo) <= nowMs)
  if (bundles.some(isOver)) return `${name} trusts nothing but authorities that have expired (caBundle)`
  if (certificate.kind === 'unseen') return null
  if (certificate.kind === 'missing') return `there is no Secret ${secret}, in which the certificate of the webhook is kept`
  if (certificate.cert === '') return `the Secret ${secret} has no certificate for the webhook (tls.crt)`
  const why = bundles.map((authorities) => whyDistrusted(certificate.cert, { authorities, names, nowMs })).find((text) => text !== null)
  return why === undefined ? null : `${name} does not take the certificate in the Secret ${secret}: ${why}`
}
