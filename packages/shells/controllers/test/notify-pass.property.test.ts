import { foundPolicy } from '@tranche/planner'
import type { Notification, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { createNotifyPass, type NotifyPort, receiverKey, type NotifyResult } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import { silentLogger } from '@tranche/telemetry'
import type { Reconcile } from '@tranche/reconcile'
import { applyPatch } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

// One API server, processes that die at any call, receivers that come and go, and a watch that may be behind.

type Step =
  | {
      readonly kind: 'pass'
      readonly receiver: string
      readonly diesAt: 'nowhere' | 'beforeTelling' | 'afterTelling' | 'beforeWriting' | 'afterWriting'
    }
  | { readonly kind: 'happens'; readonly receiver: string }
  | { readonly kind: 'turns'; readonly receiver: string; readonly isUp: boolean }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'behind' }

const receivers = ['a', 'b', 'c']

describe('passes over receivers, with crashes and outages (G7)', () => {
  it('send every message at least once, to each receiver in order, with one id and one text each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps(), { maxLength: 60, size: 'max' }), async (all) => {
        const world = createWorld()
        for (const step of all) await world.take(step)
        await world.settle()
        for (const receiver of receivers) {
          const first = [...new Set(world.reported.filter((one) => one.receiver === receiver).map(({ id }) => id))]
          expect(first).toEqual(world.happened.filter((one) => one.receiver === receiver).map(({ id }) => id))
        }
        const texts = new Map(world.reported.map(({ id, message }) => [id, message]))
        expect(world.reported.every(({ id, message }) => texts.get(id) === message)).toBe(true)
        expect(world.rollout().status?.notifications).toBeUndefined()
      }),
      { numRuns: 200 },
    )
  })

  it('send each message once if no process dies, even if the API server refuses the result', async () => {
    const world = createWorld()
    await world.take({ kind: 'happens', receiver: 'a' })
    await world.take({ kind: 'behind' })
    await world.take({ kind: 'happens', receiver: 'b' })
    await world.take({ kind: 'pass', receiver: 'a', diesAt: 'nowhere' })
    expect(world.rollout().status?.notifications?.length).toBe(2)
    await world.settle()
    expect(world.reported.map(({ receiver }) => receiver)).toEqual(['a', 'b'])
  })

  it('do not delay other receivers while one is down', async () => {
    const world = createWorld()
    await world.take({ kind: 'turns', receiver: 'a', isUp: false })
    for (const receiver of ['a', 'b', 'a', 'b']) await world.take({ kind: 'happens', receiver })
    for (const receiver of ['a', 'b', 'a', 'b']) await world.take({ kind: 'pass', receiver, diesAt: 'nowhere' })
    expect(world.reported.map(({ id }) => id)).toEqual(['1', '3'])
    expect(world.rollout().status?.notifications?.map(({ id, attempts = 0 }) => [id, attempts])).toEqual([
      ['0', 1],
      ['2', 0],
    ])
  })

  it('drop messages without a receiver', async () => {
    const world = createWorld()
    await world.take({ kind: 'happens', receiver: 'gone' })
    await world.take({ kind: 'pass', receiver: 'gone', diesAt: 'nowhere' })
    expect([world.reported, world.rollout().status?.notifications]).toEqual([[], undefined])
  })
})

function steps(): fc.Arbitrary<Step> {
  const receiver = fc.constantFrom(...receivers)
  const diesAt = fc.constantFrom('nowhere' as const, 'nowhere' as const, 'beforeTelling', 'afterTelling', 'beforeWriting', 'afterWriting')
  return fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass' as const), receiver, diesAt }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('happens' as const), receiver }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('turns' as const), receiver, isUp: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 0, max: 400_000 }) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'behind' as const }) },
  )
}

