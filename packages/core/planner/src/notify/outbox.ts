import {
  NOTIFICATIONS_MAX,
  type Notification,
  type NotifyEvent,
  type Receiver,
  type Rollout,
  type RolloutStatus,
} from '@tranche/api-schema'
import { sha256Hex } from '@tranche/kube-types'
import { dueReminders, untilReminderMs, waitOf } from './reminders.ts'
import { nodesOf, type NotifiableEvent, notifiableEvents } from './notifiable-events.ts'

/** Whom a status write tells. */
export interface Outbox {
  /** As it was read: the write of the next status rests on this very version. */
  readonly rollout: Rollout
  readonly receivers: readonly Receiver[]
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** The next status with what receivers are to be told, and when the clock alone has something to tell. */
export interface NotifyingStatus {
  readonly status: RolloutStatus
  /** Null: never. */
  readonly recheckAfterMs: number | null
}

/** The longest message that is kept, in characters. */
const MESSAGE_MAX = 1024

/**
 * Adds to the next status what its write is to tell: with one write both become true, so that nothing is told that did not
 * happen, and nothing lost that did. Written again after it was refused, it has the same ids.
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
    ...(waiting.length > 0 && { notifications: bounded(waiting) }),
    ...(reminded.remindedAt !== undefined && { remindedAt: reminded.remindedAt }),
  }
  return { status, recheckAfterMs: reminded.recheckAfterMs }
}

interface Reminded {
  readonly notifications: readonly Notification[]
  readonly remindedAt: string | undefined
  readonly recheckAfterMs: number | null
}

/** One who has not been told of the last reminder yet needs no other. */
function withReminders(next: RolloutStatus, outbox: Outbox): Reminded {
  const { rollout, receivers, nowMs } = outbox
  const wait = waitOf(rollout, next)
  if (wait === null) return { notifications: [], remindedAt: undefined, recheckAfterMs: null }
  const { remindedAt } = next
  const due = dueReminders(receivers, wait, { remindedMs: remindedAt === undefined ? null : Date.parse(remindedAt), nowMs })
  const notifiable: NotifiableEvent = {
    event: 'Reminder',
    message: `somebody is waited for since ${new Date(wait.sinceMs).toISOString()}: ${next.message ?? ''}`,
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
 * The id is of what was read, and of nothing that a second look at the same would find changed. No two writes that were
 * accepted rest on one version of the Rollout, so it is told once.
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
    message: message.slice(0, MESSAGE_MAX),
    at: new Date(nowMs).toISOString(),
    ...(revision !== undefined && revision !== '' && { revision }),
    ...(step > 0 && { step }),
    ...(nodes.length > 0 && { nodes }),
  }
}

/** What nobody has to act on. */
const newsOnly: readonly NotifyEvent[] = ['ReleaseStarted', 'RollbackStarted', 'RollbackCompleted', 'ReleaseCompleted']

/**
 * At most {@link NOTIFICATIONS_MAX}. Whom the most is to be told loses the oldest that nobody has to act on, else the oldest:
 * a receiver that is down takes nothing from the others. Its last one says how many it has lost.
 */
export function bounded(notifications: readonly Notification[]): readonly Notification[] {
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
