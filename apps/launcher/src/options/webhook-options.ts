import { invalid, misplaced, parseWhole } from '@tranche/cli'
import type { WebhookCertificate, WebhookOptions } from '@tranche/controller'

/** Listener of the webhooks, and the source of their certificate. */
export interface WebhookProcessOptions {
  readonly listen: WebhookOptions['listen']
  readonly certificate: WebhookCertificateOptions
}

/** {@link WebhookCertificate} without the leadership check, which is known only at start. */
export type WebhookCertificateOptions =
  | Extract<WebhookCertificate, { kind: 'files' }>
  | Omit<Extract<WebhookCertificate, { kind: 'own' }>, 'isLeading'>

type Values = Readonly<Record<string, unknown>>

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/
const names = {
  webhookPort: '--webhook-port',
  webhookHost: '--webhook-host',
  webhookCertFile: '--webhook-cert-file',
  webhookKeyFile: '--webhook-key-file',
  webhookSecret: '--webhook-secret',
  webhookService: '--webhook-service',
  webhookConfiguration: '--webhook-configuration',
} as const

/**
 * Reads the webhook options of `--admission webhook`.
 *
 * @returns null with any other admission
 * @throws {AppError} OPTION_INVALID
 */
export function toWebhookOptions(admission: string, values: Values): WebhookProcessOptions | null {
  const value = (name: keyof typeof names): string | undefined => {
    const given = values[name]
    return typeof given === 'string' ? given : undefined
  }
  if (admission !== 'webhook') {
    for (const [name, option] of Object.entries(names))
      if (values[name] !== undefined) throw misplaced(option, 'requires --admission webhook', 'add --admission webhook, or leave it out')
    return null
  }
  const listen = {
    host: value('webhookHost') ?? '127.0.0.1',
    port: parseWhole('--webhook-port', value('webhookPort') ?? '9443', { min: 0, max: 65_535 }),
  }
  const [certFile, keyFile, secret] = [value('webhookCertFile'), value('webhookKeyFile'), value('webhookSecret')]
  if (certFile !== undefined && keyFile !== undefined) {
    for (const name of ['webhookSecret', 'webhookService', 'webhookConfiguration'] as const)
      if (value(name) !== undefined) throw misplaced(names[name], 'cannot be combined with --webhook-cert-file', 'leave one of them out')
    return { listen, certificate: { kind: 'files', files: { certFile, keyFile } } }
  }
  if (certFile !== undefined) throw misplaced('--webhook-cert-file', 'requires --webhook-key-file', 'give both')
  if (keyFile !== undefined) throw misplaced('--webhook-key-file', 'requires --webhook-cert-file', 'give both')
  if (secret === undefined)
    throw misplaced(
      '--admission webhook',
      'requires a certificate',
      'add --webhook-secret NAMESPACE/NAME, in which one is created and renewed, or --webhook-cert-file and --webhook-key-file',
    )
  const service = value('webhookService')
  if (service === undefined)
    throw misplaced(
      '--webhook-secret',
      'requires --webhook-service',
      'add --webhook-service NAMESPACE/NAME: the certificate is issued for it',
    )
  const configuration = value('webhookConfiguration') ?? 'tranche'
  if (!NAME.test(configuration)) throw invalid('--webhook-configuration', configuration, 'give the name of the webhook configurations')
  return {
    listen,
    certificate: { kind: 'own', secret: key('--webhook-secret', secret), service: key('--webhook-service', service), configuration },
  }
}

function key(option: string, value: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = '', ...others] = value.split('/')
  if (others.length > 0 || !NAME.test(namespace) || !NAME.test(name))
    throw invalid(option, value, 'give NAMESPACE/NAME, such as tranche-system/tranche-webhook')
  return { namespace, name }
}
