import { Buffer } from 'node:buffer'
import type { Certificate, KeptCertificates } from '@tranche/certificates'
import { isNotFound, type JsonPatchOperation, type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject, ObjectKey } from '@tranche/kube-types'
import { patchOrConflict } from '../patch-or-conflict.ts'

/** A Secret with our certificates, as it was read. */
export interface ReadCertificates {
  readonly kept: KeptCertificates
  readonly secret: KubeObject
}

/** A configuration of webhooks, and what its webhooks trust. */
export interface TrustingConfiguration {
  /** `MutatingWebhookConfiguration tranche` */
  readonly name: string
  /** PEM of each of its webhooks; empty where it trusts nobody. */
  readonly bundles: readonly string[]
  readonly configuration: WebhookConfiguration
  readonly resource: ResourcePath
}

/** What is read and written to keep certificates, each write against what was read. */
export interface CertificatePort {
  /** @returns null where there is no such Secret */
  read(signal: AbortSignal): Promise<ReadCertificates | null>
  /** @returns those that exist */
  readTrusting(signal: AbortSignal): Promise<readonly TrustingConfiguration[]>
  /** @throws {AppError} WRITE_CONFLICT where the Secret changed since it was read */
  keep(read: ReadCertificates, kept: KeptCertificates, signal: AbortSignal): Promise<void>
  /** @throws {AppError} WRITE_CONFLICT where the configuration changed since it was read */
  trust(configuration: TrustingConfiguration, authorities: string, signal: AbortSignal): Promise<void>
}

/** Where certificates are kept, and who has to trust them. */
export interface CertificatePlaces {
  readonly secret: ObjectKey
  /** Name of the two configurations of webhooks. */
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

/** Certificates in a Secret, and the configurations that trust them, at the API server. */
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
