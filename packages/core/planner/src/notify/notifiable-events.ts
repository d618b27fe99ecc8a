import { NOTIFIED_NODES_MAX, type NotifyEvent, notifyEvents, type RolloutStatus, stalledReasons } from '@tranche/api-schema'
import { rolloutEvents } from '../rollout/rollout-events.ts'

/** Something that receivers may be told of. */
export interface NotifiableEvent {
  readonly event: NotifyEvent
  /** For a person. */
  readonly message: string
  /** Nodes that it is about, at most {@link NOTIFIED_NODES_MAX}. */
  readonly nodes: readonly string[]
}

/** What a change of status is told as: what an event is recorded for, as far as receivers have a word for it. */
export function notifiableEvents(before: RolloutStatus | undefined, after: RolloutStatus): readonly NotifiableEvent[] {
  return rolloutEvents(before, after, null).flatMap(({ reason, message }) => {
    const event = eventOf(reason)
    return event === undefined ? [] : [{ event, message, nodes: nodesOf(event, after) }]
  })
}

function eventOf(reason: string): NotifyEvent | undefined {
  return notifyEvents.find((event) => event === reason) ?? (stalledReasons.some((known) => known === reason) ? 'Stalled' : undefined)
}

/** Those that failed, where something failed. */
export function nodesOf(event: NotifyEvent, { failure }: RolloutStatus): readonly string[] {
  return event === 'ReleaseFailed' || event === 'Reminder' ? (failure?.nodes.slice(0, NOTIFIED_NODES_MAX) ?? []) : []
}
