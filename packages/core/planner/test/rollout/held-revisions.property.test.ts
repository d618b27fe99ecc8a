import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

const passes = fc.constantFrom('rollout', 'release', 'executor', 'native', 'all', 'time')
const deeds = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('pass' as const), pass: passes }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('apply' as const), image: fc.constantFrom('v1', 'v2', 'v2', 'v3') }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('action' as const), type: fc.constantFrom('abort', 'abort', 'promote', 'retry') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('approve' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), paused: fc.boolean() }) },
)
type Deed = typeof deeds extends fc.Arbitrary<infer D> ? D : never
const story = fc.record({
  scope: fc.constantFrom('binding' as const, 'release' as const),
  deeds: fc.array(deeds, { minLength: 20, maxLength: 90 }),
})

describe('a version that was taken back', () => {
  it('has nothing deleted for it once it is stopped, whatever is applied again, until somebody says retry (G12, G9)', () => {
    let held = 0
    fc.assert(
      fc.property(story, ({ scope, deeds: all }) => {
        const toy = new ToyCluster({ scope, steps: [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }] })
        const sealed = new Set<string>()
        settle(toy)
        toy.setImage('v2')
        for (const [at, deed] of all.entries()) {
          act(toy, deed, at)
          checkSealed(toy, sealed)
        }
        settle(toy, () => checkSealed(toy, sealed))
        if (!sealed.has('hash-v2')) return
        held++
        const others = toy.pods.filter(({ hash }) => hash !== 'hash-v2').map(({ uid }) => uid)
        toy.setImage('v2')
        settle(toy, () => checkSealed(toy, sealed))
        if (sealed.has('hash-v2')) expect(toy.pods.map(({ uid }) => uid)).toEqual(expect.arrayContaining(others))
      }),
      { numRuns: 140 },
    )
    expect(held).toBeGreaterThan(5)
  })
})

/** What is held and stopped stays stopped for as long as it is held. */
function checkSealed({ rollout, release }: ToyCluster, sealed: Set<string>): void {
  const held = new Set((rollout?.status?.heldRevisions ?? []).flatMap(({ revision }) => (revision === undefined ? [] : [revision])))
  for (const revision of sealed) if (!held.has(revision)) sealed.delete(revision)
  const record = release?.status?.flight
  const open = record?.state === 'open' ? record.revision : null
  if (open !== null) expect([...sealed], 'held and open').not.toContain(open)
  // Between the answer to the action and the BatchRelease that has it, what was allowed still is.
  const isReported = release === undefined || release.spec.tranche?.hold?.reason === 'RevisionHeld'
  for (const revision of held) if (isReported && revision !== open) sealed.add(revision)
}

function act(toy: ToyCluster, deed: Deed, at: number): void {
  toy.nowMs += 10
  switch (deed.kind) {
    case 'pass':
      return pass(toy, deed.pass)
    case 'apply':
      return toy.setImage(deed.image)
    case 'action':
      return toy.act({
        id: `action-${at}`,
        type: deed.type,
        by: 'alice',
        expectedStep: toy.rollout?.status?.canaryStatus?.currentStepIndex ?? 1,
      })
    case 'approve':
      return toy.setCanaryStatus({ currentStepState: 'StepReady' })
    case 'pause':
      return toy.pause(deed.paused)
  }
}

function pass(toy: ToyCluster, actor: typeof passes extends fc.Arbitrary<infer P> ? P : never): void {
  if (actor === 'rollout' || actor === 'all') toy.passRollout()
  if (actor === 'release' || actor === 'all') toy.passRelease()
  if (actor === 'executor' || actor === 'all') toy.passExecutor()
  if (actor === 'native' || actor === 'all') toy.actNatively()
  if (actor === 'time') toy.nowMs += 5_000
}
