import type { ReleasePolicy } from '@tranche/api-schema'
import { afterEach, expect, it } from 'vitest'
import { untilPausedAt, untilReleased } from './looks.ts'
import { applyRefusedPolicy, policyOf } from './policies.ts'
import { createReceivers, type Receivers } from './receivers.ts'
import { createRequestLog } from './requests.ts'
import { setStage, type Stage, type StageOptions } from './stage.ts'

let stage: Stage
let receivers: Receivers
afterEach(() => stage.end())

const HOUR_MS = 3_600_000
const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]

it('receivers are notified of a release from start to end, each of its selected events', async () => {
  await set({ notify: [to('all'), { ...to('pauses'), events: ['StepPaused'] }] })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(eventsOf('all')).toEqual(['ReleaseStarted', 'StepPaused', 'ReleaseCompleted'])
  expect(eventsOf('pauses')).toEqual(['StepPaused'])
  expect(receivers.heard[1]?.message).toContain('step 1 of 2 (50%) is ready and waits for approval')
  expect(await waiting()).toBe(0)
})

it('a receiver that is down for an hour gets every notification in order when it is back, and delays no other receiver (G7)', async () => {
  await set({ notify: [to('down'), to('up')] })
  receivers.down('down')
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const sinceMs = stage.clock.nowMs()
  await stage.pass(HOUR_MS / 2)
  await stage.approve()
  await untilReleased(stage, 'v2')
  await stage.pass(HOUR_MS / 2)

  expect(eventsOf('up')).toEqual(['ReleaseStarted', 'StepPaused', 'ReleaseCompleted'])
  expect(receivers.heard.filter(({ event }) => event === 'StepPaused').every(({ atMs }) => atMs - sinceMs < 1_000)).toBe(true)
  expect(await waiting()).toBe(3)
  // Retries after 1 s, 2 s, … 256 s, then every five minutes.
  expect(receivers.asked()).toBeLessThanOrEqual(3 + 9 + 12)
  expect((await policyOf(stage)).status?.receivers).toEqual([
    {
      name: 'down',
      failingSince: expect.stringMatching(/^2023/),
      message: 'spec.notify[0].webhook.url: hooks.example.com cannot be reached: ECONNREFUSED',
    },
  ])

  receivers.up('down')
  await stage.until('nothing is pending', async () => (await waiting()) === 0)
  expect(eventsOf('down')).toEqual(eventsOf('up'))
  await stage.until('the policy is updated', async () => (await policyOf(stage)).status?.receivers === undefined)
})

it('after a controller ends between a notification and its record, the notification is repeated with the same id, and no other (G7)', async () => {
  const pendingFailpoints = new Set(['notify.notify.after', 'notify.patchStatus.before'])
  await set(
    { notify: [to('all')] },
    {
      controllers: ['controller-1', 'controller-2'],
      onPoint({ stage: there, point, process, identity }) {
        if (!pendingFailpoints.delete(point)) return
        process.freeze()
        there.clock.setTimer(50, () => void there.startController(`${identity}x`))
      },
    },
  )
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.until('nothing is pending', async () => (await waiting()) === 0)
  expect(pendingFailpoints.size).toBe(0)
  expect(eventsOf('all').length).toBeGreaterThan(2)
  expect([...new Map(receivers.heard.map(({ id, event }) => [id, event])).values()]).toEqual(['ReleaseStarted', 'StepPaused'])
})

it('a pause causes no requests until a reminder is due, and then two for each reminder', async () => {
  const log = createRequestLog()
  await set({ notify: [{ ...to('all'), remindAfter: '1h' }] }, { tap: log.tap })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.pass(60_000)
  log.reset()
  const writes = (): readonly string[] =>
    log.sent().flatMap(({ what }) => (what.startsWith('WATCH') || what.includes('/openapi/') ? [] : [what]))
  await stage.pass(HOUR_MS - 120_000)
  expect(writes()).toEqual([])
  expect(receivers.asked()).toBe(2)
  await stage.pass(120_000)
  expect(writes()).toHaveLength(2)
  expect(eventsOf('all')).toEqual(['ReleaseStarted', 'StepPaused', 'Reminder'])
  await stage.pass(2 * HOUR_MS)
  expect(eventsOf('all').slice(3)).toEqual(['Reminder', 'Reminder'])
  await stage.approve()
  await untilReleased(stage, 'v2')
  await stage.pass(2 * HOUR_MS)
  expect(eventsOf('all').slice(5)).toEqual(['ReleaseCompleted'])
})

it('pending notifications of a removed receiver are dropped, and an invalid policy still notifies', async () => {
  await set({ notify: [to('gone'), to('all')] })
  receivers.down('gone')
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  expect(await waiting()).toBe(2)
  await applyRefusedPolicy(stage, { notify: [to('all')], soak: { step: 'soon' } })
  await stage.until('nothing is pending', async () => (await waiting()) === 0)
  await stage.until('it is reported', () => eventsOf('all').includes('Stalled'))
  expect(receivers.heard.at(-1)?.message).toContain('spec.soak.step is "soon"')
  expect(eventsOf('gone')).toEqual([])
})

async function set(policy: ReleasePolicy['spec'], options: StageOptions = {}): Promise<void> {
  let made: Receivers | undefined
  stage = await setStage({
    nodes: 4,
    steps,
    policy,
    // All controllers of a stage reach the same receivers.
    egress: (clock) => (made ??= createReceivers(() => clock.nowMs())).egress,
    ...options,
  })
  if (made === undefined) throw new Error('no controller was started')
  receivers = made
}

function to(name: string): NonNullable<ReleasePolicy['spec']['notify']>[number] {
  return { name, webhook: { url: `https://hooks.example.com/${name}` } }
}

function eventsOf(receiver: string): readonly string[] {
  return receivers.heard.filter((one) => one.receiver === receiver).map(({ event }) => event)
}

async function waiting(): Promise<number> {
  return (await stage.rollout()).status?.notifications?.length ?? 0
}
