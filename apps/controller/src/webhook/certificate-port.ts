import { Buffer } from 'node:buffer'
import type { Certificate, KeptCertificates } from '@tranche/certificates'
import { isNotFound, type JsonPatchOperation, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject, ObjectKey } from '@tranche/kube-types'
import { patchOrConflict } from '../ports/patch-or-conflict.ts'

/** The Secret with our certificates, as read. */
export interface ReadCertificates {
  readonly kept: KeptCertificates
  readonly secret: KubeObject
}

/** A webhook configuration with the caBundles of its webhooks. */
export interface TrustingConfiguration {
  /** `MutatingWebhookConfiguration tranche` */
  readonly name: string
  /** PEM caBundle of each webhook; empty if it has none. */
  readonly bundles: readonly string[]
  readonly configuration: WebhookConfiguration
  readonly resource: ResourcePath
}

/** Reads and writes certificates; each write has the version that was read as precondition. */
export interface CertificatePort {
  /** @returns null if the Secret does not exist */
  read(signal: AbortSignal): Promise<ReadCertificates | null>
  /** @returns the existing webhook configurations, at most two */
  readTrusting(signal: AbortSignal): Promise<readonly TrustingConfiguration[]>
  /** @throws {AppError} WRITE_CONFLICT if the Secret has changed since it was read */
  keep(read: ReadCertificates, kept: KeptCertificates, signal: AbortSignal): Promise<void>
  /** @throws {AppError} WRITE_CONFLICT if the configuration has changed since it was read */
  trust(configuration: TrustingConfiguration, authorities: string, signal: AbortSignal): Promise<void>
}

/** Names of the Secret with the certificates and of the webhook configurations. */
export interface CertificatePlaces {
  readonly secret: ObjectKey
  /** Common name of the mutating and the validating webhook configuration. */
  readonly configuration: string
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly caBundle?: string } }[]
}

const validating: ResourcePath = { ...resourcePaths.mutatingWebhookConfigurations, plural: 'validatingwebhookconfigurations' }
const configurations = [
  ['MutatingWebhookConfiguration', resourcePaths.mutatingWebhookConfigurations],
  ['ValidatingWebhookConfiguration', validating],
] as const

/** Keys of the Secret. */
const keys = { cert: 'tls.crt', key: 'tls.key', authorities: 'ca.crt', nextCert: 'next.crt', nextKey: 'next.key' }

/** Implements the certificate port with the API server. */
export function createCertificatePort(client: KubeClient, { secret, configuration }: CertificatePlaces): CertificatePort {
  return {
    async read(signal) {
      const found = await orNull(client.get<Secret>(resourcePaths.secrets, secret, { signal }))
      return found && { secret: { metadata: found.metadata }, kept: keptIn(found.data ?? {}) }
    },
    async readTrusting(signal) {
      const read = configurations.map(async ([kind, resource]) => {
        const found = await orNull(client.get<WebhookConfiguration>(resource, { namespace: '', name: configuration }, { signal }))
        if (found === null) return []
        const bundles = (found.webhooks ?? []).map(({ clientConfig }) => textOf(clientConfig?.caBundle))
        return [{ name: `${kind} ${configuration}`, bundles, configuration: found, resource }]
      })
      return (await Promise.all(read)).flat()
    },
    async keep({ secret: found }, kept, signal) {
      await patchOrConflict(client, resourcePaths.secrets, found, [asRead(found), { op: 'add', path: '/data', value: dataOf(kept) }], {
        signal,
      })
    },
    async trust({ configuration: found, resource }, authorities, signal) {
      const caBundle = base64(authorities)
      const webhooks = found.webhooks ?? []
      const patch = webhooks.flatMap(({ name }, index): JsonPatchOperation[] => [
        { op: 'test', path: `/webhooks/${index}/name`, value: name },
        { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
      ])
      await patchOrConflict(client, resource, found, [asRead(found), ...patch], { signal })
    },
  }
}

function asRead({ metadata }: KubeObject): JsonPatchOperation {
  return { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion }
}

function keptIn(data: Readonly<Record<string, string>>): KeptCertificates {
  return {
    served: pairIn(data, keys.cert, keys.key),
    next: pairIn(data, keys.nextCert, keys.nextKey),
    authorities: textOf(data[keys.authorities]),
  }
}

function pairIn(data: Readonly<Record<string, string>>, cert: string, key: string): Certificate | null {
  const pair = { cert: textOf(data[cert]), key: textOf(data[key]) }
  return pair.cert === '' || pair.key === '' ? null : pair
}

function dataOf({ served, next, authorities }: KeptCertificates): Readonly<Record<string, string>> {
  return {
    [keys.authorities]: base64(authorities),
    ...(served && { [keys.cert]: base64(served.cert), [keys.key]: base64(served.key) }),
    ...(next && { [keys.nextCert]: base64(next.cert), [keys.nextKey]: base64(next.key) }),
  }
}

function textOf(value: string | undefined): string {
  return Buffer.from(value ?? '', 'base64').toString('utf8')
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

async function orNull<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
