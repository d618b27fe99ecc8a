import type { ReleasePolicy } from '@tranche/api-schema'
import type { EgressClient, SecretReader } from '@tranche/egress'
import { type Advice, hostAdvice, policyReferences, secretAdvice, type SecretReference } from '@tranche/validation'
import { readOrMissing } from './secret-reader.ts'

/** What a policy is held against. */
export interface Installation {
  readonly egress: Pick<EgressClient, 'allows'>
  readonly secrets: SecretReader
}

/**
 * Looks whether everything that a policy names can be used here: each Secret is read, each host held against those that are
 * allowed. Nobody is asked, and nothing of a value is told.
 *
 * @param policy one whose fields have the types they should
 * @returns what cannot be used, in the order of the policy: Secrets, then hosts
 * @throws the signal's reason once it aborts, and nothing else
 */
export async function examinePolicy(policy: ReleasePolicy, installation: Installation, signal: AbortSignal): Promise<readonly Advice[]> {
  const { secrets, urls } = policyReferences(policy)
  const found: Advice[] = []
  for (const reference of secrets) found.push(...(await examineSecret(reference, policy, { ...installation, signal })))
  const refused = urls.filter(({ url }) => URL.canParse(url) && !installation.egress.allows(url))
  return [...found, ...refused.map(({ path, url }) => hostAdvice(path, url, url))]
}

interface Examining extends Installation {
  readonly signal: AbortSignal
}

async function examineSecret(
  reference: SecretReference,
  { metadata }: ReleasePolicy,
  { egress, secrets, signal }: Examining,
): Promise<readonly Advice[]> {
  const { name, key } = reference.secret
  const answer = await readOrMissing(secrets, { namespace: metadata.namespace ?? '', name, key }, signal)
  if (answer.kind === 'missing') return [secretAdvice(reference, answer)]
  const value = answer.value.trim()
  if (value === '')
    return [secretAdvice(reference, { message: `the key ${key} of the Secret ${name} is empty`, fix: 'write a value into it' })]
  if (!reference.isUrl) return []
  // What is no address may be any secret, of which nothing may be told, not even what looks like its host.
  if (!/^https?:\/\/\S+$/i.test(value) || !URL.canParse(value))
    return [secretAdvice(reference, { message: `the key ${key} of the Secret ${name} holds no URL`, fix: 'write https:// and the rest' })]
  return egress.allows(value) ? [] : [hostAdvice(reference.path, reference.secret, value)]
}
