import { Buffer } from 'node:buffer'
import { isForbidden, isNotFound, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'

/** Facts about one webhook configuration. */
export interface WebhookSign {
  /** `MutatingWebhookConfiguration tranche` */
  readonly name: string
  /** PEM of the authorities that each webhook trusts; empty: none. */
  readonly bundles: readonly string[]
  /** DNS names by which the API server reaches the webhooks. */
  readonly names: readonly string[]
  /** Secret with the certificate, `namespace/name`; null if the configuration names none. */
  readonly secret: string | null
  readonly certificate: SecretCertificate
}

/** Content of that Secret; `unseen` if there is none named, or it may not be read. */
export type SecretCertificate =
  /** PEM; empty if the Secret has none. */
  { readonly kind: 'found'; readonly cert: string } | { readonly kind: 'missing' } | { readonly kind: 'unseen' }

/** Annotation with the Secret of the certificate. */
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

/** @param options filter of the configurations, and the abort signal */
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

/** Keeps only the certificate of the Secret. */
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
