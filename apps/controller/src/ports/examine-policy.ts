import type { ReleasePolicy } from '@tranche/api-schema'
import type { PodPolicy } from '@tranche/controllers'
import type { EgressClient, SecretReader } from '@tranche/egress'
import { isListedNamespace } from '@tranche/kube-types'
import {
  type Advice,
  downtimeAdvice,
  drainAdvice,
  groupAdvice,
  hostAdvice,
  nodeLockAdvice,
  pinAdvice,
  podPolicyAdvice,
  policyReferences,
  prePullAdvice,
  roomAdvice,
  secretAdvice,
  type SecretReference,
} from '@tranche/validation'
import { readOrMissing } from './secret-reader.ts'

/** Settings of the installation that a policy is checked against. */
export interface Installation {
  readonly egress: Pick<EgressClient, 'allows'>
  readonly secrets: SecretReader
  /** Whether policies may name groups. */
  readonly allowsGroups: boolean
  /** Whether policies may check that nodes have room. */
  readonly allowsRoom: boolean
  /** Whether executors may create helper pods. */
  readonly allowsPrePull: boolean
  /** Namespaces whose policies may drain nodes, `*` for all; undefined if that is not known. */
  readonly drainNamespaces: readonly string[] | undefined
  /** Namespaces whose policies may lock nodes, `*` for all; undefined if that is not known. */
  readonly lockNamespaces: readonly string[] | undefined
  /** Whether policies may limit downtime. */
  readonly allowsDowntime: boolean
}

/**
 * Checks that a policy's Secrets can be read, its hosts are allowed, and the installation allows what it asks for. Sends no request to these hosts
 * and reveals no values of Secrets.
 *
 * @param policy with valid field types
 * @returns unusable parts in the order of the policy: Secrets, hosts, then what the installation does not allow
 * @throws only the signal's reason once it aborts
 */
export async function examinePolicy(policy: ReleasePolicy, installation: Installation, signal: AbortSignal): Promise<readonly Advice[]> {
  const { secrets, urls } = policyReferences(policy)
  const found: Advice[] = []
  for (const reference of secrets) found.push(...(await examineSecret(reference, policy, { ...installation, signal })))
  const refused = urls.filter(({ url }) => URL.canParse(url) && !installation.egress.allows(url))
  return [...found, ...refused.map(({ path, url }) => hostAdvice(path, url, url)), ...notAllowed(policy, installation)]
}

function notAllowed({ metadata, spec }: ReleasePolicy, installation: Installation): readonly Advice[] {
  const { allowsRoom, allowsGroups, allowsPrePull, drainNamespaces, lockNamespaces, allowsDowntime } = installation
  const { namespace = '' } = metadata
  const { nodes, prePull, drain, downtime: { group, nodeLock = 'Ignore', perDay } = {} } = spec
  const isIn = (namespaces: readonly string[] = [namespace]): boolean => isListedNamespace(namespaces, namespace)
  const rooms = nodes?.room !== 'Check' || allowsRoom ? [] : [roomAdvice(nodes.room)]
  const groups = group === undefined || allowsGroups ? [] : [groupAdvice(group)]
  const pulls = prePull === undefined || allowsPrePull ? [] : [prePullAdvice(prePull)]
  const drains = drain === undefined || isIn(drainNamespaces) ? [] : [drainAdvice(drain, namespace)]
  const locks = nodeLock === 'Ignore' || isIn(lockNamespaces) ? [] : [nodeLockAdvice(nodeLock, namespace)]
  const limits = perDay === undefined || allowsDowntime ? [] : [downtimeAdvice(perDay)]
  return [...rooms, ...groups, ...pulls, ...drains, ...locks, ...limits]
}

/**
 * Checks whether config is pinned as a policy asks. Other users may change that at any time, so the answer holds for the moment only.
 *
 * @param podPolicy null where the installation lets no policy pin config
 * @returns what is missing; empty also while that is not known
 */
export function examinePins({ metadata, spec }: ReleasePolicy, podPolicy: PodPolicy | null): readonly Advice[] {
  if (spec.config !== 'Pin') return []
  if (podPolicy === null) return [pinAdvice()]
  const fault = podPolicy.fault(metadata.namespace ?? '')
  return fault == null ? [] : [podPolicyAdvice(fault)]
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
  // A value that is not a URL may be any secret: not even what looks like its host may be shown.
  if (!/^https?:\/\/\S+$/i.test(value) || !URL.canParse(value))
    return [
      secretAdvice(reference, {
        message: `the key ${key} of the Secret ${name} holds no URL`,
        fix: 'write a URL that starts with https://',
      }),
    ]
  return egress.allows(value) ? [] : [hostAdvice(reference.path, reference.secret, value)]
}
