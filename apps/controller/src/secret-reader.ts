import { Buffer } from 'node:buffer'
import { isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import type { SecretReader } from '@tranche/outgoing'

/** A Secret, as far as we read it; values in base64. */
interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** Reads one Secret from the API server each time; nothing of it is kept or logged. */
export function createSecretReader(client: KubeClient): SecretReader {
  return {
    async read({ namespace, name, key }, signal) {
      const secret = await getSecret(client, { namespace, name }, signal)
      if (secret === null) return { kind: 'missing', message: `there is no Secret ${name} in namespace ${namespace}; create it` }
      const value = secret.data?.[key]
      if (value === undefined) return { kind: 'missing', message: `the Secret ${name} has no key ${key}; add it, or name another key` }
      return { kind: 'found', value: Buffer.from(value, 'base64').toString('utf8') }
    },
  }
}

async function getSecret(
  client: KubeClient,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Secret | null> {
  try {
    return await client.get<Secret>(resourcePaths.secrets, key, { signal })
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
