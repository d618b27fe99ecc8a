import { durationMs, type Receiver, type Rollout, type RolloutStatus } from '@tranche/api-schema'
import { parseTime } from '@tranche/kube-types'
import { isUnpaused, needsPerson } from './person-waits.ts'
import { stepsOf } from '../rollout/release/release-spec.ts'

/** A wait for a person. */
export interface Wait {
  /** Epoch milliseconds. */
  readonly sinceMs: number
}

/** Shortest interval between two reminders, in milliseconds; a shorter `remindAfter` counts as this. */
export const SHORTEST_REMINDER_MS = 60_000

/** The wait that the next status describes: a stall, a requested pause, a step without a duration, or a hold that only a person ends. */
export function waitOf(rollout: Rollout, next: RolloutStatus): Wait | null {
  const stalled = next.conditions?.find(({ type }) => type === 'Stalled')
  if (stalled?.status === 'True') return waitSince(stalled.lastTransitionTime)
  if (next.phase !== 'Progressing') return null
  const progressing = next.conditions?.find(({ type }) => type === 'Progressing')
  if (progressing?.reason === 'Paused') return waitSince(progressing.lastUpdateTime)
  if (next.waitingFor !== undefined && isUnpaused(next) && needsPerson(next.waitingFor.reason)) return waitSince(next.waitingFor.since)
  const { currentStepState, currentStepIndex = 0, lastUpdateTime } = next.canaryStatus ?? {}
  if (currentStepState !== 'StepPaused' || stepsOf(rollout)[currentStepIndex - 1]?.pause?.duration !== undefined) return null
  return waitSince(lastUpdateTime)
}

/** A start that is no time is unknown: the controller replaces it in its next pass. */
function waitSince(since: string | undefined): Wait | null {
  const sinceMs = parseTime(since)
  return sinceMs === null ? null : { sinceMs }
}

/**
 * Receivers due for a reminder: those whose `remindAfter` has elapsed again since the wait began or since the last reminder.
 * After hours without a controller, one reminder is sent.
 */
export function dueReminders(receivers: readonly Receiver[], wait: Wait, times: ReminderTimes): readonly Receiver[] {
  const lastMs = Math.max(wait.sinceMs, times.remindedMs ?? 0)
  return receivers.filter((receiver) => {
    const everyMs = reminderMs(receiver)
    return everyMs !== null && rounds(wait, everyMs, times.nowMs) > rounds(wait, everyMs, lastMs)
  })
}

/** Times of the last reminder and of now, in epoch milliseconds. */
export interface ReminderTimes {
  readonly remindedMs: number | null
  readonly nowMs: number
}

/** @returns milliseconds until the next reminder; null without one */
export function untilReminderMs(receivers: readonly Receiver[], wait: Wait, nowMs: number): number | null {
  const left = receivers.flatMap((receiver) => {
    const everyMs = reminderMs(receiver)
    return everyMs === null ? [] : [wait.sinceMs + (rounds(wait, everyMs, nowMs) + 1) * everyMs - nowMs]
  })
  return left.length === 0 ? null : Math.min(...left)
}

/** Null: this receiver gets no reminders. */
function reminderMs({ events, remindAfter }: Receiver): number | null {
  if (remindAfter === undefined || events?.includes('Reminder') === false) return null
  const ms = durationMs(remindAfter)
  return ms > 0 ? Math.max(ms, SHORTEST_REMINDER_MS) : null
}

/** Number of full `everyMs` intervals since the wait began. */
function rounds({ sinceMs }: Wait, everyMs: number, atMs: number): number {
  return Math.max(0, Math.floor((atMs - sinceMs) / everyMs))
}
