import type { Notification, ReleasePolicy } from '@tranche/api-schema'
import { foundPolicy, type NotifyView, planNotify, postponePatch, receiverTrouble, removalPatch } from '@tranche/planner'
import { applyPatch } from '@tranche/testing'
import { describe, expect, it } from 'vitest'
import { aReceiver, aRollout, aStatus, T0 } from './statuses.ts'

const found = foundPolicy(aPolicy(['a', 'b']))
const both = [waiting('1', 'a'), waiting('2', 'b'), waiting('3', 'a')]

describe('the next notification of a receiver', () => {
  const cases: Record<string, { view: Partial<NotifyView>; notifications?: readonly Notification[]; want: object }> = {
    'is the oldest': {
      view: { receiver: 'b' },
      want: { kind: 'notify', notification: both[1], receiver: { name: 'b' } },
    },
    'is absent if none is pending': { view: { receiver: 'c' }, want: { kind: 'wait', recheckAfterMs: null } },
    'is absent before the oldest is due again, so that the order is kept': {
      view: {},
      notifications: [waiting('1', 'a', { attempts: 1, nextAt: at(5_000) }), waiting('2', 'a')],
      want: { kind: 'wait', recheckAfterMs: 5_000 },
    },
    'is the oldest once it is due again': {
      view: { nowMs: T0 + 5_000 },
      notifications: [waiting('1', 'a', { attempts: 1, nextAt: at(5_000) })],
      want: { kind: 'notify', notification: { id: '1' } },
    },
    'waits no longer than the maximum back-off after the clock was set back': {
      view: {},
      notifications: [waiting('1', 'a', { attempts: 1, nextAt: at(3_600_000) })],
      want: { kind: 'notify' },
    },
    'is dropped where the policy no longer has the receiver': {
      view: { policy: foundPolicy(aPolicy(['b'])) },
      want: { kind: 'drop', notification: both[0] },
    },
    'is dropped where the Rollout no longer names a policy': { view: { policy: { kind: 'none' } }, want: { kind: 'drop' } },
    'waits for a missing policy': {
      view: { policy: { kind: 'missing', name: 'p' } },
      want: { kind: 'wait', recheckAfterMs: null },
    },
    'waits until policies are listed': { view: { policy: { kind: 'unseen', name: 'p' } }, want: { kind: 'wait', recheckAfterMs: null } },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, notifications = both, want }) => {
    const rollout = aRollout({ ...aStatus('StepPaused'), notifications })
    expect(planNotify({ rollout, policy: found, receiver: 'a', nowMs: T0, ...view })).toMatchObject(want)
  })
})

describe('the patch after an attempt', () => {
  const rollout = aRollout({ ...aStatus('StepPaused'), notifications: both })

  it('removes the delivered notification, and nothing else', () => {
    const reported = applyPatch(rollout, removalPatch(rollout, '2')!)
    expect(reported?.status?.notifications?.map(({ id }) => id)).toEqual(['1', '3'])
  })

  it('leaves no empty list', () => {
    const last = aRollout({ ...aStatus('StepPaused'), notifications: [both[0]!] })
    expect(applyPatch(last, removalPatch(last, '1')!)?.status).not.toHaveProperty('notifications')
  })

  it('is null where the notification is gone', () => {
    expect(removalPatch(rollout, '9')).toBeNull()
    expect(postponePatch(rollout, '9', { message: '', retryAfterMs: null }, T0)).toBeNull()
  })

  it.each([
    ['the list has moved', { ...rollout, status: { ...rollout.status!, notifications: both.slice(1) } }],
    ['the Rollout is another one', { ...rollout, metadata: { ...rollout.metadata, uid: 'other' } }],
  ])('is refused where %s', (_why, now) => {
    expect(applyPatch(now, removalPatch(rollout, '2')!)).toBeNull()
    expect(applyPatch(now, postponePatch(rollout, '2', { message: '', retryAfterMs: null }, T0)!)).toBeNull()
  })

  it('waits for something new after the last notification of the list, too', () => {
    const last = aRollout({ ...aStatus('StepPaused'), notifications: [both[0]!] })
    expect(applyPatch(rollout, removalPatch(last, '1')!)).toBeNull()
  })

  it.each([
    [0, null, 1_000],
    [1, null, 2_000],
    [8, null, 256_000],
    [9, null, 300_000],
    [2_000, null, 300_000],
    [0, 30_000, 30_000],
    [0, 86_400_000, 300_000],
  ])('after %i failed attempts, and a requested delay of %s ms, tries again in %i ms', (attempts, retryAfterMs, wantMs) => {
    const before = aRollout({ ...aStatus('StepPaused'), notifications: [waiting('1', 'a', { attempts, failingSince: at(-1) })] })
    const patch = postponePatch(before, '1', { message: 'x'.repeat(1_000), retryAfterMs }, T0)!
    expect(applyPatch(before, patch)?.status?.notifications).toEqual([
      waiting('1', 'a', { attempts: attempts + 1, nextAt: at(wantMs), failingSince: at(-1), error: `${'x'.repeat(255)}…` }),
    ])
  })
})

describe('the trouble with receivers', () => {
  it('is the failed attempts, since the first one, with the reason', () => {
    const failing = [
      waiting('1', 'b', { attempts: 3, failingSince: at(1_000), nextAt: at(9_000), error: 'webhook.url: later' }),
      waiting('2', 'b', { attempts: 9, failingSince: at(500), nextAt: at(8_000), error: 'webhook.url: sooner' }),
      waiting('3', 'gone', { attempts: 9 }),
    ]
    const rollouts = [...both, ...failing].map((one) => aRollout({ ...aStatus('StepPaused'), notifications: [one] }))
    expect(receiverTrouble(aPolicy(['a', 'b']), rollouts)).toEqual([
      { name: 'b', failingSince: at(500), message: 'spec.notify[1].webhook.url: later' },
    ])
  })
})

function waiting(id: string, receiver: string, fields: Partial<Notification> = {}): Notification {
  return { id, receiver, event: 'StepPaused', message: '', at: at(0), ...fields }
}

function aPolicy(receivers: readonly string[]): ReleasePolicy {
  return {
    metadata: { namespace: 'demo', name: 'p', uid: 'p', resourceVersion: '1' },
    spec: { notify: receivers.map((name) => aReceiver(name)) },
  }
}

function at(ms: number): string {
  return new Date(T0 + ms).toISOString()
}
