import { type RolloutActionType, rolloutActionTypes, type RolloutStep, type ActionBody } from '@tranche/api-schema'
import { refusalsFor } from '@tranche/planner'
import { refusalOf } from '@tranche/actions'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { settle } from '../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../test/toys/toy-cluster.ts'

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
  fc.record({ kind: fc.constant('workload' as const), name: fc.constantFrom('agent', 'nobody') }),
)
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never

/** What the status does not tell for certain: the controller may see by now that the Rollout can go on, or that its failure is over. */
const lateOnly = /^the Rollout is stalled: |^no release is under way|^nothing that a retry lifts/

it('refuses nothing that the controller would accept, and lets pass only what the controller alone can judge (G10)', () => {
  const ends = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(fc.array(happening, { minLength: 1, maxLength: 6 }), (all) => {
      const toy = new ToyCluster({ steps })
      settle(toy)
      for (const [at, one] of all.entries()) {
        happen(toy, one, `action-${at}`)
        rest(toy, one)
        for (const type of rolloutActionTypes)
          for (const body of bodiesFor(toy, type)) {
            const [ours, theirs] = judged(toy, type, body)
            const said = `${type} ${JSON.stringify(body)}: ${ours} | ${theirs} | ${JSON.stringify(toy.rollout?.status)}`
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

it('an abort alone is written and accepted while the policy is missing (G9)', () => {
  const toy = new ToyCluster({ steps })
  settle(toy)
  toy.setImage('v2')
  settle(toy)
  toy.readsAs = (view) => ({ ...view, policy: { kind: 'missing', name: 'careful' } })
  settle(toy)
  expect(judged(toy, 'abort', { expectedStep: 1 })).toEqual([null, null])
  for (const type of ['approve', 'promote'] as const)
    expect(judged(toy, type, { expectedStep: 1 })[1]).toMatch(/^the Rollout is stalled: .*there is no such ReleasePolicy/)
})

/** Until the status says what has happened. A failure is looked at before the release of the toy, which nothing watches, finds none. */
function rest(toy: ToyCluster, { kind }: Happening): void {
  if (kind !== 'failure') return settle(toy)
  for (let passes = 0; passes < 4; passes++) toy.passRollout()
}

/** Why REST and the command line would not write the action, and why the controller would not carry it out; null where they would. */
function judged(toy: ToyCluster, type: RolloutActionType, body: ActionBody): readonly [string | null, string | null] {
  const view = toy.rolloutView()
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
function bodiesFor(toy: ToyCluster, type: RolloutActionType): readonly ActionBody[] {
  const { currentStepIndex: expectedStep = 1, canaryRevision: revision = 'none' } = toy.rollout?.status?.canaryStatus ?? {}
  if (type === 'approve') return [{ expectedStep }, { expectedStep: expectedStep + 1 }, { expectedStep, revision }]
  if (type === 'jump') return [1, 3, 9].map((step) => ({ expectedStep, step }))
  if (type === 'promote') return [{}, { full: true }, { revision: 'other' }]
  return type === 'retry' ? [{}, { revision }, { revision: 'hash-v2' }, { revision: 'hash-v3' }] : [{}, { revision }, { expectedStep }]
}

function happen(toy: ToyCluster, one: Happening, id: string): void {
  switch (one.kind) {
    case 'image':
      return toy.setImage(one.image)
    case 'pause':
      return toy.pause(one.paused)
    case 'action':
      return act(toy, one, id)
    case 'failure':
      return toy.release?.status?.flight === undefined ? undefined : toy.latch({ reason: one.reason, action: one.action })
    case 'steps':
      return toy.editRollout((spec) => ({ ...spec, strategy: { ...spec.strategy, canary: { steps: steps.slice(-one.left) } } }))
    case 'budget': {
      const { spec } = toy.daemonSet
      return toy.editDaemonSet({
        spec: { ...spec, updateStrategy: { ...spec.updateStrategy, rollingUpdate: { maxUnavailable: one.maxUnavailable } } },
      })
    }
    case 'disabled':
      return toy.editRollout((spec) => ({ ...spec, disabled: one.disabled }))
    case 'workload':
      return toy.editRollout((spec) => ({ ...spec, workloadRef: { ...spec.workloadRef, name: one.name } }))
    default:
      return one satisfies never
  }
}

function act(toy: ToyCluster, { type, full }: Happening & { readonly kind: 'action' }, id: string): void {
  const { canaryStatus, heldRevisions } = toy.rollout?.status ?? {}
  const held = heldRevisions?.[0]?.revision
  if (type === 'retry' && held !== undefined) return toy.act({ id, type, revision: held })
  toy.act({ id, type, expectedStep: canaryStatus?.currentStepIndex ?? 1, ...(type === 'jump' && { step: 1 }), ...(full && { full }) })
}
