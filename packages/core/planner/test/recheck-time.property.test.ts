import type { ReleasePolicySpec } from '@tranche/api-schema'
import { deletablePod, planBatchRelease, planRollout, releaseStatusPatch, type ReleaseView, type RolloutView } from '@tranche/planner'
import { applyPatch } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../test/fakes/settle.ts'
import { generatedReleases } from './release/generated-release.ts'
import { disturbing, happen } from './rollout/stories.ts'

const DAY_MS = 86_400_000

const later = fc.double({ min: 0, max: 0.999, noNaN: true })

/** An event, the programs that act after it, and how long that takes. Controllers always act. */
const rounds = fc.array(
  fc.record({
    happening: fc.option(disturbing, { freq: 2 }),
    /** Executors use their permits. */
    deletes: fc.boolean(),
    /** The DaemonSet controller and kubelets replace pods. */
    starts: fc.boolean(),
    ms: fc.constantFrom(10, 10, 1_000, 8_000, 30_000),
  }),
  { minLength: 5, maxLength: 30 },
)

describe('while the clock alone changes nothing, a controller', () => {
  it('that waits in a story does nothing before the time that it names (G6)', () => {
    fc.assert(
      fc.property(rounds, policies, fc.constantFrom(0, 0, 5, 60), later, (story, policy, minReadySeconds, share) => {
        const fake = new FakeCluster({
          steps: [
            { replicas: 2, pause: { duration: 60 } },
            { replicas: '100%', pause: {} },
          ],
        })
        fake.policy = policy
        fake.editDaemonSet({ spec: { ...fake.daemonSet.spec, minReadySeconds } })
        settle(fake)
        fake.setImage('v2')
        let deletable: { readonly pod: string | undefined; readonly sinceMs: number } | undefined
        for (const { happening, deletes, starts, ms } of story) {
          if (happening !== null) happen(fake, happening)
          if (deletes) untilItWaits(() => fake.passExecutor())
          if (starts) fake.actNatively()
          untilItWaits(() => fake.passRollout() || fake.passRelease())
          const [rollout, release] = [fake.rolloutView(), fake.releaseView()]
          if (rollout !== null) expectWaitIn(planRollout, rollout, share)
          if (release !== null) {
            const pod = deletablePod(release)
            if (pod !== deletable?.pod) deletable = { pod, sinceMs: fake.nowMs }
            expectWaitIn(planBatchRelease, { ...release, undeletedSinceMs: pod === undefined ? undefined : deletable?.sinceMs }, share)
          }
          fake.nowMs += ms
        }
      }),
      { numRuns: 60 },
    )
  })

  it('of any BatchRelease does nothing before the time that it names (G6)', () => {
    fc.assert(
      fc.property(releases(), later, (view, share) => expectWaitIn(planBatchRelease, view, share)),
      { numRuns: 1_000 },
    )
  })
})

function untilItWaits(pass: () => boolean): void {
  for (let writes = 0; pass(); writes++) if (writes > 60) throw new Error('never waits')
}

/** Where the plan of the view waits, it still does at earlier times than it names, up to the last moment; @param share which, between 0 and 1 */
function expectWaitIn<V extends RolloutView | ReleaseView>(
  planOf: (view: V) => ReturnType<typeof planRollout> | ReturnType<typeof planBatchRelease>,
  view: V,
  share: number,
): void {
  const plan = planOf(view)
  if (plan.kind !== 'wait') return
  const untilMs = plan.recheckAfterMs ?? 30 * DAY_MS
  for (const laterMs of [untilMs * share, untilMs - 1]) {
    const ms = Math.floor(laterMs)
    if (ms < 0) continue
    const then = planOf({ ...view, nowMs: view.nowMs + ms, monotonicMs: view.monotonicMs + ms })
    expect(then, `after ${ms} ms, while it waits for ${plan.for} until ${plan.recheckAfterMs}`).toMatchObject({ kind: 'wait' })
  }
}

/** Any BatchRelease whose status says what there is to say. */
function releases(): fc.Arbitrary<ReleaseView> {
  return fc
    .tuple(
      generatedReleases(),
      policies,
      fc.option(fc.constantFrom(0, 60_000, 119_000), { nil: undefined }),
      fc.constantFrom(0, 10_000, 29_000, 30_000),
      fc.constantFrom(undefined, { unseen: ['x'], inMs: 29_000 }, { unseen: null, inMs: 1 }, { unseen: [], inMs: 5_000 }),
    )
    .map(([{ view }, policy, undeletedForMs, deletedForMs, nodeList]) => {
      const { release } = view
      const { failure, nodes } = policy ?? {}
      const { daemonSet } = view
      const tranche = { ...release.spec.tranche, ...(failure && { failure }), ...(nodes && { nodes }) }
      return said({
        ...view,
        release: { ...release, spec: { ...release.spec, tranche } },
        undeletedSinceMs: undeletedForMs === undefined ? undefined : view.monotonicMs - undeletedForMs,
        ...(nodeList !== undefined && {
          daemonSet: daemonSet && { ...daemonSet, status: { ...daemonSet.status, desiredNumberScheduled: view.fleet.desired + 1 } },
          nodeList: { unseen: nodeList.unseen, againMs: view.monotonicMs + nodeList.inMs },
        }),
        ...(release.metadata.deletionTimestamp !== undefined && { deletedSinceMs: view.monotonicMs - deletedForMs }),
      })
    })
}

function said(view: ReleaseView): ReleaseView {
  let now = view
  for (let pass = 0; pass < 5; pass++) {
    const plan = planBatchRelease(now)
    if (plan.kind !== 'writeStatus') return now
    const release = applyPatch(now.release, releaseStatusPatch(now.release, plan.status))
    if (release === null) throw new Error('a status patch failed on what it was made from')
    now = { ...now, release, statusWrittenMs: now.monotonicMs }
  }
  throw new Error('the status is never said')
}

const policies: fc.Arbitrary<ReleasePolicySpec | undefined> = fc.constantFrom<ReleasePolicySpec | undefined>(
  undefined,
  { failure: { progressDeadlineSeconds: 20, maxFailedNodes: 1 } },
  { failure: { progressDeadlineSeconds: 20, autoResume: '30s' } },
  { failure: { action: 'Continue', progressDeadlineSeconds: 20 } },
  { failure: { action: 'Rollback', schedulingDeadlineSeconds: 5 } },
  { nodes: { notReady: { action: 'Fail', exempt: '100%', after: '30s' } } },
  { nodes: { notReady: { action: 'Wait', exempt: 0 } }, failure: { onReapply: 'Revert' } },
)
