import { type DaemonSet, daemonSetAnnotations, ROLLOUT_FINALIZER } from '@tranche/kube-types'
import { type BatchReleasePlan, planBatchRelease, planRollout, type RolloutView, strategyOf } from '@tranche/planner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GeneratedRelease, generatedReleases, generatedUserFields, patchedDaemonSet } from './generated-release.ts'

const ourAnnotations: readonly string[] = Object.values(daemonSetAnnotations)
const ourLabel = 'rollouts.kruise.io/workload-type'

describe('for any user data on the DaemonSet', () => {
  it('a BatchRelease changes only our keys and the strategy type, and records the type once (G11)', () => {
    fc.assert(
      fc.property(generatedReleases(generatedUserFields()), ({ view }) => {
        const plan = planBatchRelease(view)
        for (const { patch } of patchesOf(plan)) expectHandsOff(view.daemonSet!, patch)
      }),
      { numRuns: 2_000 },
    )
  })

  it('a Rollout that binds or detaches it changes only our keys and the strategy type (G11)', () => {
    let patched = 0
    fc.assert(
      fc.property(generatedReleases(generatedUserFields()), fc.constantFrom('runs', 'isDisabled', 'isDeleted'), (release, change) => {
        const plan = planRollout(rolloutViewOf(release, change))
        if (plan.kind !== 'patchDaemonSet') return
        patched++
        expectHandsOff(plan.daemonSet, plan.patch)
      }),
      { numRuns: 1_500 },
    )
    expect(patched).toBeGreaterThan(200)
  })
})

function expectHandsOff(before: DaemonSet, patch: Parameters<typeof patchedDaemonSet>[1]): void {
  const after = patchedDaemonSet(before, patch)
  expect(users(after)).toEqual(users(before))
  expect(patch[0]).toEqual({ op: 'test', path: '/metadata/uid', value: before.metadata.uid })
  // A type is recorded before it is changed, and restored when it is dropped; the recorded type never changes.
  const [was, is] = [before, after].map(({ metadata }) => metadata.annotations?.[daemonSetAnnotations.originalUpdateStrategy])
  if (was !== undefined && is !== undefined) expect(is).toBe(was)
  if (strategyOf(before) === strategyOf(after)) return
  const isTakenOver = strategyOf(after) === 'OnDelete' && is === (was ?? strategyOf(before))
  const isGivenBack = strategyOf(after) === was && is === undefined
  expect([isTakenOver, isGivenBack]).toContain(true)
}

/** Everything but our own keys; empty maps equal missing ones. */
function users(daemonSet: DaemonSet): unknown {
  const { annotations = {}, labels = {}, ...metadata } = daemonSet.metadata
  const { updateStrategy, ...spec } = daemonSet.spec
  const { type: _type, ...strategy } = updateStrategy ?? { type: '' }
  const kept = (keys: Readonly<Record<string, string>>, ours: readonly string[]): object =>
    Object.fromEntries(Object.entries(keys).filter(([key]) => !ours.includes(key)))
  return {
    ...daemonSet,
    metadata: { ...metadata, annotations: kept(annotations, ourAnnotations), labels: kept(labels, [ourLabel]) },
    spec: { ...spec, strategy },
  }
}

function patchesOf(plan: BatchReleasePlan): readonly (BatchReleasePlan & { kind: 'patchDaemonSet' })[] {
  if (plan.kind === 'touchOldPods') return patchesOf(plan.next)
  return plan.kind === 'patchDaemonSet' ? [plan] : []
}

function rolloutViewOf({ view }: GeneratedRelease, change: string): RolloutView {
  const { daemonSet, revisions, fleet, strategyScope, nowMs, monotonicMs } = view
  const rollout = {
    metadata: {
      namespace: 'demo',
      name: 'agent',
      uid: 'rollout',
      resourceVersion: '1',
      generation: 1,
      finalizers: [ROLLOUT_FINALIZER],
      ...(change === 'isDeleted' && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      ...(change === 'isDisabled' && { disabled: true }),
      strategy: { canary: { steps: [{ replicas: '100%' }] } },
    },
    status: { phase: 'Healthy', stableRevision: 'old' },
  } as unknown as RolloutView['rollout']
  const without = { former: undefined, release: undefined, others: [rollout], statusWrittenMs: null }
  return { rollout, daemonSet, revisions, fleet, strategyScope, policy: { kind: 'none' }, kruise: null, nowMs, monotonicMs, ...without }
}
