import { LISTED_NODES_MAX, type ReleasePolicy, type ReleasePolicyStatus, type Rollout, UNUSABLE_REASONS_MAX } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import { isSameJson, parseTime } from '@tranche/kube-types'
import { type Advice, problemsText } from '@tranche/validation'
import { receiverTrouble } from '../notify/receiver-trouble.ts'
import { policyProblems } from './policy-problems.ts'
import { statusPatch } from '../release/view/status-patch.ts'

/** Everything one pass over one ReleasePolicy has read. */
export interface PolicyView {
  readonly policy: ReleasePolicy
  /** Rollouts of its namespace that name the policy. */
  readonly rollouts: readonly Rollout[]
  /** Parts of the policy that cannot be used on this cluster, or are not allowed; null where it was not examined. @see hasReadableFields */
  readonly unusable: readonly Advice[] | null
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/**
 * The status to write for a policy: its validity with every problem, whether everything it names is usable, its users, and
 * receivers that accept nothing. Null where the status is up to date. Pure.
 */
export function planPolicyStatus(view: PolicyView): readonly PatchOperation[] | null {
  const after = policyStatus(view)
  const before = view.policy.status ?? {}
  const changed = Object.fromEntries(
    Object.entries(after).filter(([field, value]) => !isSameJson(before[field as keyof ReleasePolicyStatus], value)),
  )
  return Object.keys(changed).length === 0 ? null : statusPatch(view.policy, changed)
}

/** Whether the fields of a policy have their declared types and a size that was checked, so that its references can be read. */
export function hasReadableFields(policy: ReleasePolicy): boolean {
  return !policyProblems(policy).some(({ rule }) => rule === 'PolicyField' || rule === 'PolicySize')
}

type PolicyCondition = NonNullable<ReleasePolicyStatus['conditions']>[number]

function policyStatus(view: PolicyView): ReleasePolicyStatus {
  const { policy, rollouts } = view
  const trouble = receiverTrouble(policy, rollouts)
  const names = rollouts.map(({ metadata }) => metadata.name).toSorted()
  return {
    observedGeneration: policy.metadata.generation ?? 0,
    conditions: [validity(policy), usability(view)].map((finding) => toCondition(finding, view)),
    unusable: unusableReasons(view),
    failureAction: hasReadableFields(policy) ? (policy.spec.failure?.action ?? 'Pause') : undefined,
    rollouts: names.slice(0, LISTED_NODES_MAX),
    rolloutCount: names.length,
    receivers: trouble.length > 0 ? trouble : undefined,
  }
}

/** Each reason once; undefined without any. */
function unusableReasons({ unusable }: PolicyView): readonly string[] | undefined {
  const reasons = [...new Set((unusable ?? []).map(({ rule }) => rule))]
  return reasons.length > 0 ? reasons.slice(0, UNUSABLE_REASONS_MAX) : undefined
}

type Finding = Pick<PolicyCondition, 'type' | 'status' | 'reason' | 'message'>

function validity(policy: ReleasePolicy): Finding {
  const problems = policyProblems(policy)
  const isValid = problems.length === 0
  return { type: 'Valid', status: isValid ? 'True' : 'False', reason: isValid ? 'Valid' : 'Invalid', message: problemsText(problems) }
}

/** Maximum characters of the text of unusable parts. It has room for each part that an installation may not allow. */
const LONGEST_USABLE = 2_000

const UNCHECKED = 'Secrets, hosts, and what the installation allows are checked once the fields have the right types and sizes'

/**
 * Whether Secrets can be read, hosts are allowed, and the installation allows what the policy asks for. A release follows a policy even where parts
 * of it are unusable; the failed checks and notifications report it, too.
 */
function usability({ unusable }: PolicyView): Finding {
  const type = 'Usable'
  if (unusable === null) return { type, status: 'Unknown', reason: 'Invalid', message: UNCHECKED }
  const [first] = unusable
  if (first === undefined) return { type, status: 'True', reason: 'Usable', message: '' }
  return { type, status: 'False', reason: first.rule, message: problemsText(unusable, LONGEST_USABLE) }
}

function toCondition(finding: Finding, { policy, nowMs }: PolicyView): PolicyCondition {
  const before = policy.status?.conditions?.find(({ type }) => type === finding.type)
  const isSame = before?.status === finding.status && before.lastTransitionTime !== undefined
  return {
    ...finding,
    observedGeneration: policy.metadata.generation ?? 0,
    lastTransitionTime: isSame && parseTime(before.lastTransitionTime) !== null ? before.lastTransitionTime : new Date(nowMs).toISOString(),
  }
}
