import {
  NOTIFICATIONS_MAX,
  type Notification,
  type NotifyEvent,
  type Receiver,
  type Rollout,
  type RolloutStatus,
} from '@tranche/api-schema'
import { sha256Hex, parseTime, timeText, clipText } from '@tranche/kube-types'
import { dueReminders, untilReminderMs, waitOf } from './reminders.ts'
import { nodesOf, type NotifiableEvent, notifiableEvents } from './notifiable-events.ts'

/** Receivers of a status write. */
export interface Outbox {
  /** The Rollout as it was read; the next status is written against this exact version. */
  readonly rollout: Rollout
  readonly receivers: readonly Receiver[]
  /** Now, in epoch milliseconds. */
  readonly nowMs: number
}

/** The next status with its notifications, and when the clock alone adds another one. */
export interface NotifyingStatus {
  readonly status: RolloutStatus
  /** Null: never. */
  readonly recheckAfterMs: number | null
}

/** Maximum length of a stored message, in characters. */
const MESSAGE_MAX = 1024

/**
 * Adds notifications to the next status. One write stores both, so no notification is sent for a change that was not stored,
 * and none is lost. A repeated write after a conflict has the same ids.
 */
export function withNotifications(next: RolloutStatus, outbox: Outbox): NotifyingStatus {
  const { rollout, receivers } = outbox
  const notifiable = notifiableEvents(rollout.status, next).flatMap((one) =>
    receivers.filter(({ events }) => events?.includes(one.event) ?? true).map((receiver) => notification(one, receiver, outbox, next)),
  )
  const reminded = withReminders(next, outbox)
  const waiting = [...(next.notifications ?? []), ...notifiable, ...reminded.notifications]
  const { notifications: _old, remindedAt: _before, ...rest } = next
  const status = {
    ...rest,
    ...(waiting.length > 0 && { notifications: boundedNotifications(waiting) }),
    ...(reminded.remindedAt !== undefined && { remindedAt: reminded.remindedAt }),
  }
  return { status, recheckAfterMs: reminded.recheckAfterMs }
}

interface Reminded {
  readonly notifications: readonly Notification[]
  readonly remindedAt: string | undefined
  readonly recheckAfterMs: number | null
}

/** A receiver that still has an undelivered reminder gets no other. */
function withReminders(next: RolloutStatus, outbox: Outbox): Reminded {
  const { rollout, receivers, nowMs } = outbox
  const wait = waitOf(rollout, next)
  if (wait === null) return { notifications: [], remindedAt: undefined, recheckAfterMs: null }
  const { remindedAt } = next
  const due = dueReminders(receivers, wait, { remindedMs: parseTime(remindedAt), nowMs })
  const notifiable: NotifiableEvent = {
    event: 'Reminder',
    message: `waiting for a person since ${timeText(wait.sinceMs)}: ${next.message ?? ''}`,
    nodes: nodesOf('Reminder', next),
  }
  const unaware = due.filter(
    ({ name }) => next.notifications?.some(({ event, receiver }) => event === 'Reminder' && receiver === name) !== true,
  )
  return {
    notifications: unaware.map((receiver) => notification(notifiable, receiver, outbox, next)),
    remindedAt: due.length > 0 ? new Date(nowMs).toISOString() : remindedAt,
    recheckAfterMs: untilReminderMs(receivers, wait, nowMs),
  }
}

/**
 * The id depends only on the objects that were read, so it is the same in a second pass over the same state. Only one write per version
 * of the Rollout is accepted, so each event is recorded once.
 */
function notification(
  { event, message, nodes }: NotifiableEvent,
  { name }: Receiver,
  { rollout, nowMs }: Outbox,
  next: RolloutStatus,
): Notification {
  const { uid, resourceVersion } = rollout.metadata
  const revision = next.canaryStatus?.canaryRevision
  const step = next.currentStepIndex
  return {
    id: sha256Hex([uid, resourceVersion, event, name].join('\n')).slice(0, 32),
    receiver: name,
    event,
    message: clipText(message, MESSAGE_MAX),
    at: new Date(nowMs).toISOString(),
    ...(revision !== undefined && revision !== '' && { revision }),
    ...(step > 0 && { step }),
    ...(nodes.length > 0 && { nodes }),
  }
}

/** Events that need no action. */
const newsOnly: readonly NotifyEvent[] = ['ReleaseStarted', 'RollbackStarted', 'RollbackCompleted', 'ReleaseCompleted']

/**
 * Keeps at most {@link NOTIFICATIONS_MAX}. The receiver with the longest queue loses its oldest notification, first among
 * those that need no action. A receiver that is down takes nothing from the others. Its last notification says how many were
 * dropped.
 */
export function boundedNotifications(notifications: readonly Notification[]): readonly Notification[] {
  let kept = notifications
  while (kept.length > NOTIFICATIONS_MAX) kept = withoutOne(kept)
  return kept
}

function withoutOne(notifications: readonly Notification[]): readonly Notification[] {
  const queues = Map.groupBy(notifications, ({ receiver }) => receiver)
  const longest = [...queues.values()].reduce((most, queue) => (queue.length > most.length ? queue : most))
  const victim = longest.find(({ event }) => newsOnly.includes(event)) ?? longest[0]
  const last = longest.findLast((one) => one !== victim)
  const dropped = (victim?.dropped ?? 0) + 1
  return notifications.flatMap((one) => {
    if (one === victim) return []
    return one === last ? [{ ...one, dropped: (one.dropped ?? 0) + dropped }] : [one]
  })
}