interface World {
  /** Messages that receivers have accepted, in order. */
  readonly reported: readonly Notification[]
  readonly happened: readonly Notification[]
  rollout(): Rollout
  take(step: Step): Promise<void>
  /** Restores every receiver and process, and runs passes until nothing waits. */
  settle(): Promise<void>
}

class Died extends Error {}

function createWorld(): World {
  const clock = new FakeClock()
  const reported: Notification[] = []
  const happened: Notification[] = []
  const down = new Set<string>()
  let stored = aRollout()
  let seen = stored
  let diesAt: (Step & { kind: 'pass' })['diesAt'] = 'nowhere'

  function store(rollout: Rollout): void {
    const isFollowed = seen === stored
    stored = { ...rollout, metadata: { ...rollout.metadata, resourceVersion: String(Number(stored.metadata.resourceVersion) + 1) } }
    if (isFollowed) seen = stored
  }

  function dieAt(point: typeof diesAt): void {
    if (diesAt === point) throw new Died(point)
  }

  const port: NotifyPort = {
    read: () => ({ rollout: seen, policy: foundPolicy(aPolicy()) }),
    async notify({ notification }): Promise<NotifyResult> {
      dieAt('beforeTelling')
      const refused = { kind: 'refused', message: 'webhook.url: down', retryAfterMs: null } as const
      if (!down.has(notification.receiver)) reported.push(notification)
      dieAt('afterTelling')
      return down.has(notification.receiver) ? refused : { kind: 'taken' }
    },
    async patchStatus(_rollout, patch) {
      dieAt('beforeWriting')
      const patched = applyPatch(stored, patch)
      if (patched !== null) store(patched)
      seen = stored
      if (patched === null) throw new AppError('WRITE_CONFLICT', 'changed')
      dieAt('afterWriting')
    },
  }

  function startProcess(): Reconcile {
    return createNotifyPass({ cluster: port, clock })
  }

  let pass = startProcess()

  async function run(receiver: string): Promise<void> {
    try {
      await pass(receiverKey({ namespace: 'demo', name: 'agent' }, receiver), new AbortController().signal, silentLogger)
    } catch (error) {
      if (error instanceof Died) {
        pass = startProcess()
        seen = stored
      } else if (!(error instanceof AppError)) throw error
    }
  }

  return {
    reported,
    happened,
    rollout: () => stored,
    async take(step) {
      if (step.kind === 'time') clock.advance(step.ms)
      if (step.kind === 'turns') down[step.isUp ? 'delete' : 'add'](step.receiver)
      if (step.kind === 'behind') seen = { ...stored }
      if (step.kind === 'happens') {
        const id = String(happened.length)
        happened.push({
          id,
          receiver: step.receiver,
          event: 'StepPaused',
          message: `text ${id}`,
          at: new Date(clock.nowMs()).toISOString(),
        })
        store({ ...stored, status: { ...stored.status!, notifications: [...(stored.status?.notifications ?? []), happened.at(-1)!] } })
      }
      if (step.kind !== 'pass') return
      diesAt = step.diesAt
      await run(step.receiver)
      diesAt = 'nowhere'
    },
    async settle() {
      down.clear()
      seen = stored
      for (let rounds = 0; stored.status?.notifications !== undefined; rounds++) {
        if (rounds > 200) throw new Error('it does not end')
        for (const receiver of receivers) await run(receiver)
        clock.advance(300_000)
      }
    },
  }
}

function aRollout(): Rollout {
  return {
    metadata: { namespace: 'demo', name: 'agent', uid: 'uid', resourceVersion: '1', generation: 1 },
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }, strategy: {} },
    status: { phase: 'Progressing', currentStepIndex: 1, currentStepState: 'StepUpgrade' },
  }
}

function aPolicy(): ReleasePolicy {
  return {
    metadata: { namespace: 'demo', name: 'p', uid: 'p', resourceVersion: '1' },
    spec: { notify: receivers.map((name) => ({ name, webhook: { url: 'https://hooks.example.com/' } })) },
  }
}
