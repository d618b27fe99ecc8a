import type { Notification, Receiver, Rollout } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import { parseTime, clipText } from '@tranche/kube-types'
import type { PolicyReading } from '../rollout/view/release-policy.ts'

/** Everything one pass over one receiver of one Rollout has read. */
export interface NotifyView {
  readonly rollout: Rollout
  readonly policy: PolicyReading
  /** Name of the receiver. */
  readonly receiver: string
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** The next action of a pass over a receiver. */
export type NotifyPlan =
  | { readonly kind: 'notify'; readonly notification: Notification; readonly receiver: Receiver }
  /** The receiver no longer exists. */
  | { readonly kind: 'drop'; readonly notification: Notification }
  /** `recheckAfterMs` null: until something changes. */
  | { readonly kind: 'wait'; readonly recheckAfterMs: number | null }

/** Shortest wait between two attempts, in milliseconds. */
export const FIRST_BACK_OFF_MS = 1_000
/** Longest wait between two attempts, in milliseconds. */
export const LONGEST_BACK_OFF_MS = 300_000
/** Maximum length of a stored error, in characters. */
const ERROR_MAX = 256

/** Decides the next notification of a receiver: always its oldest, so that it gets all of them in order. Pure. */
export function planNotify(view: NotifyView): NotifyPlan {
  const notification = view.rollout.status?.notifications?.find(({ receiver }) => receiver === view.receiver)
  if (notification === undefined) return { kind: 'wait', recheckAfterMs: null }
  const receiver = receiverOf(view)
  if (receiver === 'notKnown') return { kind: 'wait', recheckAfterMs: null }
  if (receiver === null) return { kind: 'drop', notification }
  const leftMs = untilNextMs(notification, view.nowMs)
  return leftMs > 0 ? { kind: 'wait', recheckAfterMs: leftMs } : { kind: 'notify', notification, receiver }
}

/** A missing policy may come back: its notifications wait for it, as the release does. */
function receiverOf({ policy, receiver }: NotifyView): Receiver | null | 'notKnown' {
  if (policy.kind === 'none') return null
  if (policy.kind !== 'found') return 'notKnown'
  return receiversOf(policy).find(({ name }) => name === receiver) ?? null
}

/** Receivers that a policy names. Those of an invalid policy are included: they are notified that it is invalid. */
export function receiversOf(policy: PolicyReading): readonly Receiver[] {
  return policy.kind === 'found' ? (policy.policy.spec.notify ?? []) : []
}

/** A moment further away than the longest back-off was written before the clock was set back. */
function untilNextMs({ nextAt }: Notification, nowMs: number): number {
  const nextMs = parseTime(nextAt)
  if (nextMs === null) return 0
  const leftMs = nextMs - nowMs
  return leftMs > LONGEST_BACK_OFF_MS ? 0 : leftMs
}

/** Why a notification could not be delivered. */
export interface NotifyFailure {
  /** For a person, with the fix. */
  readonly message: string
  /** Delay that the receiver asked for, in milliseconds; null: none. */
  readonly retryAfterMs: number | null
}

/** @returns the patch that removes a notification; null where it is gone */
export function removalPatch({ metadata, status }: Rollout, id: string): readonly PatchOperation[] | null {
  const all = status?.notifications ?? []
  const index = all.findIndex((one) => one.id === id)
  if (index === -1) return null
  const uid = { op: 'test', path: '/metadata/uid', value: metadata.uid } as const
  // An empty list is removed.
  if (all.length === 1)
    return [uid, { op: 'test', path: '/status/notifications', value: all }, { op: 'remove', path: '/status/notifications' }]
  const path = `/status/notifications/${index}`
  return [uid, { op: 'test', path: `${path}/id`, value: id }, { op: 'remove', path }]
}

/** @returns the patch that records a failed attempt and the time of the next; null where the notification is gone */
export function postponePatch(
  { metadata, status }: Rollout,
  id: string,
  failure: NotifyFailure,
  nowMs: number,
): readonly PatchOperation[] | null {
  const index = status?.notifications?.findIndex((one) => one.id === id) ?? -1
  const notification = status?.notifications?.[index]
  if (notification === undefined) return null
  const attempts = (notification.attempts ?? 0) + 1
  const waitMs = Math.max(backOffMs(attempts), Math.min(failure.retryAfterMs ?? 0, LONGEST_BACK_OFF_MS))
  const value: Notification = {
    ...notification,
    attempts,
    nextAt: new Date(nowMs + waitMs).toISOString(),
    failingSince: notification.failingSince ?? new Date(nowMs).toISOString(),
    error: clipText(failure.message, ERROR_MAX),
  }
  const path = `/status/notifications/${index}`
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: `${path}/id`, value: id },
    { op: 'replace', path, value },
  ]
}

/** 1 s, then twice as long each time, at most 5 minutes. `attempts` from 1. */
function backOffMs(attempts: number): number {
  return Math.min(FIRST_BACK_OFF_MS * 2 ** (attempts - 1), LONGEST_BACK_OFF_MS)
}
