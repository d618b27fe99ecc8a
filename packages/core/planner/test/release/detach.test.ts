import { carriedText, carryOver, type Carried } from '@tranche/fence'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { planBatchRelease, watchedNodesOf } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aRevision, aView, baseRecord, NOW_MS, onceSaid, permitFor, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const { controlInfo, frozen, inProgressing, originalUpdateStrategy, unsettled } = daemonSetAnnotations
const unannounced = { [controlInfo]: null, [inProgressing]: null }
const inFlight = { state: 'stopped', holds: [{ reason: 'Deleting', id: 'release' }], permits: [permitFor('a'), permitFor('b')] } as const
const deletedAgo = (ms: number): NonNullable<ViewFields['metadata']> => ({ deletionTimestamp: new Date(NOW_MS - ms).toISOString() })
const BEGUN = '2023-11-14T21:00:00.000Z'
const carried = carriedText(carryOver({ ...baseRecord, ...inFlight }) ?? none()) ?? ''

describe('a release that is deleted with nodes in flight (F11)', () => {
  it('waits 30 seconds for an available pod on them, by the clock', () => {
    const view = onceSaid(aView({ metadata: deletedAgo(10_000), record: inFlight, nodes: 'a:new! b:- c:old d:old e:old' }))
    expect(planBatchRelease(view)).toEqual({ kind: 'wait', for: 'the BatchRelease is being deleted', recheckAfterMs: 20_000 })
    expect(view.release.status?.waiting).toMatchObject({ reason: 'Deleting', nodes: ['a', 'b'] })
    expect(view.release.status?.waiting?.message).toContain(`waiting until ${new Date(NOW_MS + 20_000).toISOString()}`)
  })

  it('waits no longer than that after the first look if the API server’s clock was set back since (F14)', () => {
    const seenFor = (ms: number) => ({ deletedSinceMs: 100_000 - ms })
    const fields: ViewFields = { metadata: deletedAgo(-300_000), record: inFlight, nodes: 'a:new! b:- c:old d:old e:old' }
    const view = onceSaid(aView({ ...fields, view: seenFor(10_000) }))
    expect(planBatchRelease(view)).toEqual({ kind: 'wait', for: 'the BatchRelease is being deleted', recheckAfterMs: 20_000 })
    expect(planBatchRelease(aView({ ...fields, view: seenFor(30_000) }))).toMatchObject({ kind: 'patchDaemonSet', why: 'release' })
  })

  it('then detaches and leaves them to the next release, in one patch', () => {
    const plan = planBatchRelease(aView({ metadata: deletedAgo(30_000), record: inFlight, nodes: 'a:new! b:- c:old d:old e:old' }))
    expect(valuesOf(plan)).toMatchObject({ [unsettled]: carried, [controlInfo]: undefined, [frozen]: expect.any(String) })
  })

  it('leaves them even where no node runs an old pod and the strategy is restored', () => {
    const fields: ViewFields = {
      metadata: deletedAgo(30_000),
      record: inFlight,
      nodes: 'a:new! b:- c:new d:new e:new',
      view: { strategyScope: 'release' },
    }
    const values = valuesOf(planBatchRelease(aView(fields)))
    expect(values).toMatchObject({ [unsettled]: carried, [originalUpdateStrategy]: undefined })
    expect(values).not.toHaveProperty([frozen])
  })

  it('restores no strategy that was not recorded (G11)', () => {
    const plan = planBatchRelease(
      aView({
        metadata: deletedAgo(30_000),
        record: { ...inFlight, permits: [] },
        nodes: 'a:new b:new c:new d:new e:new',
        view: { strategyScope: 'release' },
        annotations: { [originalUpdateStrategy]: null },
      }),
    )
    expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'release' })
    expect(plan.kind === 'patchDaemonSet' && plan.patch.filter(({ path }) => path.startsWith('/spec'))).toEqual([])
  })

  it('leaves nothing where everything has settled', () => {
    const plan = planBatchRelease(aView({ metadata: deletedAgo(0), record: { ...inFlight, permits: [] } }))
    expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'release' })
    expect(valuesOf(plan)).not.toHaveProperty([unsettled])
  })

  it('keeps waiting where they are too many to be carried over', () => {
    const permits = Array.from({ length: 1000 }, (_, at) => permitFor(String(at).padStart(253, 'n')))
    const view = onceSaid(aView({ metadata: deletedAgo(60_000), record: { ...inFlight, permits } }))
    expect(planBatchRelease(view)).toMatchObject({ kind: 'wait' })
  })
})

