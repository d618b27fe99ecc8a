import { type BatchRelease, blockedReasons, type Rollout } from '@tranche/api-schema'
import { isUnpaused, needsPerson } from '@tranche/planner'

/**
 * Reason of a wait that only a person ends: most often a right that the policy asks for and the installation does not give. Null for a release
 * that proceeds by itself, is paused, or is over.
 *
 * Such a right is missing on every node alike. So it decides too where nodes wait for other checks first, or where broken pods that
 * stay for it use up the budget.
 */
export function personWaitOf({ status }: Rollout, release: BatchRelease | undefined): string | null {
  if (status?.waitingFor === undefined || !isUnpaused(status)) return null
  const { reason } = status.waitingFor
  if (needsPerson(reason)) return reason
  const { blocked = [], state } = release?.status?.flight ?? {}
  const isHeld = reason === 'BudgetUsedUp' || blockedReasons.some((one) => one === reason)
  return state === 'open' && isHeld ? (blocked.find((node) => needsPerson(node.reason))?.reason ?? null) : null
}
