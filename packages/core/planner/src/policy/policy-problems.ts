import type { ReleasePolicy } from '@tranche/api-schema'
import { type Problem, validatePolicy } from '@tranche/validation'
import type { PolicyReading } from '../rollout/view/release-policy.ts'

/** All problems of a policy. Policies are frozen and checked in every pass, and checking a query is expensive. */
export function policyProblems(policy: ReleasePolicy): readonly Problem[] {
  const known = problemsOf.get(policy)
  if (known !== undefined) return known
  const problems = validatePolicy(policy)
  problemsOf.set(policy, problems)
  return problems
}

const problemsOf = new WeakMap<ReleasePolicy, readonly Problem[]>()

/** The reading of a policy that exists. */
export function foundPolicy(policy: ReleasePolicy): PolicyReading {
  return { kind: 'found', policy, problems: policyProblems(policy) }
}
