import { isSameJson } from '@tranche/kube-types'
import { podPolicy } from './pod-policy.ts'

/** Name of the policy for pods and of its binding, as the chart of release `tranche` gives it. */
export const POD_POLICY_NAME = 'tranche-pods'

/** The policy for pods as an API server has it, each undefined where it does not exist. */
export interface ServedPodPolicy {
  /** Name of both objects. */
  readonly name: string
  readonly policy: { readonly spec?: unknown } | undefined
  readonly binding: { readonly spec?: unknown } | undefined
}

/**
 * Why the API server does not name copies of config in the pods of a namespace. The policy or its binding may be missing, differ from that of
 * this version, or leave the namespace out. Defaults that an API server writes count as absent.
 *
 * @param namespace null: any namespace will do
 * @returns text without full stop; null where the policy is as it should be
 */
export function podPolicyFault({ name, policy, binding }: ServedPodPolicy, namespace: string | null): string | null {
  const kind = 'MutatingAdmissionPolicy'
  if (policy === undefined) return `there is no ${kind} ${name}`
  const field = differenceIn(plain(policy.spec), plain(podPolicy[0]?.spec), 'spec')
  if (field !== null) return `${field} of the ${kind} ${name} is not that of this version`
  if (binding === undefined) return `there is no ${kind}Binding ${name}`
  const { matchResources, ...rest } = membersOf(plain(binding.spec))
  const ofBinding = differenceIn(rest, { ...membersOf(podPolicy[1]?.spec), policyName: name }, 'spec')
  if (ofBinding !== null) return `${ofBinding} of the ${kind}Binding ${name} is not that of this version`
  return namespace === null || selects(matchResources, namespace) ? null : `the ${kind}Binding ${name} leaves out namespace ${namespace}`
}

type Members = Readonly<Record<string, unknown>>

const NAMESPACE_NAME = 'kubernetes.io/metadata.name'

/** Whether a binding surely applies in the namespace: the chart selects namespaces by nothing but their names. */
function selects(matchResources: unknown, namespace: string): boolean {
  const { namespaceSelector, ...others } = membersOf(matchResources)
  const { matchExpressions = [], ...rest } = membersOf(namespaceSelector)
  if (Object.keys(others).length > 0 || Object.keys(rest).length > 0 || !Array.isArray(matchExpressions)) return false
  return matchExpressions.map(membersOf).every(({ key, operator, values }) => {
    const isListed = Array.isArray(values) && values.includes(namespace)
    return key === NAMESPACE_NAME && (operator === 'In' ? isListed : operator === 'NotIn' && !isListed)
  })
}

/** Values that an API server writes where a manifest has none. */
const defaults: Members = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', scope: '*' }

/** Without defaults and empty members. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, one]) => [key, plain(one)] as const)
  return Object.fromEntries(members.filter(([key, one]) => one !== defaults[key] && !isEmpty(one)))
}

function isEmpty(value: unknown): boolean {
  return value == null || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** @returns the first member that differs, as `spec.matchConditions`; null without one */
function differenceIn(is: unknown, wanted: unknown, path: string): string | null {
  const [own, other] = [membersOf(is), membersOf(wanted)]
  const key = [...new Set([...Object.keys(other), ...Object.keys(own)])].find((one) => !isSameJson(own[one], other[one]))
  return key === undefined ? null : `${path}.${key}`
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}