describe('a release that starts where another has detached (F11)', () => {
  const begins: ViewFields = { record: { state: 'stopped' }, annotations: { ...unannounced, [unsettled]: carried } }

  it.each([
    ['of a Rollout', {}],
    [
      'written by hand',
      { metadata: { ownerReferences: [] }, annotations: { ...begins.annotations, [daemonSetAnnotations.rollout]: null } },
    ],
  ] as const)('inherits the permits in flight before it publishes anything: %s', (_whose, fields) => {
    const plan = planBatchRelease(aView({ ...begins, ...fields }))
    expect(plan).toMatchObject({ kind: 'writeRecord', why: 'inherit', record: { state: 'stopped', permits: inFlight.permits } })
  })

  it('removes the annotation when it publishes, once the record has the permits', () => {
    const plan = planBatchRelease(aView({ ...begins, record: { state: 'stopped', permits: inFlight.permits } }))
    expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'publish' })
    expect(valuesOf(plan)).toMatchObject({ [unsettled]: undefined, [controlInfo]: expect.any(String) })
  })

  it('does not open while the annotation exists', () => {
    const plan = planBatchRelease(aView({ record: { state: 'stopped' }, annotations: { [unsettled]: carried } }))
    expect(plan).toMatchObject({ kind: 'writeRecord', why: 'inherit' })
  })

  it.each([
    ['of another DaemonSet, as in a copied manifest', { daemonSetUid: 'another', record: { state: 'stopped', workloadUid: 'another' } }],
    ['that is unreadable', { annotations: { ...unannounced, [unsettled]: 'odd' } }],
  ] as const)('removes an annotation %s', (_which, fields) => {
    const plan = planBatchRelease(aView({ ...begins, ...fields }))
    expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'publish' })
    expect(valuesOf(plan)).toHaveProperty([unsettled], undefined)
  })
})

