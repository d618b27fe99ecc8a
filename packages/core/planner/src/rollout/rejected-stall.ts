import type { RolloutStatus } from '@tranche/api-schema'
import { boundedNotifications } from '../notify/outbox.ts'
import { rejectedText } from '../rejected-text.ts'
import { revisionText } from './held/revision-text.ts'
import type { RejectableChange, RejectedChange } from './view/rejected-change.ts'
import type { RolloutState } from './view/rollout-state.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** The state that says that the API server rejects its change. A user's error or a stop that is reported already stays. */
export function withRejected(view: RolloutView, state: RolloutState, { change, message }: RejectedChange): RolloutState {
  if (state.stalled !== null && state.stalled.reason !== 'RevisionHeld') return state
  const text = rejectedText(changeText(view, change), message, fixes[change] ?? RULE)
  return { ...state, message: text, stalled: { reason: 'ChangeRejected', message: text } }
}

const RULE = 'change the rule that rejects it'

const fixes: Readonly<Partial<Record<RejectableChange, string>>> = {
  revert: `${RULE}, or apply another template`,
  createRelease: `${RULE}, or raise the quota`,
  updateRelease: `${RULE}; until then no pause, abort or step reaches the executors, which continue as before`,
}

function changeText({ rollout, revisions }: RolloutView, change: RejectableChange): string {
  const patch = 'the patch of the DaemonSet that'
  switch (change) {
    case 'bind':
      return `${patch} binds it to the Rollout`
    case 'unbind':
      return `${patch} removes the keys of Tranche`
    case 'revert':
      return `${patch} puts the template of revision ${revisionText(revisions, rollout.status?.canaryStatus?.stableRevision ?? '')} back`
    case 'createRelease':
      return 'a new BatchRelease'
    case 'updateRelease':
      return 'the update of the BatchRelease'
    case 'deleteRelease':
      return 'the deletion of the BatchRelease'
    default:
      return change satisfies never
  }
}

/** The stored status with the stall of another one; null where there is none of a rejected change to say. */
export function withStall(stored: RolloutStatus | undefined, next: RolloutStatus): RolloutStatus | null {
  const isSaid = next.conditions?.some(({ type, reason }) => type === 'Stalled' && reason === 'ChangeRejected') === true
  if (stored === undefined || !isSaid) return null
  const taken = next.conditions?.filter(({ type }) => stalls.has(type)) ?? []
  const kept = stored.conditions?.filter(({ type }) => !stalls.has(type)) ?? []
  const known = new Set(stored.notifications?.map(({ id }) => id))
  // Other notifications are about what is not stored yet.
  const added = next.notifications?.filter(({ id, event }) => event === 'Stalled' && !known.has(id)) ?? []
  const notifications = [...(stored.notifications ?? []), ...added]
  return {
    ...stored,
    ...(next.message !== undefined && { message: next.message }),
    conditions: [...kept, ...taken],
    ...(notifications.length > 0 && { notifications: boundedNotifications(notifications) }),
  }
}

/** The three conditions that Flux reads. */
const stalls: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled'])
