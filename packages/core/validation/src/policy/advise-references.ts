import type { ReleasePolicy } from '@tranche/api-schema'
import { POLICY_SECRET, POLICY_SECRET_LABEL } from '@tranche/kube-types'
import type { Advice } from '../problems/problem.ts'
import { hostAdvice, policyReferences, secretAdvice, type SecretLack, secretLackText } from './policy-references.ts'

/** The parts of a Secret among the checked documents that policies depend on. */
export interface WrittenSecret {
  readonly namespace: string | undefined
  readonly name: string
  readonly keys: ReadonlySet<string>
  /** Whether it has the label that allows policies to use it. */
  readonly hasPolicyLabel: boolean
}

/** Reads anything that claims to be a Secret and drops fields of a wrong type. Never throws. */
export function toWrittenSecret(value: unknown): WrittenSecret {
  const { metadata, data, stringData } = membersOf(value)
  const { namespace, name, labels } = membersOf(metadata)
  return {
    namespace: typeof namespace === 'string' ? namespace : undefined,
    name: typeof name === 'string' ? name : '',
    keys: new Set([...Object.keys(membersOf(data)), ...Object.keys(membersOf(stringData))]),
    hasPolicyLabel: membersOf(labels)[POLICY_SECRET_LABEL] === POLICY_SECRET,
  }
}

/** Facts that the references of a policy are checked against without a cluster. */
export interface WrittenSurroundings {
  readonly secrets: readonly WrittenSecret[]
  readonly isAllowed: (url: URL) => boolean
}

/**
 * Advice about Secrets and hosts that a policy names but cannot use. When the documents have no Secrets in its namespace,
 * Secrets are not checked: they may be kept elsewhere.
 */
export function adviseReferences(policy: ReleasePolicy, { secrets, isAllowed }: WrittenSurroundings): readonly Advice[] {
  const { namespace } = policy.metadata
  const references = policyReferences(policy)
  const neighbours = secrets.filter((secret) => (secret.namespace ?? '') === (namespace ?? ''))
  const lacking = references.secrets.flatMap((reference) => {
    const lack = neighbours.length === 0 ? null : lackOf(reference.secret, neighbours)
    return lack === null ? [] : [secretAdvice(reference, secretLackText(lack, reference.secret, namespace))]
  })
  const refused = references.urls.flatMap(({ path, url }) =>
    URL.canParse(url) && !isAllowed(new URL(url)) ? [hostAdvice(path, url, url)] : [],
  )
  return [...lacking, ...refused]
}

function lackOf({ name, key }: { readonly name: string; readonly key: string }, neighbours: readonly WrittenSecret[]): SecretLack | null {
  const secret = neighbours.find((one) => one.name === name)
  if (secret === undefined) return 'secret'
  if (!secret.hasPolicyLabel) return 'label'
  return secret.keys.has(key) ? null : 'key'
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}
}
