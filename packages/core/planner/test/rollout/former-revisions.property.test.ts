import fc from 'fast-check'
import { expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

type Change = (fake: FakeCluster, at: number) => void

const image = fc.integer({ min: 1, max: 4 }).map<Change>((version) => (fake) => fake.setImage(`v${version}`))
const machine = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.boolean()).map<Change>(([node, ready]) => (fake) => {
  fake.nodes.set(`node-${node}`, { ready, bad: !ready })
})
const action = fc
  .constantFrom('promote', 'promote', 'abort', 'retry')
  .map<Change>((type) => (fake, at) => fake.act({ id: `${type}-${at}`, type }))
const others = fc.constantFrom<Change>(
  (fake) => fake.pause(fake.rollout?.spec.strategy.paused !== true),
  (fake) => fake.editRollout((spec) => ({ ...spec, disabled: spec.disabled !== true })),
)
const change = fc.oneof({ weight: 4, arbitrary: image }, { weight: 3, arbitrary: machine }, { weight: 4, arbitrary: action }, others)

it('a revision whose release ended without completing is no former one, before another release of it completes (G1)', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 3, maxLength: 10 }), fc.constantFrom('binding', 'release'), (changes, scope) => {
      const fake = new FakeCluster({ nodes: 6, steps: [{ replicas: '40%', pause: {} }, { replicas: '100%' }], maxUnavailable: 3, scope })
      const ended = new Set<string>()
      let released: string | undefined
      let stable: string | undefined
      const look = (): void => {
        const { status } = fake.rollout ?? {}
        const now = status?.canaryStatus?.canaryRevision
        if (released !== undefined && ![now, stable, status?.stableRevision].includes(released)) ended.add(released)
        released = now
        stable = status?.stableRevision
        if (status?.phase === 'Healthy') ended.delete(status.stableRevision ?? '')
        const former = [...(status?.formerRevisions ?? []), ...(fake.release?.spec.tranche?.formerRevisions ?? [])]
        expect(former.filter((revision) => ended.has(revision) && revision !== fake.release?.spec.tranche?.canaryRevision)).toEqual([])
      }
      settle(fake, look)
      changes.forEach((one, at) => {
        one(fake, at)
        settle(fake, look)
      })
    }),
    { numRuns: 40 },
  )
})
