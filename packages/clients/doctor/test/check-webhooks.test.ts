import { issueCertificate } from '@tranche/certificates'
import { describe, expect, it } from 'vitest'
import { webhookFindings } from '../src/checks/check-webhooks.ts'
import type { WebhookSign } from '../src/signs/webhook-signs.ts'

const DAY_MS = 24 * 3_600_000
const nowMs = Date.UTC(2026, 10, 22)
const name = 'tranche-webhook.tranche-system.svc'
const good = await issue()
const other = await issue()

describe('the webhook finding of doctor', () => {
  it('is empty without webhooks', () => expect(webhookFindings({ webhooks: [], nowMs })).toEqual([]))

  it('is the expiry of their certificate', () => {
    expect(findings()).toEqual([
      {
        check: 'webhook',
        state: 'ok',
        message:
          'the API server trusts the certificate in the Secret tranche-system/tranche-webhook, which is valid until 2027-02-20T00:00:00.000Z',
      },
    ])
  })

  it.each<[string, Partial<WebhookSign>, number, string]>([
    [
      'no certificate authority is trusted',
      { bundles: [good.authority, ''] },
      nowMs,
      'ValidatingWebhookConfiguration tranche trusts no certificate authority (caBundle is empty)',
    ],
    [
      'another certificate authority is trusted',
      { bundles: [other.authority] },
      nowMs,
      'does not trust the certificate in the Secret tranche-system/tranche-webhook: no trusted authority signed it',
    ],
    ['what is trusted has expired', {}, nowMs + 91 * DAY_MS, 'trusts only expired certificate authorities'],
    ['there is no Secret', { certificate: { kind: 'missing' } }, nowMs, 'there is no Secret tranche-system/tranche-webhook'],
    [
      'the Secret is empty',
      { certificate: { kind: 'found', cert: '' } },
      nowMs,
      'the Secret tranche-system/tranche-webhook has no certificate of the webhook (tls.crt)',
    ],
    ['the certificate is none', { certificate: { kind: 'found', cert: 'none' } }, nowMs, 'it cannot be read'],
    ['the Service has another name', { names: ['webhook.other.svc'] }, nowMs, 'it is not for webhook.other.svc'],
  ])('is a problem if %s', (_what, fields, atMs, says) => {
    const [finding, ...others] = findings(fields, atMs)
    expect([finding?.state, finding?.message, others]).toEqual(['problem', expect.stringContaining(says), []])
    expect(finding?.fix).toContain('failed to maintain the webhook certificate')
  })

  it('is a problem if one of the two configurations is missing', () => {
    expect(webhookFindings({ webhooks: [sign('Mutating')], nowMs })).toMatchObject([
      {
        state: 'problem',
        message: 'only one webhook configuration exists, MutatingWebhookConfiguration tranche, not a mutating and a validating one',
      },
    ])
  })

  it('is a note if the certificate should have been renewed', () => {
    expect(findings({}, nowMs + 85 * DAY_MS)).toMatchObject([
      { state: 'note', message: expect.stringContaining('it should have been renewed') as string },
    ])
  })

  it('is unknown without the right to read the Secret, or the webhooks', () => {
    const right = { verb: 'get', group: '', resource: 'secrets', name: 'tranche-webhook', namespace: 'tranche-system' }
    const finding = { check: 'webhook', state: 'unknown', message: 'you may not get secrets tranche-webhook in tranche-system' }
    const why = { who: 'you', denied: right }
    expect(findings({ certificate: { kind: 'unseen', why } })).toEqual([finding])
    expect(webhookFindings({ webhooks: why, nowMs })).toEqual([finding])
  })

  it('is unknown if the webhooks name no Secret', () => {
    expect(findings({ secret: null, certificate: { kind: 'unseen', why: null } })).toMatchObject([
      { state: 'unknown', message: 'the webhooks do not name the Secret with their certificate' },
    ])
  })
})

function findings(fields: Partial<WebhookSign> = {}, atMs = nowMs) {
  return webhookFindings({
    webhooks: [sign('Mutating'), { ...sign('Validating'), ...fields }].map((one) => ({ ...one, ...ofSecret(fields) })),
    nowMs: atMs,
  })
}

/** Both look at the same Secret. */
function ofSecret({ certificate }: Partial<WebhookSign>): Partial<WebhookSign> {
  return certificate === undefined ? {} : { certificate }
}

function sign(kind: string): WebhookSign {
  const secret = 'tranche-system/tranche-webhook'
  return {
    name: `${kind}WebhookConfiguration tranche`,
    bundles: [good.authority],
    names: [name],
    secret,
    certificate: { kind: 'found', cert: good.cert },
  }
}

function issue() {
  return issueCertificate({ names: [name], nowMs, lastsMs: 90 * DAY_MS })
}
