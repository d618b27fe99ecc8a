import type { RolloutStatus } from '@tranche/api-schema'
import { clipText } from '@tranche/kube-types'
import { boundedNotifications } from '../notify/outbox.ts'
import { revisionText } from './held/revision-text.ts'
import type { RejectedChange } from './view/rejected-change.ts'
import type { RolloutState } from './view/rollout-state.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** Maximum length of the words of the API server in a message, in characters. */
const LONGEST_WORDS = 400

/** The state that says that the API server rejects its change. A user's error or a stop that is reported already stays. */
export function withRejected(view: RolloutView, state: RolloutState, { why, message }: RejectedChange): RolloutState {
  if (state.stalled !== null && state.stalled.reason !== 'RevisionHeld') return state
  const words = clipText(message.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), LONGEST_WORDS)
  const { change, fix } = textsOf(view, why)
  const text = `the API server rejects the patch of the DaemonSet that ${change}: ${words}; ${fix}`
  return { ...state, message: text, stalled: { reason: 'ChangeRejected', message: text } }
}

function textsOf({ rollout, revisions }: RolloutView, why: RejectedChange['why']): { readonly change: string; readonly fix: string } {
  if (why !== 'revert') return { change: 'binds it to the Rollout', fix: 'change the rule that rejects it' }
  const stable = revisionText(revisions, rollout.status?.canaryStatus?.stableRevision ?? '')
  return { change: `puts the template of revision ${stable} back`, fix: 'change the rule that rejects it, or apply another template' }
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
