import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GroupWorld, releaseNames } from './group-world.ts'

type Step =
  /** A controller freezes in a pass over a release that is about to open; the release changes, the other controller acts, and it thaws. */
  | {
      readonly kind: 'overtake'
      readonly name: string
      readonly before: number
      readonly calls: number
      readonly change: 'pause' | 'delete' | 'leave'
      readonly after: number
    }
  /** Starts a pass of a controller, and lets some of its calls take effect; there it freezes. */
  | { readonly kind: 'freeze'; readonly controller: number; readonly name: string; readonly calls: number; readonly lag: number }
  /** A controller makes whole passes over every release, while pods settle; the other one is frozen. */
  | { readonly kind: 'act'; readonly controller: number; readonly rounds: number }
  /** Calls of both controllers take effect in any order. */
  | { readonly kind: 'thaw'; readonly picks: readonly number[] }
  | { readonly kind: 'execute'; readonly name: string; readonly what: 'append' | 'delete' | 'settle'; readonly node: string }
  | { readonly kind: 'pause'; readonly name: string; readonly paused: boolean }
  | { readonly kind: 'group'; readonly name: string; readonly group: string | undefined }
  | { readonly kind: 'delete' | 'create'; readonly name: string }
  | { readonly kind: 'time'; readonly ms: number }

describe('two controllers that both act on the releases of a group', () => {
  it('never open two of them at a time, wherever one of them freezes (G13, G7, G8)', async () => {
    let opened = 0
    await fc.assert(
      fc.asyncProperty(fc.array(steps(), { minLength: 6, maxLength: 20, size: 'max' }), async (story) => {
        const world = new GroupWorld()
        for (const step of story) await take(world, step)
        opened += world.opened
        expect(world.breaches).toEqual([])
      }),
      { numRuns: 600 },
    )
    expect(opened).toBeGreaterThan(500)
  })

  it('let every release have the group in the end, and leave no Lease of a release that is gone (G6)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps(), { maxLength: 60 }), async (story) => {
        const world = new GroupWorld()
        for (const step of story) await take(world, step)
        await endAll(world)
        expect(world.leases.size).toBe(0)
        expect(world.breaches).toEqual([])
      }),
      { numRuns: 60, examples: [[markedAgain]] },
    )
  })
})

/** One release took the mark off the Lease that it needs, and another one put it on again, in turns for ever. */
const markedAgain: Step[] = [
  { kind: 'overtake', name: 'b', before: 1, calls: 1, change: 'delete', after: 1 },
  { kind: 'overtake', name: 'a', before: 1, calls: 1, change: 'pause', after: 1 },
  { kind: 'overtake', name: 'c', before: 1, calls: 1, change: 'pause', after: 1 },
  { kind: 'act', controller: 0, rounds: 3 },
  { kind: 'overtake', name: 'a', before: 2, calls: 3, change: 'pause', after: 1 },
]

function steps(): fc.Arbitrary<Step> {
  const name = fc.constantFrom(...releaseNames)
  const controller = fc.constantFrom(0, 1)
  const calls = fc.integer({ min: 1, max: 14 })
  const node = fc.constantFrom('a', 'b')
  const what = fc.constantFrom('append' as const, 'delete' as const, 'settle' as const)
  const change = fc.constantFrom('pause' as const, 'pause' as const, 'delete' as const, 'leave' as const)
  const rounds = fc.integer({ min: 1, max: 6 })
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('overtake' as const), name, before: rounds, calls, change, after: rounds }) },
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('freeze' as const), controller, name, calls, lag: fc.constantFrom(0, 0, 1, 4) }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('act' as const), controller, rounds: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('thaw' as const), picks: fc.array(fc.nat(1_000), { maxLength: 20 }) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('execute' as const), name, what, node }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('pause' as const), name, paused: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('group' as const), name, group: fc.constantFrom('agents', 'agents', undefined) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'create' as const, 'create' as const), name }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1_000, 40_000) }) },
  )
}

async function take(world: GroupWorld, step: Step): Promise<void> {
  switch (step.kind) {
    case 'overtake':
      return overtake(world, step)
    case 'freeze':
      world.start(step.controller, step.name, step.lag)
      for (let call = 0; call < step.calls; call++) await world.proceed(-1, 1 - step.controller)
      return
    case 'act':
      for (let round = 0; round < step.rounds; round++) await act(world, step.controller)
      return
    case 'thaw':
      for (const pick of step.picks) await world.proceed(pick, null)
      return
    case 'execute':
      return world.execute(step.name, step.what, step.node)
    case 'pause':
      return setTranche(world, step.name, { paused: step.paused })
    case 'group':
      return setTranche(world, step.name, { downtime: step.group === undefined ? undefined : { group: step.group } })
    case 'delete':
      return world.change(step.name, (release) => ({
        ...release,
        metadata: { ...release.metadata, deletionTimestamp: new Date(world.clock.nowMs()).toISOString() },
      }))
    case 'create':
      return world.create(step.name)
    case 'time':
      return world.clock.advance(step.ms)
    default:
      return step satisfies never
  }
}

async function overtake(world: GroupWorld, { name, before, calls, change, after }: Step & { kind: 'overtake' }): Promise<void> {
  world.create(name)
  setTranche(world, name, { paused: false, downtime: { group: 'agents' } })
  for (let round = 0; round < before; round++) await act(world, 0)
  await take(world, { kind: 'freeze', controller: 1, name, calls, lag: 0 })
  if (change === 'pause') setTranche(world, name, { paused: true })
  else if (change === 'leave') setTranche(world, name, { downtime: undefined })
  else await take(world, { kind: 'delete', name })
  for (let round = 0; round < after; round++) await act(world, 0)
  await take(world, { kind: 'thaw', picks: [0, 0, 0, 0, 0, 0] })
}

async function act(world: GroupWorld, controller: number): Promise<void> {
  for (const name of releaseNames) {
    world.execute(name, 'settle', 'a')
    world.start(controller, name, 0)
    for (let call = 0; call < 40 && world.pendingOf(controller) > 0; call++) await world.proceed(call, 1 - controller)
  }
  world.clock.advance(200)
}

function setTranche(world: GroupWorld, name: string, change: object): void {
  world.change(name, (release) => ({ ...release, spec: { ...release.spec, tranche: { ...release.spec.tranche, ...change } } }))
}

/** Everything thaws; then each release is deleted in turn, while one controller acts and executors settle. */
async function endAll(world: GroupWorld): Promise<void> {
  for (const name of releaseNames) {
    world.create(name)
    setTranche(world, name, { paused: false, downtime: { group: 'agents' } })
  }
  for (let round = 0; round < 400; round++) {
    for (const name of releaseNames) {
      world.execute(name, 'settle', 'a')
      world.start(0, name, 0)
      if (world.stored.get(name)?.release.status?.flight?.state === 'open') await take(world, { kind: 'delete', name })
    }
    for (let call = 0; call < 12; call++) await world.proceed(0, null)
    world.clock.advance(1_000)
    if (world.stored.size === 0 && world.pending === 0) return
  }
  throw new Error(`not ended: ${JSON.stringify([...world.stored].map(([name, { release }]) => [name, release.status]))}`)
}
