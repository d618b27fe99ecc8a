import type { AcceptedActions, RolloutStatus } from '@tranche/api-schema'

/** Accepted actions in a status. The version before called the member `acceptedWishes`; the next write of the status drops that name. */
export function acceptedActionsOf(status: RolloutStatus | undefined): AcceptedActions {
  return status?.acceptedActions ?? status?.acceptedWishes ?? {}
}
