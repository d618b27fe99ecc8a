import type { AcceptedActions, RolloutStatus } from '@tranche/api-schema'

/** Accepted actions in a status. The previous version named the member `acceptedWishes`; the next status write drops that name. */
export function acceptedActionsOf(status: RolloutStatus | undefined): AcceptedActions {
  return status?.acceptedActions ?? status?.acceptedWishes ?? {}
}
