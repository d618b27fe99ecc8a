import { carriedText, carryOver, type Carried } from '@tranche/flight'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { planBatchRelease } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, calmRecord, NOW_MS, onceSaid, permitFor, type ViewFields } from './build-view.ts'

const { controlInfo, frozen, inProgressing, originalUpdateStrategy, unsettled } = daemonSetAnnotations
const unannounced = { [controlInfo]: null, [inProgressing]: null }
const inFlight = { state: 'stopped', holds: [{ reason: 'Deleting', id: 'release' }], permits: [permitFor('a'), permitFor('b')] } as const
const deletedAgo = (ms: number): NonNullable<ViewFields['metadata']> => ({ deletionTimestamp: new Date(NOW_MS - ms).toISOString() })
const carried = carriedText(carryOver({ ...calmRecord, ...inFlight }) ?? none()) ?? ''

describe('a release that is deleted with nodes in flight (F11)', () => {
  it('waits 30 seconds for them to have an available pod, by the clock', () => {
    const view = onceSaid(aView({ metadata: deletedAgo(10_000), record: inFlight, nodes: 'a:new! b:- c:old d:old e:old' }))
    expect(planBatchRelease(view)).toEqual({ kind: 'wait', for: 'the BatchRelease is being deleted', recheckAfterMs: 20_000 })
    expect(view.release.status?.waiting).toMatchObject({ reason: 'Deleting', nodes: ['a', 'b'] })
    expect(view.release.status?.waiting?.message).toContain(`waiting until ${new Date(NOW_MS + 20_000).toISOString()}`)
  })

  it('then gives up control and leaves them to the next release, in one patch', () => {
    const plan = planBatchRelease(aView({ metadata: deletedAgo(30_000), record: inFlight, nodes: 'a:new! b:- c:old d:old e:old' }))
    expect(valuesOf(plan)).toMatchObject({ [unsettled]: carried, [controlInfo]: undefined, [frozen]: expect.any(String) })
  })

  it('leaves them also where no node runs an old pod and the strategy is given back', () => {
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

  it('gives no strategy back that nobody has remembered (G11)', () => {
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

  it('goes on waiting where they are too many to be carried over', () => {
    const permits = Array.from({ length: 1000 }, (_, at) => permitFor(String(at).padStart(253, 'n')))
    const view = onceSaid(aView({ metadata: deletedAgo(60_000), record: { ...inFlight, permits } }))
    expect(planBatchRelease(view)).toMatchObject({ kind: 'wait' })
  })
})

describe('a release that begins where another has let go (F11)', () => {
  const begins: ViewFields = { record: { state: 'stopped' }, annotations: { ...unannounced, [unsettled]: carried } }

  it.each([
    ['of a Rollout', {}],
    [
      'written by hand',
      { metadata: { ownerReferences: [] }, annotations: { ...begins.annotations, [daemonSetAnnotations.rollout]: null } },
    ],
  ] as const)('inherits what is in flight before it announces anything: %s', (_whose, fields) => {
    const plan = planBatchRelease(aView({ ...begins, ...fields }))
    expect(plan).toMatchObject({ kind: 'writeRecord', why: 'inherit', record: { state: 'stopped', permits: inFlight.permits } })
  })

  it('takes the annotation away with its announcement, once the record has it', () => {
    const plan = planBatchRelease(aView({ ...begins, record: { state: 'stopped', permits: inFlight.permits } }))
    expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'announce' })
    expect(valuesOf(plan)).toMatchObject({ [unsettled]: undefined, [controlInfo]: expect.any(String) })
  })

  it('does not open while the annotation is there', () => {
    const plan = planBatchRelease(aView({ record: { state: 'stopped' }, annotations: { [unsettled]: carried } }))
    expect(plan).toMatchObject({ kind: 'writeRecord', why: 'inherit' })
  })

  it.each([
    [
      'of another DaemonSet, as a copied manifest brings it',
      { daemonSetUid: 'another', record: { state: 'stopped', workloadUid: 'another' } },
    ],
    ['that cannot be read', { annotations: { ...unannounced, [unsettled]: 'odd' } }],
  ] as const)('takes an annotation away %s', (_which, fields) => {
    const plan = planBatchRelease(aView({ ...begins, ...fields }))
    expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'announce' })
    expect(valuesOf(plan)).toHaveProperty([unsettled], undefined)
  })
})

/** The annotations that a patch sets, or removes (undefined). */
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
