import { BATCH_RELEASE_FINALIZER, timeText } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'
import { withKeptRelease } from '../../src/rollout/states/kept-release.ts'
import { currentState } from '../../src/rollout/states/next-state.ts'
import type { RolloutState } from '../../src/rollout/view/rollout-state.ts'
import type { RolloutView } from '../../src/rollout/view/rollout-view.ts'

interface Case {
  /** Time (ms) since the BatchRelease was deleted; null: it was not. */
  readonly deletedMs?: number | null
  readonly finalizers?: readonly string[]
  readonly state?: Partial<RolloutState>
  /** DaemonSet that the BatchRelease is for. @default that of the Rollout */
  readonly isFor?: string
  readonly want: 'unchanged' | 'waits' | 'stalls'
}

const foreign = ['example.com/audit']
const notFound = { reason: 'WorkloadNotFound', message: 'no DaemonSet' } as const

describe('a deleted BatchRelease that finalizers of other programs keep', () => {
  const cases: Record<string, Case> = {
    'is waited for during a minute': { deletedMs: 59_999, want: 'waits' },
    'needs a person after a minute': { deletedMs: 60_000, want: 'stalls' },
    'does not hide the stop that is reported already': { deletedMs: 60_000, state: { stalled: notFound }, want: 'unchanged' },
    'is none while our own finalizer is there too: executors stop it': {
      deletedMs: 60_000,
      finalizers: [...foreign, BATCH_RELEASE_FINALIZER],
      want: 'unchanged',
    },
    'is none without finalizers: the API server is about to remove it': { deletedMs: 60_000, finalizers: [], want: 'unchanged' },
    'is none before it is deleted': { deletedMs: null, want: 'unchanged' },
    'holds nothing while the Rollout rests': { deletedMs: 60_000, state: { phase: 'Healthy' }, want: 'unchanged' },
    'holds a Rollout at rest that has been given another DaemonSet': {
      deletedMs: 60_000,
      state: { phase: 'Healthy' },
      isFor: 'former',
      want: 'stalls',
    },
    'holds a Rollout that is being disabled': { deletedMs: 60_000, state: { phase: 'Disabling' }, want: 'stalls' },
    'holds a Rollout that is being deleted': { deletedMs: 60_000, state: { phase: 'Terminating' }, want: 'stalls' },
  }
  it.each(Object.entries(cases))('%s', (_name, example) => {
    const { view, state } = shown(example)
    const next = withKeptRelease(view, state)
    const kind = next === state ? 'unchanged' : next.stalled === null ? 'waits' : 'stalls'
    expect(kind).toBe(example.want)
    if (kind !== 'unchanged') expect(next.message).toContain('finalizers of other programs keep it (example.com/audit)')
    if (kind === 'waits') expect(next.recheckAfterMs).toBe(1)
    if (kind === 'stalls') expect(next.stalled).toEqual({ reason: 'ForeignControl', message: next.message })
  })
})

function shown({ deletedMs = 60_000, finalizers = foreign, state, isFor }: Case): { view: RolloutView; state: RolloutState } {
  const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }], maxUnavailable: 5 })
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  const view = { ...fake.rolloutView()!, nowMs: 3_600_000 }
  const release = view.release!
  const deleted = deletedMs === null ? {} : { deletionTimestamp: timeText(view.nowMs - deletedMs) }
  const metadata = { ...release.metadata, ...deleted, finalizers: [...finalizers] }
  const spec = isFor === undefined ? release.spec : { ...release.spec, workloadRef: { ...release.spec.workloadRef!, name: isFor } }
  const kept = { ...view, release: { ...release, metadata, spec } }
  return { view: kept, state: { ...currentState(kept), ...state } }
}
