import { daemonSetAnnotations } from '@tranche/kube-types'
import { type BatchReleasePlan, controlInfo, planBatchRelease } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, NOW_MS, planOnceSaid, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const { canaryRevision, controlInfo: control, frozen } = daemonSetAnnotations
const BEGUN = '2023-11-14T21:00:00.000Z'
/** The start of a release that begins at the time of the view. */
const NOW = new Date(NOW_MS - 5_000).toISOString()
const createdAt = { creationTimestamp: '2023-11-14T20:00:00Z' }

/** A BatchRelease that nodes left have kept since the release of another revision, which began at {@link BEGUN}. */
const kept: ViewFields = {
  metadata: createdAt,
  record: { state: 'stopped', revision: 'other', begunAt: BEGUN },
  annotations: published('other', BEGUN),
}

describe('a BatchRelease that was kept for nodes left, when another revision is released (G3)', () => {
  it('publishes that its release begins now', () => {
    expect(startIn(planOnceSaid(aView(kept)))).toBe(NOW)
  })

  const opens: Record<string, { readonly view: ViewFields; readonly want: string }> = {
    'since it was published, also where a process has died in between': {
      view: { ...kept, annotations: published('new', '2023-11-14T22:00:00.000Z') },
      want: '2023-11-14T22:00:00.000Z',
    },
    'since it was published, where the BatchRelease was created for the release before': {
      view: { ...kept, record: { state: 'stopped', revision: 'other' }, annotations: published('new', '2023-11-14T22:00:00.000Z') },
      want: '2023-11-14T22:00:00.000Z',
    },
  }
  it.each(Object.entries(opens))('opens the record of a release that began %s', (_name, { view, want }) => {
    expect(planBatchRelease(aView(view))).toMatchObject({ kind: 'writeRecord', why: 'open', record: { revision: 'new', begunAt: want } })
  })

  it('publishes no start that is later than now, as after the clock of the API server was set back', () => {
    expect(startIn(planOnceSaid(aView({ ...kept, annotations: published('new', '2023-11-14T23:00:00.000Z') })))).toBe(NOW)
  })

  it('publishes that its release began when it was first seen, though a pause or its group has held it since', () => {
    const stoppedTime = { release: 'r1', startedAt: '2023-11-14T21:40:00.000Z', seconds: 600 }
    const status = { observedGeneration: 4, observedRelease: 'r1', stoppedTime }
    expect(startIn(planOnceSaid(aView({ ...kept, status })))).toBe('2023-11-14T21:39:55.000Z')
  })

  it('continues a frozen release of that revision since that began', () => {
    const stopped = { release: 'r0', startedAt: BEGUN, seconds: 0, since: '2023-11-14T21:30:00.000Z' }
    const watch = { workload: 'daemonset', revision: 'new', begunAt: '2023-11-14T21:15:00.000Z', stopped, nodes: [] }
    const annotations = { ...kept.annotations, [frozen]: JSON.stringify({ revision: 'new', watch }) }
    expect(startIn(planOnceSaid(aView({ ...kept, annotations })))).toBe('2023-11-14T21:15:00.000Z')
  })
})

describe('a BatchRelease that continues its release', () => {
  it.each([
    ['at its creation', {}, createdAt.creationTimestamp, undefined],
    ['later', { begunAt: BEGUN }, BEGUN, BEGUN],
  ])('opens its record again since it began: %s (G3)', (_when, record, said, begunAt) => {
    const view = aView({ metadata: createdAt, record: { state: 'stopped', ...record }, annotations: published('new', said) })
    const plan = planBatchRelease(view)
    expect(plan).toMatchObject({ kind: 'writeRecord', why: 'open' })
    expect(plan.kind === 'writeRecord' && plan.record.begunAt).toBe(begunAt)
  })

  it('continues it where another revision was published meanwhile, and never opened', () => {
    const view = aView({ ...kept, record: { state: 'stopped', begunAt: BEGUN }, annotations: published('other', NOW) })
    expect(startIn(planOnceSaid(view))).toBe(BEGUN)
  })

  it('continues it since it began where its record was lost, and says so once (F11)', () => {
    const lost: ViewFields = { metadata: createdAt, record: { state: 'stopped' }, annotations: published('new', BEGUN) }
    expect(planBatchRelease(aView(lost))).toMatchObject({ kind: 'writeRecord', why: 'inherit', record: { begunAt: BEGUN } })
    const next = planBatchRelease(aView({ ...lost, record: { state: 'stopped', begunAt: BEGUN } }))
    expect(next).toMatchObject({ kind: 'writeRecord', why: 'open', record: { begunAt: BEGUN } })
  })

  it('takes no later start from another BatchRelease, which has vanished', () => {
    const annotations = { [canaryRevision]: 'new', [control]: controlInfo({ name: 'agent', uid: 'gone', begunAt: BEGUN }) }
    const view = aView({ metadata: createdAt, record: { state: 'stopped' }, annotations, view: { otherControl: 'vanished' } })
    expect(planBatchRelease(view)).toMatchObject({ kind: 'touchOldPods', next: { why: 'publish' } })
  })
})

/** Annotations of a DaemonSet for which this BatchRelease has published a release. */
function published(revision: string, begunAt: string): Readonly<Record<string, string>> {
  return { [canaryRevision]: revision, [control]: controlInfo({ name: 'agent', uid: 'release', begunAt }) }
}

/** The start that a plan publishes; fails where it does not publish. */
function startIn(plan: BatchReleasePlan): unknown {
  expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'publish' })
  const path = `/metadata/annotations/${control.replace('/', '~1')}`
  const change = (plan.kind === 'patchDaemonSet' ? plan.patch : []).find((operation) => operation.op !== 'test' && operation.path === path)
  return change !== undefined && 'value' in change ? JSON.parse(String(change.value)).begunAt : undefined
}
