import type { RolloutStep } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { strategyOf } from '@tranche/planner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectSameWithoutMessages } from './without-messages.ts'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const actors = ['passRollout', 'passRelease', 'passExecutor', 'actNatively'] as const
type Actor = (typeof actors)[number]

/** Next actor: each acts for one write, so every crash between two writes is covered by some order. */
const acting = fc.record({
  kind: fc.constant('act' as const),
  actor: fc.constantFrom<Actor>(...actors),
  times: fc.integer({ min: 1, max: 6 }),
})
const node = fc.integer({ min: 0, max: 4 }).map((at) => `node-${at}`)
const plans: RolloutStep[][] = [
  [{ replicas: '100%' }],
  [{ replicas: 1, pause: {} }, { replicas: '60%', pause: { duration: 5 } }, { replicas: '100%' }],
  [
    { replicas: '20%', pause: {} },
    { replicas: '60%', pause: {} },
  ],
  [
    { replicas: '50%', pause: {} },
    { replicas: '20%', pause: {} },
  ],
]
const disturbing = fc.oneof(
  fc.record({ kind: fc.constant('image' as const), image: fc.constantFrom('v1', 'v2', 'v3') }),
  fc.record({ kind: fc.constant('pause' as const), paused: fc.boolean() }),
  fc.record({
    kind: fc.constant('statusWrite' as const),
    words: fc.constantFrom(
      { currentStepState: 'StepReady' as const },
      { nextStepIndex: 2 },
      { nextStepIndex: 1 },
      { currentStepState: 'Completed' as const },
    ),
  }),
  fc.record({
    kind: fc.constant('action' as const),
    // Few ids, so that some repeat, as with an older manifest.
    action: fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      type: fc.constantFrom('approve', 'promote', 'abort', 'abort', 'retry'),
      expectedStep: fc.constantFrom(1, 2),
    }),
  }),
  fc.record({ kind: fc.constant('onDelete' as const), policy: fc.constantFrom('Freeze', 'Complete', 'Rollback') }),
  fc.record({ kind: fc.constant('node' as const), node, state: fc.constantFrom('ready', 'notReady', 'bad', 'gone') }),
  fc.record({ kind: fc.constant('budget' as const), maxUnavailable: fc.constantFrom(0, 1, 3, '50%') }),
  fc.record({ kind: fc.constant('steps' as const), steps: fc.constantFrom(...plans) }),
  fc.record({ kind: fc.constant('disabled' as const), disabled: fc.boolean() }),
  fc.record({ kind: fc.constant('strategy' as const) }),
  fc.record({ kind: fc.constant('remade' as const) }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1_000, 30_000) }),
  fc.record({ kind: fc.constant('mishap' as const), mishap: fc.constantFrom('touchesUnclear' as const, 'diesAfterTouches' as const) }),
)
type Happening = typeof acting extends fc.Arbitrary<infer A> ? (typeof disturbing extends fc.Arbitrary<infer D> ? A | D : never) : never
interface Story {
  readonly scope: 'binding' | 'release'
  readonly steps: RolloutStep[]
  readonly happenings: readonly Happening[]
  /** Plan that a user applies at the end. */
  readonly last: RolloutStep[]
}
const story: fc.Arbitrary<Story> = fc.record({
  scope: fc.constantFrom('binding' as const, 'release' as const),
  steps: fc.constantFrom(...plans.slice(0, 3)),
  happenings: fc.array(fc.oneof({ weight: 3, arbitrary: acting }, { weight: 1, arbitrary: disturbing }), { minLength: 10, maxLength: 80 }),
  last: fc.constantFrom(...plans.slice(0, 3)),
})

/** A natively updated node turns NotReady: that is a verdict, and a quiet cluster does not lift it. */
const failedByItsNode: Story = {
  scope: 'binding',
  steps: [{ replicas: '100%' }],
  happenings: [
    { kind: 'image', image: 'v2' },
    act('actNatively', 1),
    act('passRollout', 2),
    act('passRelease', 2),
    act('passRollout', 1),
    act('passRelease', 1),
    { kind: 'strategy' },
    act('passRollout', 2),
    act('actNatively', 2),
    { kind: 'node', node: 'node-0', state: 'notReady' },
    act('passRelease', 6),
    act('passRollout', 2),
  ],
  last: [{ replicas: '40%', pause: {} }, { replicas: '100%' }],
}

/** Every program acts, ten times in turn. */
const tenRounds = Array.from({ length: 10 }, () => [
  act('actNatively', 1),
  act('passRollout', 2),
  act('passRelease', 3),
  act('passExecutor', 2),
]).flat()

