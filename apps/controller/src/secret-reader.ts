import { Buffer } from 'node:buffer'
import { isForbidden, isNotFound, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, POLICY_SECRET, POLICY_SECRET_LABEL } from '@tranche/kube-types'
import type { SecretAnswer, SecretReader, SecretRef } from '@tranche/egress'
import { type SecretLack, secretLackText } from '@tranche/validation'

/** A Secret, as far as we read it; values in base64. */
interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/**
 * Reads one Secret from the API server each time; nothing of it is kept or logged. Of one without the label that lends it to
 * policies not even the keys are told: who may write policies need not be allowed to read Secrets.
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
          message: `the Secret ${name} may not be read`,
          fix: `let the controller get secrets in namespace ${namespace}`,
        }
      }
    },
  }
}

function lacking(lack: SecretLack, ref: SecretRef): SecretAnswer {
  return { kind: 'missing', ...secretLackText(lack, ref, ref.namespace) }
}

/**
 * Reads a Secret, and takes no answer for one that is missing.
 *
 * @throws the signal's reason once it aborts, and nothing else
 */
export async function readOrMissing(secrets: SecretReader, ref: SecretRef, signal: AbortSignal): Promise<SecretAnswer> {
  try {
    return await secrets.read(ref, signal)
  } catch {
    signal.throwIfAborted()
    // What was thrown may quote what was answered, so that its words are not repeated.
    const message = `the Secret ${ref.name} in namespace ${ref.namespace} cannot be read: the API server did not answer`
    return { kind: 'missing', message, fix: 'it is tried again by itself' }
  }
}
