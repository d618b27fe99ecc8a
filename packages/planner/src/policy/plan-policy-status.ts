import { LISTED_NODES_MAX, type ReleasePolicy, type ReleasePolicyStatus, type Rollout } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import { isSameJson } from '@tranche/kube-types'
import { problemsText } from '@tranche/validation'
import { receiverTrouble } from '../notify/receiver-trouble.ts'
import { policyProblems } from '../rollout/release-policy.ts'
import { statusPatch } from '../status-patch.ts'

/** Everything one pass over one ReleasePolicy has read. */
export interface PolicyView {
  readonly policy: ReleasePolicy
  /** The Rollouts of its namespace that name it. */
  readonly rollouts: readonly Rollout[]
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/**
 * What is to be written of a policy: whether it is valid, with every problem, who uses it, and which of its receivers take
 * nothing. Null where its status says so already. Pure.
 */
export function planPolicyStatus(view: PolicyView): readonly PatchOperation[] | null {
  const after = policyStatus(view)
  const before = view.policy.status ?? {}
  const changed = Object.fromEntries(
    Object.entries(after).filter(([field, value]) => !isSameJson(before[field as keyof ReleasePolicyStatus], value)),
  )
  return Object.keys(changed).length === 0 ? null : statusPatch(view.policy, changed)
}

type PolicyCondition = NonNullable<ReleasePolicyStatus['conditions']>[number]

function policyStatus(view: PolicyView): ReleasePolicyStatus {
  const trouble = receiverTrouble(view.policy, view.rollouts)
  const names = view.rollouts.map(({ metadata }) => metadata.name).toSorted()
  return {
    observedGeneration: view.policy.metadata.generation ?? 0,
    conditions: [validCondition(view)],
    rollouts: names.slice(0, LISTED_NODES_MAX),
    rolloutCount: names.length,
    receivers: trouble.length > 0 ? trouble : undefined,
  }
}

function validCondition({ policy, nowMs }: PolicyView): PolicyCondition {
  const problems = policyProblems(policy)
  const status = problems.length === 0 ? 'True' : 'False'
  const before = policy.status?.conditions?.find(({ type }) => type === 'Valid')
  return {
    type: 'Valid',
    status,
    observedGeneration: policy.metadata.generation ?? 0,
    lastTransitionTime: before?.status === status && before.lastTransitionTime ? before.lastTransitionTime : new Date(nowMs).toISOString(),
    reason: problems.length === 0 ? 'Valid' : 'Invalid',
    message: problemsText(problems),
  }
}
