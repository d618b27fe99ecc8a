import { Buffer } from 'node:buffer'
import { isNotFound, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { type Denied, type GuardedReads, isDenied, unlessDenied } from './guarded-reads.ts'

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

/** Content of that Secret; `unseen` if there is none named, or a right is missing to read it. */
export type SecretCertificate =
  /** PEM; empty if the Secret has none. */
  | { readonly kind: 'found'; readonly cert: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unseen'; readonly why: Denied | null }

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

/** Reads the webhook configurations that the selector matches, and their certificates. */
export async function readWebhooks(reads: GuardedReads, labelSelector: string): Promise<readonly WebhookSign[]> {
  const lists = configurations.map(async ([kind, resource]) => {
    const { items } = await reads.list<Configuration>(resource, { labelSelector })
    return Promise.all(items.map((item) => toSign(reads, kind, item)))
  })
  return (await Promise.all(lists)).flat()
}

async function toSign(reads: GuardedReads, kind: string, { metadata, webhooks = [] }: Configuration): Promise<WebhookSign> {
  const secret = metadata.annotations?.[SECRET_ANNOTATION] ?? null
  const services = webhooks.flatMap(({ clientConfig }) => clientConfig?.service ?? [])
  return {
    name: `${kind} ${metadata.name}`,
    bundles: webhooks.map(({ clientConfig }) => textOf(clientConfig?.caBundle)),
    names: [...new Set(services.map(({ namespace, name }) => `${name}.${namespace}.svc`))],
    secret,
    certificate: secret === null ? { kind: 'unseen', why: null } : await readCertificate(reads, secret),
  }
}

/** Keeps only the certificate of the Secret. */
async function readCertificate(reads: GuardedReads, secret: string): Promise<SecretCertificate> {
  const [namespace = '', name = ''] = secret.split('/')
  try {
    const found = await unlessDenied(reads.get<SecretObject>(resourcePaths.secrets, { namespace, name }))
    return isDenied(found) ? { kind: 'unseen', why: found } : { kind: 'found', cert: textOf(found.data?.['tls.crt']) }
  } catch (error) {
    if (isNotFound(error)) return { kind: 'missing' }
    throw error
  }
}

interface SecretObject {
  readonly data?: Readonly<Record<string, string>>
}

function textOf(value: string | undefined): string {
  return Buffer.from(value ?? '', 'base64').toString('utf8')
}
