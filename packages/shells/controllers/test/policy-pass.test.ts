import type { ReleasePolicy } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { createPolicyPass, type PolicyPort } from '@tranche/controllers'
import { silentLogger } from '@tranche/telemetry'
import { applyPatch } from '@tranche/testing'
import { expect, it } from 'vitest'

type Unusable = Awaited<ReturnType<PolicyPort['examine']>>

const never = new AbortController().signal
const key = { namespace: 'demo', name: 'careful' }
const lacking = (secret: string): Unusable => [
  { rule: 'SecretUnusable', path: 'spec.notify[0].slack.url', value: secret, message: 'it is missing', fix: 'create it' },
]

it('a policy pass checks the references of a policy once per generation, and again after 30 s while one is missing', async () => {
  const world = policyWorld()
  await world.settle()
  expect([world.usable(), world.examined()]).toEqual(['True', 1])
  world.clock.advance(3_600_000)
  await world.settle()
  expect(world.examined()).toBe(1)

  world.change({ maxUnavailable: 3 })
  world.unusable = lacking('slack')
  const { recheckAfterMs } = await world.settle()
  expect([world.usable(), world.examined(), recheckAfterMs]).toEqual(['False', 2, 30_000])
  world.clock.advance(29_999)
  expect((await world.settle()).recheckAfterMs).toBe(1)
  expect(world.examined()).toBe(2)
  world.unusable = []
  world.clock.advance(1)
  await world.settle()
  expect([world.usable(), world.examined()]).toEqual(['True', 3])
})

it('a policy pass reports since when a reference is missing, and writes only changes', async () => {
  const world = policyWorld()
  world.unusable = lacking('slack')
  await world.settle()
  const since = world.condition('Usable').lastTransitionTime
  const writes = world.writes()
  world.clock.advance(30_000)
  await world.settle()
  expect(world.writes()).toBe(writes)
  world.unusable = lacking('pager')
  world.clock.advance(30_000)
  await world.settle()
  expect(world.condition('Usable')).toMatchObject({
    message: 'spec.notify[0].slack.url is "pager": it is missing; create it',
    lastTransitionTime: since,
  })
})

it('a policy pass checks no references while fields are unreadable, and all of them while only rules are broken', async () => {
  const world = policyWorld()
  world.change({ soak: { step: 30 } } as never)
  await world.settle()
  expect([world.usable(), world.condition('Valid').status, world.examined()]).toEqual(['Unknown', 'False', 0])
  expect(world.status().failureAction).toBeUndefined()
  world.change({ soak: { step: 'soon' }, failure: { action: 'Rollback' } })
  world.unusable = lacking('slack')
  await world.settle()
  expect([world.usable(), world.condition('Valid').status, world.status().failureAction]).toEqual(['False', 'False', 'Rollback'])
})

function policyWorld() {
  const clock = new FakeClock()
  let policy: ReleasePolicy = { metadata: { ...key, uid: 'p1', resourceVersion: '1', generation: 1 }, spec: {} }
  let examined = 0
  let writes = 0
  const world = {
    clock,
    unusable: [] as Unusable,
    examined: () => examined,
    writes: () => writes,
    status: () => policy.status!,
    condition: (type: string) => policy.status!.conditions!.find((one) => one.type === type)!,
    usable: () => world.condition('Usable').status,
    change(spec: ReleasePolicy['spec']) {
      const { metadata } = policy
      policy = { ...policy, metadata: { ...metadata, generation: metadata.generation! + 1 }, spec }
    },
    /** Passes until nothing is written any more. */
    async settle() {
      for (;;) {
        const before = writes
        const outcome = await pass(key, never, silentLogger)
        if (writes === before) return { recheckAfterMs: outcome.kind === 'recheckAfter' ? outcome.ms : null }
      }
    },
  }
  const cluster: PolicyPort = {
    read: () => ({ policy, rollouts: [] }),
    async examine() {
      examined++
      return world.unusable
    },
    async patchStatus(read, patch) {
      writes++
      policy = applyPatch(read, patch) ?? policy
    },
  }
  const pass = createPolicyPass({ cluster, clock })
  return world
}
