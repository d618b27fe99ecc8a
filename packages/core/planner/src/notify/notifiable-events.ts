import { NOTIFIED_NODES_MAX, type NotifyEvent, notifyEvents, type RolloutStatus, stalledReasons } from '@tranche/api-schema'
import { rolloutEvents } from '../rollout/actions/rollout-events.ts'

/** An event that receivers may be notified of. */
export interface NotifiableEvent {
  readonly event: NotifyEvent
  /** Text for a person. */
  readonly message: string
  /** Affected nodes, at most {@link NOTIFIED_NODES_MAX}. */
  readonly nodes: readonly string[]
}

/** Notifications for a change of status: the recorded events for which receivers have a name. */
export function notifiableEvents(before: RolloutStatus | undefined, after: RolloutStatus): readonly NotifiableEvent[] {
  return rolloutEvents(before, after, null).flatMap(({ reason, message }) => {
    const event = eventOf(reason)
    return event === undefined ? [] : [{ event, message, nodes: nodesOf(event, after) }]
  })
}

function eventOf(reason: string): NotifyEvent | undefined {
  return notifyEvents.find((event) => event === reason) ?? (stalledReasons.some((known) => known === reason) ? 'Stalled' : undefined)
}

/** Failed nodes of the event; empty where nothing failed. */
export function nodesOf(event: NotifyEvent, { failure }: RolloutStatus): readonly string[] {
  return event === 'ReleaseFailed' || event === 'Reminder' ? (failure?.nodes.slice(0, NOTIFIED_NODES_MAX) ?? []) : []
}