/** The plan at the end no longer has the step at which the abort comes. */
const abortedAtAnotherPlan: Story = {
  scope: 'binding',
  steps: plans[1]!,
  happenings: [
    { kind: 'image', image: 'v2' },
    ...tenRounds,
    { kind: 'action', action: { id: 'a', type: 'approve', expectedStep: 1 } },
    ...tenRounds,
    { kind: 'action', action: { id: 'b', type: 'abort', expectedStep: 2 } },
  ],
  last: [{ replicas: '100%' }],
}

describe('planRollout and planBatchRelease, whatever happens and wherever they are interrupted', () => {
  it('end the release once the cluster is quiet, write no more, and leave nothing behind (G6, G7, G10, G12)', () => {
    fc.assert(
      fc.property(story, ({ scope, steps, happenings, last }) => {
        const fake = new FakeCluster({ scope, steps })
        settle(fake)
        for (const happening of happenings) happen(fake, happening)
        quiesce(fake, last)
        settle(fake, () => checkPromises(fake))
        for (let round = 0; round < 20 && fake.rollout?.status?.phase !== 'Healthy'; round++) {
          if (fake.rollout?.status?.currentStepState === 'StepPaused') fake.setCanaryStatus({ currentStepState: 'StepReady' })
          if (waitsForRetry(fake)) fake.act({ id: `calm-${round}`, type: 'retry' })
          settle(fake, () => checkPromises(fake))
        }
        expect(fake.rollout?.status?.phase, JSON.stringify([fake.rollout?.status, fake.release, fake.daemonSet, fake.pods])).toBe('Healthy')
        expect(fake.oldPods()).toEqual([])
        expect(fake.release).toBeUndefined()
        expect(strategyOf(fake.daemonSet)).toBe(scope === 'binding' ? 'OnDelete' : 'RollingUpdate')
        expect(Object.keys(fake.daemonSet.metadata.annotations ?? {}).toSorted()).toEqual(
          [...(scope === 'binding' ? [daemonSetAnnotations.originalUpdateStrategy] : []), daemonSetAnnotations.rollout].toSorted(),
        )
        expect(fake.rollout?.status?.observedGeneration).toBe(fake.rollout?.metadata.generation)
      }),
      { numRuns: 250, examples: [[failedByItsNode], [abortedAtAnotherPlan]] },
    )
  })

  it('decide the same whatever the messages of the objects say', () => {
    fc.assert(
      fc.property(story, ({ scope, steps, happenings }) => {
        const fake = new FakeCluster({ scope, steps })
        settle(fake)
        fake.setImage('v2')
        for (const happening of happenings) {
          happen(fake, happening)
          expectSameWithoutMessages(fake)
        }
        settle(fake, () => expectSameWithoutMessages(fake))
      }),
      { numRuns: 60 },
    )
  })

  it('detach from the DaemonSet when the Rollout is deleted, and freeze a half-released one, or end it first (G6, G12)', () => {
    fc.assert(
      fc.property(story, ({ scope, steps, happenings }) => {
        const fake = new FakeCluster({ scope, steps })
        for (const happening of happenings) happen(fake, happening)
        for (const name of fake.nodes.keys()) fake.nodes.set(name, { ready: true, bad: false })
        setBudget(fake, 2)
        declareOnDelete(fake)
        fake.deleteRollout()
        settle(fake, () => checkPromises(fake))
        expect([fake.rollout, fake.release]).toEqual([undefined, undefined])
        const keys = Object.keys(fake.daemonSet.metadata.annotations ?? {}).toSorted()
        const frozen = [daemonSetAnnotations.originalUpdateStrategy, daemonSetAnnotations.frozen].toSorted()
        expect([[], frozen]).toContainEqual(keys)
        // Once it is frozen the user's manifest rules, and may continue natively.
        const byUser = happenings.some(({ kind }) => kind === 'strategy')
        if (keys.length > 0 && !byUser) expect(strategyOf(fake.daemonSet)).toBe('OnDelete')
      }),
      { numRuns: 250 },
    )
  })

  it('write only transitions that a state machine of docs/reference/release-phases.md lists', () => {
    fc.assert(
      fc.property(story, ({ scope, steps, happenings, last }) => {
        const fake = new FakeCluster({ scope, steps })
        settle(fake)
        for (const happening of happenings) happen(fake, happening)
        quiesce(fake, last)
        settle(fake)
        expect(fake.unlisted).toEqual([])
      }),
      // The same stories in every run: findings of longer searches are added to the lists.
      { numRuns: 400, seed: 1 },
    )
  })
})

function act(actor: Actor, times: number): Happening {
  return { kind: 'act', actor, times }
}

