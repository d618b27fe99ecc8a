import { Buffer } from 'node:buffer'
import { isForbidden, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
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
      try {
        const { data } = await client.get<Secret>(resourcePaths.secrets, { namespace, name }, { signal })
        const value = data?.[key]
        if (value === undefined) return missing(`the Secret ${name} has no key ${key}; add it, or name another key`)
        return { kind: 'found', value: Buffer.from(value, 'base64').toString('utf8') }
      } catch (error) {
        if (isNotFound(error)) return missing(`there is no Secret ${name} in namespace ${namespace}; create it`)
        if (isForbidden(error))
          return missing(`the Secret ${name} may not be read; let the controller get secrets in namespace ${namespace}`)
        throw error
      }
    },
  }
}

function missing(message: string): { readonly kind: 'missing'; readonly message: string } {
  return { kind: 'missing', message }
}
