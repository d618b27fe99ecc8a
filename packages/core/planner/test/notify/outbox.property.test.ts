import { NOTIFICATIONS_MAX, type Notification, type NotifyEvent, type RolloutStatus } from '@tranche/api-schema'
import { withNotifications } from '@tranche/planner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aReceiver, aRollout, aStatus, T0 } from './statuses.ts'

const news: readonly NotifyEvent[] = ['ReleaseStarted', 'ReleaseCompleted', 'RollbackStarted', 'RollbackCompleted']

describe('the outbox, for every number of waiting notifications (G7)', () => {
  it('is bounded, drops notifications without an action first, from the longest queue, and says how many', () => {
    fc.assert(
      fc.property(fc.array(waiting(), { minLength: 40, maxLength: 80, size: 'max' }), (all) => {
        const notifications = all.map((one, at) => ({ ...one, id: String(at) }))
        const before = aStatus('StepUpgrade')
        const { status } = withNotifications({ ...aStatus('StepPaused'), notifications }, outboxOf(before))
        const kept = status.notifications ?? []
        const appended = notifications.length + 1
        expect(kept.length).toBe(Math.min(NOTIFICATIONS_MAX, appended))
        expect(kept.length + sum(kept.map(({ dropped = 0 }) => dropped))).toBe(appended)
        const lost = notifications.filter(({ id }) => !kept.some((one) => one.id === id))
        const most = Math.max(...[...Map.groupBy(kept, ({ receiver }) => receiver).values()].map((queue) => queue.length))
        for (const { receiver, event, id } of lost) {
          const own = kept.filter((one) => one.receiver === receiver)
          expect(own.length).toBeGreaterThanOrEqual(most - 1)
          if (!news.includes(event)) expect(own.filter((one) => Number(one.id) < Number(id) || news.includes(one.event))).toEqual([])
        }
      }),
      { numRuns: 300 },
    )
  })

  it('keeps the order of events for each receiver', () => {
    fc.assert(
      fc.property(fc.array(waiting(), { minLength: 40, maxLength: 80, size: 'max' }), (all) => {
        const notifications = all.map((one, at) => ({ ...one, id: String(at) }))
        const { status } = withNotifications({ ...aStatus('StepPaused'), notifications }, outboxOf(aStatus('StepUpgrade')))
        const ids = (status.notifications ?? []).slice(0, -1).map(({ id }) => Number(id))
        expect(ids).toEqual(ids.toSorted((a, b) => a - b))
      }),
      { numRuns: 100 },
    )
  })
})

function outboxOf(before: RolloutStatus): Parameters<typeof withNotifications>[1] {
  return { rollout: aRollout(before), receivers: [aReceiver('new')], nowMs: T0 }
}

function waiting(): fc.Arbitrary<Omit<Notification, 'id'>> {
  return fc.record({
    receiver: fc.constantFrom('a', 'a', 'a', 'b', 'c'),
    event: fc.constantFrom<NotifyEvent>('ReleaseStarted', 'StepPaused', 'Stalled', 'ReleaseCompleted'),
    message: fc.constant(''),
    at: fc.constant('2026-01-01T00:00:00Z'),
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
