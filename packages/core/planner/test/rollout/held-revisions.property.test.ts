import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const passes = fc.constantFrom('rollout', 'release', 'executor', 'native', 'all', 'time')
const operations = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('pass' as const), pass: passes }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('apply' as const), image: fc.constantFrom('v1', 'v2', 'v2', 'v3') }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('action' as const), type: fc.constantFrom('abort', 'abort', 'promote', 'retry') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('approve' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), paused: fc.boolean() }) },
)
type Operation = typeof operations extends fc.Arbitrary<infer D> ? D : never
const story = fc.record({
  scope: fc.constantFrom('binding' as const, 'release' as const),
  operations: fc.array(operations, { minLength: 20, maxLength: 90 }),
})

describe('a version that was rolled back', () => {
  it('has nothing deleted for it once it is stopped, whatever is applied again, until a user retries (G12, G9)', () => {
    let held = 0
    fc.assert(
      fc.property(story, ({ scope, operations: all }) => {
        const fake = new FakeCluster({
          scope,
          steps: [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }],
        })
        const sealed = new Set<string>()
        settle(fake)
        fake.setImage('v2')
        for (const [at, operation] of all.entries()) {
          act(fake, operation, at)
          checkSealed(fake, sealed)
        }
        settle(fake, () => checkSealed(fake, sealed))
        if (!sealed.has('hash-v2')) return
        held++
        const others = fake.pods.filter(({ hash }) => hash !== 'hash-v2').map(({ uid }) => uid)
        fake.setImage('v2')
        settle(fake, () => checkSealed(fake, sealed))
        if (sealed.has('hash-v2')) expect(fake.pods.map(({ uid }) => uid)).toEqual(expect.arrayContaining(others))
      }),
      { numRuns: 140 },
    )
    expect(held).toBeGreaterThan(5)
  })
})

/** A held and stopped revision stays stopped for as long as it is held. */
function checkSealed({ rollout, release }: FakeCluster, sealed: Set<string>): void {
  const held = new Set((rollout?.status?.heldRevisions ?? []).flatMap(({ revision }) => (revision === undefined ? [] : [revision])))
  for (const revision of sealed) if (!held.has(revision)) sealed.delete(revision)
  const record = release?.status?.flight
  const open = record?.state === 'open' ? record.revision : null
  if (open !== null) expect([...sealed], 'held and open').not.toContain(open)
  // Between the answer to the action and its arrival in the BatchRelease, the former allowance is in force.
  const isReported = release === undefined || release.spec.tranche?.hold?.reason === 'RevisionHeld'
  for (const revision of held) if (isReported && revision !== open) sealed.add(revision)
}

function act(fake: FakeCluster, operation: Operation, at: number): void {
  fake.nowMs += 10
  switch (operation.kind) {
    case 'pass':
      return pass(fake, operation.pass)
    case 'apply':
      return fake.setImage(operation.image)
    case 'action':
      return fake.act({
        id: `action-${at}`,
        type: operation.type,
        by: 'alice',
        expectedStep: fake.rollout?.status?.canaryStatus?.currentStepIndex ?? 1,
      })
    case 'approve':
      return fake.setCanaryStatus({ currentStepState: 'StepReady' })
    case 'pause':
      return fake.pause(operation.paused)
  }
}

function pass(fake: FakeCluster, actor: typeof passes extends fc.Arbitrary<infer P> ? P : never): void {
  if (actor === 'rollout' || actor === 'all') fake.passRollout()
  if (actor === 'release' || actor === 'all') fake.passRelease()
  if (actor === 'executor' || actor === 'all') fake.passExecutor()
  if (actor === 'native' || actor === 'all') fake.actNatively()
  if (actor === 'time') fake.nowMs += 5_000
}
