import type { RolloutStep } from '@tranche/api-schema'
import fc from 'fast-check'
import type { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

const actors = ['passRollout', 'passRelease', 'passExecutor', 'actNatively'] as const
/** Programs of which one acts at a time. */
export type Actor = (typeof actors)[number]

/** Next actor: each acts for one write, so every crash between two writes is covered by some order. */
const acting = fc.record({
  kind: fc.constant('act' as const),
  actor: fc.constantFrom<Actor>(...actors),
  times: fc.integer({ min: 1, max: 6 }),
})
const node = fc.integer({ min: 0, max: 4 }).map((at) => `node-${at}`)
/** Steps of canaries; the sizes of the last do not grow. */
export const plans: RolloutStep[][] = [
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
/** Changes by users, nodes and faults. */
export const disturbing = fc.oneof(
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
/** One event of a story. */
export type Happening =
  typeof acting extends fc.Arbitrary<infer A> ? (typeof disturbing extends fc.Arbitrary<infer D> ? A | D : never) : never
/** A cluster, and what happens in it. */
export interface Story {
  readonly scope: 'binding' | 'release'
  readonly steps: RolloutStep[]
  readonly happenings: readonly Happening[]
  /** Plan that a user applies at the end. */
  readonly last: RolloutStep[]
}
/** Programs act one write at a time, while users and nodes disturb them. */
export const stories: fc.Arbitrary<Story> = fc.record({
  scope: fc.constantFrom('binding' as const, 'release' as const),
  steps: fc.constantFrom(...plans.slice(0, 3)),
  happenings: fc.array(fc.oneof({ weight: 3, arbitrary: acting }, { weight: 1, arbitrary: disturbing }), { minLength: 10, maxLength: 80 }),
  last: fc.constantFrom(...plans.slice(0, 3)),
})

/** The program acts that many times. */
export function act(actor: Actor, times: number): Happening {
  return { kind: 'act', actor, times }
}

/** Makes it happen. @param actFor lets the program act for one write, a moment later than the last */
export function happen(fake: FakeCluster, happening: Happening, actFor: (fake: FakeCluster, actor: Actor) => void = actOnce): void {
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

/** The program acts for one write. */
export function actOnce(fake: FakeCluster, actor: Actor): void {
  fake[actor]()
  fake.nowMs += 10
}

/** A user changes `maxUnavailable`. */
export function setBudget(fake: FakeCluster, maxUnavailable: number | string): void {
  const updateStrategy = { ...fake.daemonSet.spec.updateStrategy, rollingUpdate: { maxUnavailable } }
  fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, updateStrategy } })
}

/** A user changes the steps. */
export function setSteps(fake: FakeCluster, steps: RolloutStep[]): void {
  fake.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { ...spec.strategy.canary, steps } } }))
}
