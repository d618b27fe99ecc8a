import { LISTED_NODES_MAX, type ReleasePolicy, type ReleasePolicyStatus, type Rollout } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import { isSameJson } from '@tranche/kube-types'
import { type Advice, problemsText } from '@tranche/validation'
import { receiverTrouble } from '../notify/receiver-trouble.ts'
import { policyProblems } from '../rollout/release-policy.ts'
import { statusPatch } from '../status-patch.ts'

/** Everything one pass over one ReleasePolicy has read. */
export interface PolicyView {
  readonly policy: ReleasePolicy
  /** The Rollouts of its namespace that name it. */
  readonly rollouts: readonly Rollout[]
  /** What of it cannot be used here; null where it was not examined. @see hasReadableFields */
  readonly unusable: readonly Advice[] | null
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/**
 * What is to be written of a policy: whether it is valid, with every problem, whether all that it names can be used, who uses
 * it, and which of its receivers take nothing. Null where its status says so already. Pure.
 */
export function planPolicyStatus(view: PolicyView): readonly PatchOperation[] | null {
  const after = policyStatus(view)
  const before = view.policy.status ?? {}
  const changed = Object.fromEntries(
    Object.entries(after).filter(([field, value]) => !isSameJson(before[field as keyof ReleasePolicyStatus], value)),
  )
  return Object.keys(changed).length === 0 ? null : statusPatch(view.policy, changed)
}

/** Whether the fields of a policy have the types they should, so that what it names can be read at all. */
export function hasReadableFields(policy: ReleasePolicy): boolean {
  return !policyProblems(policy).some(({ rule }) => rule === 'PolicyField')
}

type PolicyCondition = NonNullable<ReleasePolicyStatus['conditions']>[number]

function policyStatus(view: PolicyView): ReleasePolicyStatus {
  const { policy, rollouts } = view
  const trouble = receiverTrouble(policy, rollouts)
  const names = rollouts.map(({ metadata }) => metadata.name).toSorted()
  return {
    observedGeneration: policy.metadata.generation ?? 0,
    conditions: [validity(policy), usability(view)].map((finding) => toCondition(finding, view)),
    failureAction: hasReadableFields(policy) ? (policy.spec.failure?.action ?? 'Pause') : undefined,
    rollouts: names.slice(0, LISTED_NODES_MAX),
    rolloutCount: names.length,
    receivers: trouble.length > 0 ? trouble : undefined,
  }
}

type Finding = Pick<PolicyCondition, 'type' | 'status' | 'reason' | 'message'>

function validity(policy: ReleasePolicy): Finding {
  const problems = policyProblems(policy)
  const isValid = problems.length === 0
  return { type: 'Valid', status: isValid ? 'True' : 'False', reason: isValid ? 'Valid' : 'Invalid', message: problemsText(problems) }
}

/** A release goes by a policy of which not all can be used: what cannot be asked or told says so in its own place, too. */
function usability({ unusable }: PolicyView): Finding {
  const type = 'Usable'
  if (unusable === null)
    return { type, status: 'Unknown', reason: 'Invalid', message: 'Secrets and hosts are looked at once its fields have the right types' }
  const [first] = unusable
  if (first === undefined) return { type, status: 'True', reason: 'Usable', message: '' }
  return { type, status: 'False', reason: first.rule, message: problemsText(unusable) }
}

function toCondition(finding: Finding, { policy, nowMs }: PolicyView): PolicyCondition {
  const before = policy.status?.conditions?.find(({ type }) => type === finding.type)
  const isSame = before?.status === finding.status && before.lastTransitionTime !== undefined
  return {
    ...finding,
    observedGeneration: policy.metadata.generation ?? 0,
    lastTransitionTime: isSame ? before.lastTransitionTime : new Date(nowMs).toISOString(),
  }
}
