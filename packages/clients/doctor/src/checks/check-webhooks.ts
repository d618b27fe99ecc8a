import type { DoctorFinding } from '@tranche/api-schema'
import { certificatesIn, EXPIRES_SOON_MS, goodUntilMs, whyDistrusted } from '@tranche/certificates'
import type { ClusterSigns } from '../signs/cluster-signs.ts'
import { isDenied } from '../signs/guarded-reads.ts'
import type { WebhookSign } from '../signs/webhook-signs.ts'
import { notLookedAt } from './not-looked-at.ts'

const FIX =
  'Look for "failed to maintain the webhook certificate" in the log of the leading controller; if cert-manager issues it, check cert-manager and its CA injector.'

/** Checks the Tranche webhooks and their certificate; no finding if there are none. Pure. */
export function webhookFindings({ webhooks, nowMs }: Pick<ClusterSigns, 'webhooks' | 'nowMs'>): readonly DoctorFinding[] {
  if (isDenied(webhooks)) return [notLookedAt('webhook', webhooks)]
  if (webhooks.length === 0) return []
  const problem = webhooks.map((sign) => problemOf(sign, nowMs)).find((text) => text !== null)
  if (problem !== undefined) return [{ check: 'webhook', state: 'problem', message: problem, fix: FIX }]
  if (webhooks.length === 1)
    return [
      {
        check: 'webhook',
        state: 'problem',
        message: `only one webhook configuration exists, ${webhooks[0]!.name}, not a mutating and a validating one`,
        fix: 'Restore the other one with helm upgrade and the values of the installation.',
      },
    ]
  const [{ secret, certificate }] = webhooks as [WebhookSign]
  if (certificate.kind === 'unseen' && certificate.why !== null) return [notLookedAt('webhook', certificate.why)]
  if (certificate.kind !== 'found')
    return [{ check: 'webhook', state: 'unknown', message: 'the webhooks do not name the Secret with their certificate' }]
  const endMs = goodUntilMs(certificate)
  const message = `the API server trusts the certificate in the Secret ${secret}, which is valid until ${new Date(endMs).toISOString()}`
  return endMs - nowMs < EXPIRES_SOON_MS
    ? [{ check: 'webhook', state: 'note', message: `${message}: it should have been renewed`, fix: FIX }]
    : [{ check: 'webhook', state: 'ok', message }]
}

function problemOf({ name, bundles, names, secret, certificate }: WebhookSign, nowMs: number): string | null {
  if (bundles.some((bundle) => bundle.trim() === '')) return `${name} trusts no certificate authority (caBundle is empty)`
  const isOver = (bundle: string): boolean => certificatesIn(bundle).every(({ validTo }) => Date.parse(validTo) <= nowMs)
  if (bundles.some(isOver)) return `${name} trusts only expired certificate authorities (caBundle)`
  if (certificate.kind === 'unseen') return null
  if (certificate.kind === 'missing') return `there is no Secret ${secret}, for the certificate of the webhook`
  if (certificate.cert === '') return `the Secret ${secret} has no certificate of the webhook (tls.crt)`
  const why = bundles.map((authorities) => whyDistrusted(certificate.cert, { authorities, names, nowMs })).find((text) => text !== null)
  return why === undefined ? null : `${name} does not trust the certificate in the Secret ${secret}: ${why}`
}