describe('a release that is frozen', () => {
  const stoppedTime = { release: 'r1', startedAt: '2023-11-14T21:00:00.000Z', seconds: 60, since: '2023-11-14T22:00:00.000Z' }
  const watchedNodes = [{ node: 'a', since: '2023-11-14T21:30:00.000Z', uid: 'pod-a', restarts: 1, seen: 1 }]
  const watch = { workload: 'daemonset', revision: 'new', stopped: stoppedTime, nodes: watchedNodes }
  const text = JSON.stringify({ revision: 'new', stable: 'old', nodesLeft: 3, at: '2023-11-14T22:00:00.000Z', watch })
  const ended: ViewFields = { metadata: deletedAgo(0), record: { ...inFlight, permits: [] }, nodes: 'a:new b:new c:old d:old e:old' }
  const next = { release: 'r2' }
  const now = { creationTimestamp: '2023-11-14T22:00:00Z' }
  const comes: ViewFields = { record: { state: 'stopped' }, annotations: { ...unannounced, [frozen]: text }, tranche: next }

  it('leaves its watch data to the next one', () => {
    const plan = planBatchRelease(aView({ ...ended, status: { stoppedTime, watchedNodes } }))
    expect(JSON.parse(String(valuesOf(plan)[frozen]))).toMatchObject({ revision: 'new', watch })
  })

  it.each([
    ['its own creation', {}, BEGUN],
    ['the creation of the BatchRelease that began it', { begunAt: '2023-11-14T20:00:00.000Z' }, '2023-11-14T20:00:00.000Z'],
  ])('leaves when it began: %s (G3)', (_title, record, begunAt) => {
    const metadata = { ...ended.metadata, creationTimestamp: BEGUN }
    const plan = planBatchRelease(aView({ ...ended, metadata, record: { ...ended.record, ...record } }))
    expect(JSON.parse(String(valuesOf(plan)[frozen]))).toMatchObject({ watch: { begunAt } })
  })

  it('is continued since 1970 where the time is an earlier one, and once', () => {
    const text = { [frozen]: JSON.stringify({ revision: 'new', watch: { ...watch, begunAt: '0001-01-01T00:00:00Z' } }) }
    const annotations = { ...unannounced, ...text }
    const begunAt = '1970-01-01T00:00:00.000Z'
    const plan = planBatchRelease(aView({ ...comes, metadata: now, annotations }))
    expect(plan).toMatchObject({ kind: 'writeRecord', why: 'inherit', record: { begunAt } })
    const next = planBatchRelease(aView({ ...comes, metadata: now, annotations, record: { state: 'stopped', begunAt } }))
    expect(next).toMatchObject({ kind: 'writeStatus' })
  })

  it.each([
    ['', {}, {}],
    [' with its nodes in flight', { [unsettled]: carried }, { permits: inFlight.permits }],
  ])('is continued since it began%s, before anything is published (G3, F11)', (_title, annotations, inherited) => {
    const text = { [frozen]: JSON.stringify({ revision: 'new', watch: { ...watch, begunAt: BEGUN } }) }
    const plan = planBatchRelease(aView({ ...comes, metadata: now, annotations: { ...unannounced, ...text, ...annotations } }))
    expect(plan).toMatchObject({ kind: 'writeRecord', why: 'inherit', record: { begunAt: BEGUN, ...inherited } })
  })

  it.each([
    ['when it began', watch],
    ['a time when it began that is one', { ...watch, begunAt: 'lately' }],
    ['a time before this one began', { ...watch, begunAt: '2023-11-14T23:00:00Z' }],
  ])('is continued as one that begins now, where nothing says %s', (_what, left) => {
    const text = { [frozen]: JSON.stringify({ revision: 'new', watch: left }) }
    const view = aView({ ...comes, metadata: now, annotations: { ...unannounced, ...text } })
    expect(planBatchRelease(view)).toMatchObject({ kind: 'writeStatus' })
  })

  it.each([
    ['the open batch', { batches: [{ canaryReplicas: 1 }, { canaryReplicas: 3 }, { canaryReplicas: '100%' }], batchPartition: 1 }, 2],
    ['the last one where the plan names none', { batches: [{ canaryReplicas: 1 }, { canaryReplicas: '100%' }] }, 2],
  ])('records how far it had opened its batches, and to how many nodes: %s (G3)', (_title, releasePlan, step) => {
    const view = aView({ ...ended, record: { ...ended.record, size: 3 } })
    const release = {
      ...view.release,
      spec: { ...view.release.spec, releasePlan: { ...releasePlan, enableExtraWorkloadForCanary: false } },
    }
    const plan = planBatchRelease({ ...view, release })
    expect(JSON.parse(String(valuesOf(plan)[frozen]))).toMatchObject({ step, size: 3 })
  })

  it('leaves the stable revision that it was to keep, though no desired node runs it (G3)', () => {
    const plan = planBatchRelease(aView({ ...ended, nodes: 'a:new b:new c:other' }))
    expect(JSON.parse(String(valuesOf(plan)[frozen]))).toMatchObject({ revision: 'new', stable: 'old' })
  })

  it('leaves the revision that nodes run, if it stays for nodes left', () => {
    const plan = planBatchRelease(aView({ ...ended, nodes: 'a:new b:new c:other', tranche: { ...ended.tranche, left: { nodes: ['c'] } } }))
    expect(JSON.parse(String(valuesOf(plan)[frozen]))).toMatchObject({ revision: 'new', stable: 'other' })
  })

  it('leaves a stable revision that a later Rollout can find, if the history has lost its own (G3)', () => {
    const view = aView({ ...ended, nodes: 'a:new b:new c:other' })
    const plan = planBatchRelease({ ...view, revisions: [aRevision('other', 2), aRevision('new', 3)] })
    expect(JSON.parse(String(valuesOf(plan)[frozen]))).toMatchObject({ revision: 'new', stable: 'other' })
  })

  it('records it while it is deleted', () => {
    const { watched, ...view } = aView({ ...ended, status: { stoppedTime, watchedNodes } })
    expect(watchedNodesOf(view, watched)).toEqual(watchedNodes)
  })

  it('keeps it while the DaemonSet does not exist (G12)', () => {
    const { watched, ...view } = aView({
      daemonSet: null,
      record: inFlight,
      status: { stoppedTime: { ...stoppedTime, release: 'r1' }, watchedNodes },
    })
    expect(watchedNodesOf(view, watched)).toEqual(watchedNodes)
  })

  it('leaves only the time since when it was judged where the data is too large', () => {
    const many = Array.from({ length: 100 }, (_, at) => ({
      node: String(at).padStart(253, 'n'),
      since: stoppedTime.since,
      uid: 'u'.repeat(36),
      seen: 1,
    }))
    const plan = planBatchRelease(aView({ ...ended, status: { stoppedTime, watchedNodes: many } }))
    expect(JSON.parse(String(valuesOf(plan)[frozen]))).toMatchObject({ watch: { stopped: stoppedTime, nodes: [] } })
  })

  it('is resumed: the status has its data before anything is published, and the time between counts as a stop', () => {
    const view = aView(comes)
    const plan = planBatchRelease(view)
    expect(plan).toEqual({ kind: 'writeStatus', status: { stoppedTime: { ...stoppedTime, release: 'r2' }, watchedNodes } })
    const { watched: _watched, ...unwatched } = view
    expect(watchedNodesOf(unwatched, [])).toEqual(watchedNodes)

    const published = planBatchRelease(onceSaid(view))
    expect(published).toMatchObject({ kind: 'patchDaemonSet', why: 'publish' })
    expect(valuesOf(published)).toHaveProperty([frozen], undefined)
  })

  it.each([
    ['of another revision', { ...watch, revision: 'other' }],
    ['of another DaemonSet, as in a copied manifest', { ...watch, workload: 'another' }],
    ['whose times are unreadable', { ...watch, stopped: { ...stoppedTime, startedAt: 'lately' } }],
    ['without data about nodes', 'odd'],
  ])('is ignored by a release %s', (_what, other) => {
    const annotations = { ...unannounced, [frozen]: JSON.stringify({ revision: 'new', watch: other }) }
    const plan = planBatchRelease(aView({ ...comes, annotations }))
    expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'publish' })
  })
})

/** Annotations that a patch sets, or removes (undefined). */
function valuesOf(plan: ReturnType<typeof planBatchRelease>): Record<string, unknown> {
  if (plan.kind !== 'patchDaemonSet') throw new Error(`it plans ${plan.kind}`)
  const prefix = '/metadata/annotations/'
  const changes = plan.patch.filter(({ op, path }) => op !== 'test' && path.startsWith(prefix))
  return Object.fromEntries(
    changes.map((operation) => [
      operation.path.slice(prefix.length).replaceAll('~1', '/'),
      'value' in operation ? operation.value : undefined,
    ]),
  )
}

function none(): Carried {
  return { workloadUid: '', watermark: '', permits: [] }
}
