import { fillTemplate, type Notification, type NotifyArgument, type Receiver } from '@tranche/api-schema'

/** One notification for one receiver. */
export interface NotifierRequest {
  /** Namespace of the Rollout, and of the Secrets that the receiver names. */
  readonly namespace: string
  /** Name of the Rollout. */
  readonly rollout: string
  readonly notification: Notification
  readonly receiver: Receiver
}

/** Text for receivers without a template. */
const DEFAULT_TEMPLATE = '{{event}} {{namespace}}/{{rollout}}: {{message}}'

/**
 * Formats a message: the receiver's template with its arguments.
 *
 * @param encode applied to every argument, and not to the template
 */
export function messageText(notifyRequest: NotifierRequest, encode: (value: string) => string = (value) => value): string {
  const { notification, receiver } = notifyRequest
  const text = fillTemplate(receiver.template ?? DEFAULT_TEMPLATE, valuesOf(notifyRequest), encode)
  const lost = receiver.template === undefined && notification.dropped !== undefined
  return lost ? `${text} (${notification.dropped} other messages were dropped because too many were waiting)` : text
}

function valuesOf({ namespace, rollout, receiver, notification }: NotifierRequest): Readonly<Record<NotifyArgument, string>> {
  const { id, event, message, at, revision, step, nodes, dropped } = notification
  return {
    event,
    message,
    namespace,
    rollout,
    revision: revision ?? '',
    step: step === undefined ? '' : String(step),
    nodes: nodes?.join(', ') ?? '',
    receiver: receiver.name,
    at,
    id,
    dropped: String(dropped ?? 0),
  }
}
