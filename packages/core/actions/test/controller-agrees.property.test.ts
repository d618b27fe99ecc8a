import { type RolloutActionType, rolloutActionTypes, type RolloutStep, type ActionBody } from '@tranche/api-schema'
import { refusalsFor } from '@tranche/planner'
import { refusalOf } from '@tranche/actions'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { settle } from '../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../test/fakes/fake-cluster.ts'

const steps: readonly RolloutStep[] = [{ replicas: '20%', pause: {} }, { replicas: '60%', pause: {} }, { replicas: '100%' }]
const happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('image' as const), image: fc.constantFrom('v1', 'v2', 'v3') }) },
  fc.record({ kind: fc.constant('pause' as const), paused: fc.boolean() }),
  fc.record({ kind: fc.constant('action' as const), type: fc.constantFrom(...rolloutActionTypes), full: fc.boolean() }),
  fc.record({
    kind: fc.constant('failure' as const),
    reason: fc.constantFrom('NodesFailed' as const, 'AnalysisInconclusive' as const),
    action: fc.constantFrom('Pause' as const, 'Rollback' as const),
  }),
  fc.record({ kind: fc.constant('steps' as const), left: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('budget' as const), maxUnavailable: fc.constantFrom(0, 2) }),
  fc.record({ kind: fc.constant('disabled' as const), disabled: fc.boolean() }),
  fc.record({ kind: fc.constant('workload' as const), name: fc.constantFrom('agent', 'missing') }),
)
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never

/** Refusals that depend on more than the status: the controller may know that the Rollout can continue, or that its failure is over. */
const lateOnly = /^the Rollout is stalled: |^no release is under way|^there is nothing for a retry to lift/

it('refuses no action that the controller would accept, and passes only actions that only the controller can check (G10)', () => {
  const ends = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(fc.array(happening, { minLength: 1, maxLength: 6 }), (all) => {
      const fake = new FakeCluster({ steps })
      settle(fake)
      for (const [at, one] of all.entries()) {
        happen(fake, one, `action-${at}`)
        rest(fake, one)
        for (const type of rolloutActionTypes)
          for (const body of bodiesFor(fake, type)) {
            const [ours, theirs] = judged(fake, type, body)
            const said = `${type} ${JSON.stringify(body)}: ${ours} | ${theirs} | ${JSON.stringify(fake.rollout?.status)}`
            if (ours !== null) expect(theirs, said).not.toBeNull()
            if (ours === null && theirs !== null) expect(theirs, said).toMatch(lateOnly)
            ends[ours === null ? 'accepted' : 'refused']++
          }
      }
    }),
    { numRuns: 40 },
  )
  expect(Math.min(ends.accepted, ends.refused)).toBeGreaterThan(20)
})

it('only an abort is written and accepted while the policy is missing (G9)', () => {
  const fake = new FakeCluster({ steps })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  fake.readsAs = (view) => ({ ...view, policy: { kind: 'missing', name: 'careful' } })
  settle(fake)
  expect(judged(fake, 'abort', { expectedStep: 1 })).toEqual([null, null])
  for (const type of ['approve', 'promote'] as const)
    expect(judged(fake, type, { expectedStep: 1 })[1]).toMatch(/^the Rollout is stalled: .*there is no such ReleasePolicy/)
})

/** Runs passes until the status shows the event. A failure is read early: the fake release, which nothing observes, would clear it. */
function rest(fake: FakeCluster, { kind }: Happening): void {
  if (kind !== 'failure') return settle(fake)
  for (let passes = 0; passes < 4; passes++) fake.passRollout()
}

/** Why REST and the command line would not write the action, and why the controller would not carry it out; null where they would. */
function judged(fake: FakeCluster, type: RolloutActionType, body: ActionBody): readonly [string | null, string | null] {
  const view = fake.rolloutView()
  if (view === null) throw new Error('the Rollout is gone')
  const { expectedStep, revision, step, full } = body
  const said = {
    ...(expectedStep !== undefined && { expectedStep }),
    ...(revision !== undefined && { revision }),
    ...(step !== undefined && { step }),
    ...(full !== undefined && { full }),
  }
  const ours = refusalOf(view.rollout, { id: 'asked', type, body, by: 'me', via: 'rest' })
  return [ours?.message ?? null, refusalsFor(view)({ id: 'asked', type, ...said })]
}

/** Bodies of an action: for the present release, and for another one. An `approve` or `jump` without a step is refused before that. */
function bodiesFor(fake: FakeCluster, type: RolloutActionType): readonly ActionBody[] {
  const { currentStepIndex: expectedStep = 1, canaryRevision: revision = 'none' } = fake.rollout?.status?.canaryStatus ?? {}
  if (type === 'approve') return [{ expectedStep }, { expectedStep: expectedStep + 1 }, { expectedStep, revision }]
  if (type === 'jump') return [1, 3, 9].map((step) => ({ expectedStep, step }))
  if (type === 'promote') return [{}, { full: true }, { revision: 'other' }]
  return type === 'retry' ? [{}, { revision }, { revision: 'hash-v2' }, { revision: 'hash-v3' }] : [{}, { revision }, { expectedStep }]
}

function happen(fake: FakeCluster, one: Happening, id: string): void {
  switch (one.kind) {
    case 'image':
      return fake.setImage(one.image)
    case 'pause':
      return fake.pause(one.paused)
    case 'action':
      return act(fake, one, id)
    case 'failure':
      return fake.release?.status?.flight === undefined ? undefined : fake.latch({ reason: one.reason, action: one.action })
    case 'steps':
      return fake.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps: steps.slice(-one.left) } } }))
    case 'budget': {
      const { spec } = fake.daemonSet
      return fake.editDaemonSet({
        spec: { ...spec, updateStrategy: { ...spec.updateStrategy, rollingUpdate: { maxUnavailable: one.maxUnavailable } } },
      })
    }
    case 'disabled':
      return fake.editRollout((spec) => ({ ...spec, disabled: one.disabled }))
    case 'workload':
      return fake.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, name: one.name } }))
    default:
      return one satisfies never
  }
}

function act(fake: FakeCluster, { type, full }: Happening & { readonly kind: 'action' }, id: string): void {
  const { canaryStatus, heldRevisions } = fake.rollout?.status ?? {}
  const held = heldRevisions?.[0]?.revision
  if (type === 'retry' && held !== undefined) return fake.act({ id, type, revision: held })
  fake.act({ id, type, expectedStep: canaryStatus?.currentStepIndex ?? 1, ...(type === 'jump' && { step: 1 }), ...(full && { full }) })
}
