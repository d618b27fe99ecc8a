import { Buffer } from 'node:buffer'
import { isForbidden, isNotFound, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'

/** A configuration of our webhooks as it was read. */
export interface WebhookSign {
  /** `MutatingWebhookConfiguration tranche` */
  readonly name: string
  /** PEM of the authorities that each webhook trusts; empty: none. */
  readonly bundles: readonly string[]
  /** By which names the API server reaches them. */
  readonly names: readonly string[]
  /** Where the certificate is said to be, `namespace/name`; null: it is not said. */
  readonly secret: string | null
  readonly certificate: SecretCertificate
}

/** What was found where the certificate is said to be; `unseen`: it is not said, or may not be read. */
export type SecretCertificate =
  /** PEM; empty where the Secret has none. */
  { readonly kind: 'found'; readonly cert: string } | { readonly kind: 'missing' } | { readonly kind: 'unseen' }

/** Where a configuration says where its certificate is. */
const SECRET_ANNOTATION = 'tranche.dev/webhook-secret'
const configurations: readonly (readonly [string, ResourcePath])[] = [
  ['MutatingWebhookConfiguration', resourcePaths.mutatingWebhookConfigurations],
  ['ValidatingWebhookConfiguration', { ...resourcePaths.mutatingWebhookConfigurations, plural: 'validatingwebhookconfigurations' }],
]

interface Configuration extends KubeObject {
  readonly webhooks?: readonly {
    readonly clientConfig?: { readonly caBundle?: string; readonly service?: { readonly namespace: string; readonly name: string } }
  }[]
}

/** @param options which of them are ours, and until when to look */
export async function readWebhooks(
  client: KubeClient,
  options: { readonly labelSelector: string; readonly signal: AbortSignal },
): Promise<readonly WebhookSign[]> {
  const lists = configurations.map(async ([kind, resource]) => {
    const { items } = await client.list<Configuration>(resource, options)
    return Promise.all(items.map((item) => toSign(client, kind, item, options.signal)))
  })
  return (await Promise.all(lists)).flat()
}

async function toSign(
  client: KubeClient,
  kind: string,
  { metadata, webhooks = [] }: Configuration,
  signal: AbortSignal,
): Promise<WebhookSign> {
  const secret = metadata.annotations?.[SECRET_ANNOTATION] ?? null
  const services = webhooks.flatMap(({ clientConfig }) => clientConfig?.service ?? [])
  return {
    name: `${kind} ${metadata.name}`,
    bundles: webhooks.map(({ clientConfig }) => textOf(clientConfig?.caBundle)),
    names: [...new Set(services.map(({ namespace, name }) => `${name}.${namespace}.svc`))],
    secret,
    certificate: secret === null ? { kind: 'unseen' } : await readCertificate(client, secret, signal),
  }
}

/** Of the Secret, nothing but the certificate is kept. */
async function readCertificate(client: KubeClient, secret: string, signal: AbortSignal): Promise<SecretCertificate> {
  const [namespace = '', name = ''] = secret.split('/')
  try {
    const { data } = await client.get<{ readonly data?: Readonly<Record<string, string>> }>(
      resourcePaths.secrets,
      { namespace, name },
      { signal },
    )
    return { kind: 'found', cert: textOf(data?.['tls.crt']) }
  } catch (error) {
    if (isForbidden(error)) return { kind: 'unseen' }
    if (isNotFound(error)) return { kind: 'missing' }
    throw error
  }
}

function textOf(value: string | undefined): string {
  return Buffer.from(value ?? '', 'base64').toString('utf8')
}
