import type { ApiObject } from '../../model/client.ts'
import { matchedVersion, type RequestPlace, selectsWrite } from '../webhook-match.ts'
import type { WebhookWrite } from '../webhook-write.ts'
import type { MatchResources, Policy, PolicyBinding } from './policy-configuration.ts'

/** @returns version in which the policy matches the request; undefined when it does not match */
export function policyVersion({ match }: Pick<Policy, 'match'>, place: RequestPlace): string | undefined {
  return isExcluded(match, place) ? undefined : matchedVersion(match, place)
}

/** @returns whether policy and binding both select the write by its labels, and the binding by its rules */
export function selects(
  { policy, binding }: { readonly policy: Policy; readonly binding: PolicyBinding },
  write: WebhookWrite & { readonly place: RequestPlace },
  namespaceOf: (name: string) => ApiObject | undefined,
): boolean {
  if (!selectsWrite(policy.match, write, namespaceOf)) return false
  const { match } = binding
  if (match === undefined) return true
  const hasRules = match.rules.length > 0
  if (isExcluded(match, write.place) || (hasRules && matchedVersion(match, write.place) === undefined)) return false
  return selectsWrite(match, write, namespaceOf)
}

function isExcluded({ excluded, matchPolicy }: MatchResources, place: RequestPlace): boolean {
  return matchedVersion({ rules: excluded, matchPolicy }, place) !== undefined
}
