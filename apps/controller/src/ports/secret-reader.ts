import { Buffer } from 'node:buffer'
import { isForbidden, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, POLICY_SECRET, POLICY_SECRET_LABEL } from '@tranche/kube-types'
import type { SecretAnswer, SecretReader, SecretRef } from '@tranche/egress'
import { type SecretLack, secretLackText } from '@tranche/validation'

/** Fields of a Secret that are read; values in base64. */
interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/**
 * Reads one Secret from the API server each time; nothing is cached or logged. A Secret without the policy label is refused without
 * revealing its keys: a user that may write policies does not have to be allowed to read Secrets.
 */
export function createSecretReader(client: KubeClient): SecretReader {
  return {
    async read(ref, signal) {
      const { namespace, name, key } = ref
      try {
        const { metadata, data } = await client.get<Secret>(resourcePaths.secrets, { namespace, name }, { signal })
        if (metadata.labels?.[POLICY_SECRET_LABEL] !== POLICY_SECRET) return lacking('label', ref)
        const value = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined
        return value === undefined ? lacking('key', ref) : { kind: 'found', value: Buffer.from(value, 'base64').toString('utf8') }
      } catch (error) {
        if (isNotFound(error)) return lacking('secret', ref)
        if (!isForbidden(error)) throw error
        return {
          kind: 'missing',
          message: `the controller may not read the Secret ${name}`,
          fix: `allow the controller to get secrets in namespace ${namespace}`,
        }
      }
    },
  }
}

function lacking(lack: SecretLack, ref: SecretRef): SecretAnswer {
  return { kind: 'missing', ...secretLackText(lack, ref, ref.namespace) }
}

/**
 * Reads a Secret; an error of the API server counts as a missing Secret.
 *
 * @throws only the signal's reason once it aborts
 */
export async function readOrMissing(secrets: SecretReader, ref: SecretRef, signal: AbortSignal): Promise<SecretAnswer> {
  try {
    return await secrets.read(ref, signal)
  } catch {
    signal.throwIfAborted()
    // The error may quote the response, so its message is not repeated.
    const message = `the Secret ${ref.name} in namespace ${ref.namespace} cannot be read: the API server did not answer`
    return { kind: 'missing', message, fix: 'it is retried automatically' }
  }
}
