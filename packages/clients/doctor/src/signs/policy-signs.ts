import { type ReleasePolicy, sizeLimits } from '@tranche/api-schema'
import { isNotFound, resourcePaths } from '@tranche/kube-client'
import { problemsText, validatePolicy } from '@tranche/validation'
import { clipText } from '@tranche/kube-types'
import { type Denied, type GuardedReads, isDenied, unlessDenied } from './guarded-reads.ts'
import type { RolloutSign } from './rollout-signs.ts'

/** Maximum number of ReleasePolicies that are read, each by one request. */
export const MOST_POLICIES = 100
/** Maximum characters of a text of the controller. No less than a condition holds: it is the list of what to allow. */
const LONGEST_TEXT = sizeLimits.message

/** A ReleasePolicy that a Rollout names. */
export interface PolicySign {
  readonly namespace: string
  readonly name: string
  /** The Rollouts that name it; at least one. */
  readonly rollouts: readonly Pick<RolloutSign, 'namespace' | 'name'>[]
  /** Missing right to read it; null where it was read. */
  readonly denied: Denied | null
  readonly exists: boolean
  /** Fields that break a rule, with value and fix; empty without any. */
  readonly problems: string
  /** What of it cannot be used in this installation, by the report of the controller about this generation; empty without any. */
  readonly unusable: string
}

/** The ReleasePolicies in use. */
export interface PolicySigns {
  /** In the order of namespace and name. */
  readonly policies: readonly PolicySign[]
  /** Number of ReleasePolicies in use that were not read, because there are too many. */
  readonly left: number
}

/** Reads each ReleasePolicy that a Rollout names. */
export async function readPolicySigns(reads: GuardedReads, rollouts: readonly RolloutSign[] | Denied): Promise<PolicySigns | Denied> {
  if (isDenied(rollouts)) return rollouts
  const users = Map.groupBy(
    rollouts.filter(({ policy }) => policy !== ''),
    ({ namespace, policy }) => `${namespace}/${policy}`,
  )
  const named = [...users].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, those]) => those)
  const policies = await Promise.all(named.slice(0, MOST_POLICIES).map((those) => readPolicy(reads, those)))
  return { policies: policies.flat(), left: Math.max(0, named.length - MOST_POLICIES) }
}

async function readPolicy(reads: GuardedReads, rollouts: readonly RolloutSign[]): Promise<readonly PolicySign[]> {
  const [first] = rollouts
  if (first === undefined) return []
  const key = { namespace: first.namespace, name: first.policy }
  const sign = { ...key, rollouts, denied: null, exists: true, problems: '', unusable: '' }
  const policy = await unlessDenied(
    reads.get<ReleasePolicy>(resourcePaths.releasePolicies, key).catch((error: unknown) => (isNotFound(error) ? null : fail(error))),
  )
  if (policy === null) return [{ ...sign, exists: false }]
  if (isDenied(policy)) return [{ ...sign, denied: policy }]
  return [{ ...sign, problems: problemsText(validatePolicy(policy)), unusable: unusableText(policy) }]
}

/** Empty without a report about the present generation. */
function unusableText({ metadata, status }: ReleasePolicy): string {
  const usable = status?.conditions?.find(({ type }) => type === 'Usable')
  if (usable?.status !== 'False' || usable.observedGeneration !== metadata.generation) return ''
  return clipText(usable.message ?? usable.reason, LONGEST_TEXT)
}

function fail(error: unknown): never {
  throw error
}
