import { notifyArguments, type Receiver, sizeLimits } from '@tranche/api-schema'
import { isEntryName } from '../fields/names.ts'
import { findingsOfEach } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { headerProblems, secretProblems, templateProblems, urlProblems } from './validate-request.ts'
import { durationProblems, repeated, textProblems } from './validate-values.ts'

/** Maximum characters of a template. */
const LONGEST_TEMPLATE = sizeLimits.template

/** Checks the notification receivers of a policy: names, targets, events, templates and reminders. */
export function validateReceivers(receivers: readonly Receiver[]): readonly Problem[] {
  const twice = repeated(receivers.map(({ name }) => name))
  return findingsOfEach(receivers, (receiver, index) => {
    const path = `spec.notify[${index}]`
    const { name, template } = receiver
    return [
      ...(isEntryName(name) ? [] : [problemOf('ReceiverName', { path: `${path}.name`, value: name })]),
      ...(twice.includes(index)
        ? [problemOf('ReceiverName', { path: `${path}.name`, value: name, message: 'another receiver has this name' })]
        : []),
      ...targetProblems(path, receiver),
      ...eventProblems(path, receiver),
      ...textProblems(`${path}.template`, template, LONGEST_TEMPLATE),
      ...(template === undefined ? [] : templateProblems(`${path}.template`, template, notifyArguments)),
      ...durationProblems(`${path}.remindAfter`, receiver.remindAfter),
    ]
  })
}

function targetProblems(path: string, { slack, webhook }: Receiver): readonly Problem[] {
  const own = [
    ...secretProblems(`${path}.slack.url`, slack?.url),
    ...(webhook === undefined ? [] : urlProblems(`${path}.webhook.url`, webhook.url, [])),
    ...secretProblems(`${path}.webhook.hmac`, webhook?.hmac),
    ...headerProblems(`${path}.webhook.headers`, webhook?.headers, []),
  ]
  if (slack === undefined && webhook === undefined) {
    return [problemOf('ReceiverTarget', { path: `${path}.webhook`, value: undefined, fix: 'add slack or webhook' })]
  }
  return slack === undefined || webhook === undefined
    ? own
    : [problemOf('ReceiverTarget', { path: `${path}.webhook`, value: { url: webhook.url } }), ...own]
}

function eventProblems(path: string, { events, remindAfter }: Receiver): readonly Problem[] {
  if (events === undefined) return []
  const at = `${path}.events`
  const twice = repeated(events).map((index) =>
    problemOf('ReceiverEvents', {
      path: `${at}[${index}]`,
      value: events[index],
      message: 'the event is listed twice',
      fix: 'remove one',
    }),
  )
  if (events.length === 0) {
    return [problemOf('ReceiverEvents', { path: at, value: events, message: 'the list is empty, so the receiver would get no events' })]
  }
  const reminded = events.includes('Reminder')
  if (reminded === (remindAfter !== undefined)) return twice
  return [...twice, reminded ? missingDelay(path) : missingEvent(path, remindAfter)]
}

function missingDelay(path: string): Problem {
  const message = 'events lists Reminder, which needs remindAfter'
  return problemOf('ReceiverReminder', {
    path: `${path}.remindAfter`,
    value: undefined,
    message,
    fix: 'add it, such as 30m, or remove Reminder from events',
  })
}

function missingEvent(path: string, remindAfter: string | undefined): Problem {
  const message = 'events does not list Reminder, so no reminder is sent'
  return problemOf('ReceiverReminder', {
    path: `${path}.remindAfter`,
    value: remindAfter,
    message,
    fix: 'add Reminder to events, or remove it',
  })
}
