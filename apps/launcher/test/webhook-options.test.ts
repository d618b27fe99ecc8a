import { describe, expect, it } from 'vitest'
import { toWebhookOptions } from '../src/options/webhook-options.ts'

const own = { webhookSecret: 'tranche-system/tranche-webhook', webhookService: 'tranche-system/tranche-webhook' }
const files = { webhookCertFile: 'tls.crt', webhookKeyFile: 'tls.key' }

describe('options of the webhook', () => {
  it('select an own certificate for a Service, and name the configurations that trust it', () => {
    const key = { namespace: 'tranche-system', name: 'tranche-webhook' }
    expect(toWebhookOptions('webhook', { ...own, webhookHost: '0.0.0.0' })).toEqual({
      listen: { host: '0.0.0.0', port: 9443 },
      certificate: { kind: 'own', secret: key, service: key, configuration: 'tranche' },
    })
  })

  it('accept certificate files', () => {
    expect(toWebhookOptions('webhook', { ...files, webhookPort: '0' })).toEqual({
      listen: { host: '127.0.0.1', port: 0 },
      certificate: { kind: 'files', files: { certFile: 'tls.crt', keyFile: 'tls.key' } },
    })
  })

  it('are absent without the webhook', () => expect(toWebhookOptions('policy', {})).toBeNull())

  it.each<[string, string, object, string]>([
    ['an unused option', 'none', { webhookPort: '1' }, '--webhook-port requires --admission webhook'],
    ['half of a pair', 'webhook', { webhookCertFile: 'a' }, '--webhook-cert-file requires --webhook-key-file'],
    ['the other half of a pair', 'webhook', { webhookKeyFile: 'a' }, '--webhook-key-file requires --webhook-cert-file'],
    ['no certificate', 'webhook', {}, '--admission webhook requires a certificate'],
    ['a certificate without a Service', 'webhook', { webhookSecret: 'a/b' }, '--webhook-secret requires --webhook-service'],
    ['two certificates', 'webhook', { ...own, ...files }, '--webhook-secret cannot be combined with --webhook-cert-file'],
    ['a Secret of no namespace', 'webhook', { ...own, webhookSecret: 'a' }, '--webhook-secret does not take "a"'],
    ['no name', 'webhook', { ...own, webhookConfiguration: 'A_B' }, '--webhook-configuration does not take "A_B"'],
    ['no port', 'webhook', { ...own, webhookPort: '70000' }, '--webhook-port does not take "70000"'],
  ])('refuse %s', (_what, admission, values, says) => {
    expect(() => toWebhookOptions(admission, values as Record<string, unknown>)).toThrow(says)
  })
})