function happen(fake: FakeCluster, happening: Happening): void {
  switch (happening.kind) {
    case 'act':
      for (let time = 0; time < happening.times; time++) actFor(fake, happening.actor)
      return
    case 'image':
      return fake.setImage(happening.image)
    case 'pause':
      return fake.pause(happening.paused)
    case 'statusWrite':
      return fake.setCanaryStatus(happening.words)
    case 'action':
      return fake.act(happening.action)
    case 'onDelete':
      return fake.onDelete(happening.policy)
    case 'node':
      return void (happening.state === 'gone'
        ? fake.nodes.delete(happening.node)
        : fake.nodes.set(happening.node, { ready: happening.state !== 'notReady', bad: happening.state === 'bad' }))
    case 'budget':
      return setBudget(fake, happening.maxUnavailable)
    case 'steps':
      return setSteps(fake, happening.steps)
    case 'disabled':
      return fake.editRollout((spec) => ({ ...spec, disabled: happening.disabled }))
    case 'strategy':
      return fake.editDaemonSet({
        spec: { ...fake.daemonSet.spec, updateStrategy: { ...fake.daemonSet.spec.updateStrategy, type: 'RollingUpdate' } },
      })
    case 'remade':
      return fake.remakeDaemonSet()
    case 'time':
      fake.nowMs += happening.ms
      return
    case 'mishap':
      fake.mishap = happening.mishap
  }
}

function actFor(fake: FakeCluster, actor: Actor): void {
  const before = fake.daemonSet
  fake[actor]()
  fake.nowMs += 10
  checkPromises(fake)
  if (actor === 'actNatively') return
  const [was, is] = [before, fake.daemonSet].map(
    (daemonSet) => daemonSet.metadata.annotations?.[daemonSetAnnotations.originalUpdateStrategy],
  )
  if (was !== undefined && is !== undefined) expect(is).toBe(was)
  if (strategyOf(before) === 'OnDelete' && strategyOf(fake.daemonSet) !== 'OnDelete') expect(fake.oldPods()).toEqual([])
}

/** The version is held, or has failed: a person decides. */
function waitsForRetry({ rollout }: FakeCluster): boolean {
  const stalled = rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')
  return stalled?.reason === 'RevisionHeld' || stalled?.reason === 'ReleaseFailed'
}

/** Invariants at every moment. */
function checkPromises(fake: FakeCluster): void {
  const { rollout, release } = fake
  const status = rollout?.status
  const record = release?.status?.flight
  const acknowledged = (status?.observedGeneration ?? 0) >= (rollout?.metadata.generation ?? 0)
  const progressing = status?.conditions?.find(({ type }) => type === 'Progressing')
  if (rollout?.spec.strategy.paused === true && acknowledged && progressing?.reason === 'Paused') expect(record?.state).not.toBe('open')
  if (record?.state === 'open' && record.limit < 1) throw new Error('a record is open without a budget')
  if (status !== undefined) expect(status.message).not.toBe('')
  // G12: nothing is deleted for a blocked revision once the BatchRelease has the hold; each template is restored once per
  // action.
  const knows = release !== undefined && release.status?.observedGeneration === release.metadata.generation
  if (knows && release.spec.tranche?.hold !== undefined) expect(record?.state).not.toBe('open')
  expect(fake.reverts.length).toBe(new Set(fake.reverts).size)
  expect(new Set(status?.answeredActions).size).toBe(status?.answeredActions?.length ?? 0)
}

/** A user who has changed the strategy more than once sees the message, and declares `OnDelete`. */
function declareOnDelete(fake: FakeCluster): void {
  if (!(daemonSetAnnotations.controlInfo in (fake.daemonSet.metadata.annotations ?? {})) || strategyOf(fake.daemonSet) === 'OnDelete')
    return
  const updateStrategy = { ...fake.daemonSet.spec.updateStrategy, type: 'OnDelete' }
  fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy } })
}

function quiesce(fake: FakeCluster, steps: RolloutStep[]): void {
  declareOnDelete(fake)
  for (const name of ['node-0', 'node-1', ...fake.nodes.keys()]) fake.nodes.set(name, { ready: true, bad: false })
  fake.mishap = 'none'
  setBudget(fake, 2)
  fake.editRollout((spec) => ({ ...spec, disabled: false, strategy: { ...spec.strategy, paused: false } }))
  setSteps(fake, steps)
}

function setBudget(fake: FakeCluster, maxUnavailable: number | string): void {
  const updateStrategy = { ...fake.daemonSet.spec.updateStrategy, rollingUpdate: { maxUnavailable } }
  fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy } })
}

function setSteps(fake: FakeCluster, steps: RolloutStep[]): void {
  fake.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { ...spec.strategy.canary, steps } } }))
}
