import { toFleetView } from '@tranche/fleet'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { controlInfo, planBatchRelease } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, baseRecord, NOW_MS, onceSaid, permitFor, planOnceSaid, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const {
  canaryRevision,
  controlInfo: control,
  frozen,
  inProgressing,
  originalUpdateStrategy,
  partition,
  paused,
  rollout,
} = daemonSetAnnotations
const deleting = { deletionTimestamp: '2023-11-14T00:00:00Z' }
const unannounced = { [canaryRevision]: null, [partition]: null, [control]: null, [inProgressing]: null }
const finishing: ViewFields = {
  nodes: 'a:new b:new c:new d:new e:new',
  spec: { batchPartition: undefined },
  record: { partition: 0 },
  annotations: { [partition]: '0' },
  status: { phase: 'Finalizing', canaryStatus: { batchState: 'Ready', currentBatch: 1, batchReadyTime: stamp(-10_000) } },
}

const settling: ViewFields = {
  ...finishing,
  status: { phase: 'Finalizing', canaryStatus: { batchState: 'Ready', currentBatch: 1, batchReadyTime: stamp(-1_000) } },
}

/** A manifest without the keys of Tranche has replaced the DaemonSet during the last batch. */
const replaced: ViewFields = {
  ...finishing,
  nodes: 'a:new b:new c:new d:new! e:old',
  annotations: unannounced,
  status: { phase: 'Finalizing', canaryStatus: { batchState: 'Upgrading', currentBatch: 1 } },
}

/** Record of a release that is over. */
const unbound = { ...finishing.annotations, [rollout]: null }
const over = { partition: 0, state: 'stopped', holds: [{ reason: 'Finalized', id: 'release' }] } as const

describe('planBatchRelease', () => {
  const cases: Record<string, { view: ViewFields; want: object }> = {
    'adds its finalizer first': {
      view: { metadata: { finalizers: [] }, record: null, annotations: unannounced },
      want: { kind: 'setFinalizer', present: true },
    },
    'creates the first record before it publishes anything': {
      view: { record: null, annotations: unannounced },
      want: { kind: 'createRecord', allowance: { revision: 'new', partition: 3, limit: 2, generation: 2, workloadUid: 'daemonset' } },
    },
    'takes the strategy over before it publishes the batch': {
      view: { record: { state: 'stopped' }, annotations: unannounced, daemonSet: { updateStrategy: { type: 'RollingUpdate' } } },
      want: { kind: 'patchDaemonSet', why: 'takeOver' },
    },
    'publishes the batch before it opens the record': {
      view: { record: { state: 'stopped' }, annotations: unannounced },
      want: { kind: 'patchDaemonSet', why: 'publish' },
    },
    'opens the published record after reading everything live (F9)': {
      view: { record: { state: 'stopped' } },
      want: { kind: 'writeRecord', why: 'open', confirm: true, record: { state: 'open', epoch: 4, seq: 8, holds: [] } },
    },
    'excludes executors that have not seen every pod it has seen (F2)': {
      view: { record: { state: 'stopped', watermark: '1' } },
      want: { kind: 'writeRecord', why: 'open', record: { watermark: '10' } },
    },
    'opens the record before it removes the pause from the DaemonSet': {
      view: { record: { state: 'stopped', holds: [{ reason: 'Paused', id: '3' }] }, annotations: { [paused]: 'true' } },
      want: { kind: 'writeRecord', why: 'open' },
    },
    'removes the pause from the DaemonSet once the record is open': {
      view: { annotations: { [paused]: 'true' } },
      want: { kind: 'patchDaemonSet', why: 'resume' },
    },
    'publishes the pause on the DaemonSet before it revokes the record (F8)': {
      view: { tranche: { paused: true } },
      want: { kind: 'patchDaemonSet', why: 'pause' },
    },
    'revokes the record, with the reason, once the pause is published (F8)': {
      view: { tranche: { paused: true }, annotations: { [paused]: 'true' } },
      want: {
        kind: 'writeRecord',
        why: 'stop',
        confirm: false,
        record: { state: 'voiding', epoch: 4, holds: [{ reason: 'Paused', id: '4' }] },
      },
    },
    'touches every pod of a record during its revocation, even if the desired state has changed (F8)': {
      view: { record: { state: 'voiding', permits: [permitFor('a'), permitFor('b')] } },
      want: { kind: 'touchPermits', permits: [permitFor('a'), permitFor('b')], lowerTo: null },
    },
    'touches every pod of a record that the next version revokes (F8)': {
      view: { record: { state: 'revoking', permits: [permitFor('a')] } },
      want: { kind: 'touchPermits', permits: [permitFor('a')], lowerTo: null },
    },
    'names the pod whose touch was not answered clearly before it touches again (F8)': {
      view: { record: { state: 'voiding', permits: [permitFor('a')] }, tranche: { paused: true }, view: { unclear: 'pod-a on a: 500' } },
      want: { kind: 'writeStatus', status: { observedGeneration: 4, waiting: { reason: 'TouchUnclear', nodes: ['a'] } } },
    },
    'revokes an open record whose DaemonSet is gone without publishing it': {
      view: { daemonSet: null },
      want: { kind: 'writeRecord', why: 'stop', record: { holds: [{ reason: 'WorkloadNotFound', id: 'agent' }] } },
    },
    'updates the reasons of a stop': {
      view: {
        record: { state: 'stopped', holds: [{ reason: 'BudgetZero', id: '1' }] },
        tranche: { paused: true },
        annotations: { [paused]: 'true' },
      },
      want: { kind: 'writeRecord', why: 'holds', record: { state: 'stopped', epoch: 3, holds: [{ reason: 'Paused', id: '4' }] } },
    },
    'narrows without a hold when the batch keeps more nodes old': {
      view: { record: { partition: 0 } },
      want: { kind: 'writeRecord', why: 'narrow', record: { state: 'voiding', holds: [], partition: 0 } },
    },
    'publishes a larger batch before it widens the record': {
      view: { spec: { batchPartition: 1 } },
      want: { kind: 'patchDaemonSet', why: 'publish' },
    },
    'widens the record once the larger batch is published, after reading everything live (F9)': {
      view: { spec: { batchPartition: 1 }, annotations: { [partition]: '0' } },
      want: { kind: 'writeRecord', why: 'widen', confirm: true, record: { partition: 0, epoch: 3, seq: 8 } },
    },
    'follows a generation that keeps the revision (F10)': {
      view: { generation: 3 },
      want: { kind: 'writeRecord', why: 'widen', record: { generation: 3, epoch: 3 } },
    },
    'removes every unexecuted permit, and lowers nothing but the limit (F10)': {
      view: {
        record: { limit: 5, permits: [permitFor('a'), permitFor('b'), permitFor('c')] },
        spec: { batchPartition: 1 },
        annotations: { [partition]: '0' },
      },
      want: {
        kind: 'touchPermits',
        permits: [permitFor('a'), permitFor('b'), permitFor('c')],
        lowerTo: { limit: 2, partition: 3, generation: 2 },
      },
    },
    'touches every old pod before it opens a record of a recreated DaemonSet (F11)': {
      view: { record: { state: 'stopped', workloadUid: 'before' } },
      want: { kind: 'touchOldPods', next: { kind: 'writeRecord', why: 'open' } },
    },
    'touches every old pod before it takes over from a BatchRelease that has vanished (F11)': {
      view: {
        record: { state: 'stopped' },
        annotations: { [control]: controlInfo({ name: 'agent', uid: 'gone' }) },
        view: { otherControl: 'vanished' },
      },
      want: { kind: 'touchOldPods', next: { kind: 'patchDaemonSet', why: 'publish' } },
    },
    'continues the release of a BatchRelease that has vanished since that began (F11, G3)': {
      view: vanishedBefore('new'),
      want: { kind: 'writeRecord', why: 'inherit', record: { begunAt: '2023-11-14T21:00:00.000Z' } },
    },
    'begins where the BatchRelease that has vanished released another revision': {
      view: vanishedBefore('other'),
      want: { kind: 'touchOldPods', next: { kind: 'patchDaemonSet', why: 'publish' } },
    },
    'counts what a BatchRelease that has vanished had in flight, before it has a record of its own (F11)': {
      view: { record: null, annotations: { [control]: controlInfo({ name: 'agent', uid: 'gone' }) }, view: { otherControl: 'vanished' } },
      want: { kind: 'restoreRecord', allowance: { revision: 'new' } },
    },
    'acknowledges no stop before it has touched what a BatchRelease that has vanished permitted (F11, G9)': {
      view: {
        record: null,
        tranche: { paused: true },
        annotations: { [control]: controlInfo({ name: 'agent', uid: 'gone' }) },
        view: { otherControl: 'vanished' },
      },
      want: { kind: 'restoreRecord' },
    },
    'restores no record that definitions only hide, also while its BatchRelease is deleted (F11)': {
      view: { record: null, metadata: deleting, view: { schemaGap: 'outdated' } },
      want: { kind: 'wait', for: 'outdated' },
    },
    'touches nothing where it may not take over from a BatchRelease that has vanished': {
      view: {
        record: null,
        metadata: { ownerReferences: [] },
        annotations: { [control]: controlInfo({ name: 'agent', uid: 'gone' }), [rollout]: null },
        view: { otherControl: 'vanished' },
      },
      want: { kind: 'wait' },
    },
    'publishes nothing while another BatchRelease is in charge': {
      view: {
        record: { state: 'stopped' },
        annotations: { [control]: controlInfo({ name: 'b', uid: 'b' }) },
        view: { otherControl: 'exists' },
      },
      want: { kind: 'writeRecord', why: 'holds', record: { holds: [{ reason: 'ForeignControl', id: 'b' }] } },
    },
    'keeps the record while the DaemonSet controller has not observed the generation': {
      view: { generation: 3, observed: 2 },
      want: { kind: 'wait', for: 'waiting for the DaemonSet controller to observe the latest generation' },
    },
    'reports that it finishes before it restores anything': {
      view: { ...finishing, status: { ...finishing.status, phase: 'Progressing' } },
      want: { kind: 'writeStatus', status: { phase: 'Finalizing' } },
    },
    'restores nothing before the last batch has settled': {
      view: {
        ...finishing,
        status: { phase: 'Finalizing', canaryStatus: { batchState: 'Ready', currentBatch: 1, batchReadyTime: stamp(-9_000) } },
      },
      want: { kind: 'wait', recheckAfterMs: 1_000 },
    },
    'restores nothing while a permit is unsettled': {
      view: { ...finishing, record: { partition: 0, permits: [permitFor('a')] } },
      want: { kind: 'wait' },
    },
    'stops the record at the very end of the settling time, before control changes hands (F11)': {
      view: finishing,
      want: { kind: 'writeRecord', why: 'stop', record: { state: 'voiding', holds: [{ reason: 'Finalized', id: 'release' }] } },
    },
    'removes the keys of the release once the record is stopped': {
      view: { ...finishing, record: over },
      want: { kind: 'patchDaemonSet', why: 'restore' },
    },
    'opens again when a node breaks before the keys are removed': {
      view: { ...finishing, nodes: 'a:new b:new c:new d:new e:old', record: over },
      want: { kind: 'writeRecord', why: 'open' },
    },
    'restores the keys that another client removed before the record was stopped': {
      view: { ...finishing, annotations: unannounced },
      want: { kind: 'patchDaemonSet', why: 'publish' },
    },
    'says that the release is over in a record that another stop has stopped, before control changes hands (F11)': {
      view: { ...finishing, record: { ...over, holds: [{ reason: 'Paused', id: '3' }] } },
      want: { kind: 'writeRecord', why: 'holds', record: { state: 'stopped', epoch: 3, seq: 8, holds: over.holds } },
    },
    'publishes a stop even without an open record': {
      view: { record: { state: 'stopped', holds: [{ reason: 'Paused', id: '4' }] }, tranche: { paused: true } },
      want: { kind: 'patchDaemonSet', why: 'pause' },
    },
    'stops without publishing it where the API server rejects that': {
      view: { tranche: { paused: true }, view: { pauseRefused: true } },
      want: { kind: 'writeRecord', why: 'stop', record: { state: 'voiding' } },
    },
    'keeps OnDelete and publishes in one patch that no release runs when NotReady nodes are left': {
      view: { ...finishing, nodes: 'a:new b:new c:new d:new e:old?' },
      want: { kind: 'patchDaemonSet', why: 'publish' },
    },
    'writes nothing more about left nodes once that is published': {
      view: { ...finishing, nodes: 'a:new b:new c:new d:new e:old?', annotations: { [partition]: '0', [inProgressing]: null } },
      want: { kind: 'wait' },
    },
    'freezes the DaemonSet when it is deleted with nothing in flight': {
      view: { metadata: deleting, record: { state: 'stopped', holds: [{ reason: 'Deleting', id: 'release' }] } },
      want: { kind: 'patchDaemonSet', why: 'release' },
    },
    'removes its finalizer once it has detached': {
      view: { metadata: deleting, record: { state: 'stopped', holds: [{ reason: 'Deleting', id: 'release' }] }, annotations: unannounced },
      want: { kind: 'setFinalizer', present: false },
    },
    'revokes its record before its finalizer is removed, even if another client removed control (F11)': {
      view: { metadata: deleting, annotations: unannounced },
      want: { kind: 'writeRecord', why: 'stop', record: { state: 'voiding' } },
    },
    'touches the pods of its record before its finalizer is removed (F11)': {
      view: { metadata: deleting, annotations: unannounced, record: { state: 'voiding', permits: [permitFor('a')] } },
      want: { kind: 'touchPermits' },
    },
    'keeps its finalizer while definitions may hide its record, even if another client removed control (F11, G9)': {
      view: {
        record: null,
        metadata: deleting,
        annotations: { [control]: null },
        status: { phase: 'Preparing', observedGeneration: 4 },
        view: { schemaGap: 'outdated' },
      },
      want: { kind: 'wait' },
    },
    'removes its finalizer under such definitions if it never had a record': {
      view: {
        record: null,
        metadata: deleting,
        annotations: { [control]: null },
        status: { phase: 'Preparing', observedGeneration: undefined },
        view: { schemaGap: 'outdated' },
      },
      want: { kind: 'setFinalizer', present: false },
    },
    'removes its finalizer when the DaemonSet is gone and the record is stopped': {
      view: { metadata: deleting, daemonSet: null, record: { state: 'stopped', permits: [permitFor('a')] } },
      want: { kind: 'setFinalizer', present: false },
    },
    'never opens again after it has detached': {
      view: { ...finishing, record: over, annotations: unannounced },
      want: { kind: 'writeStatus', status: { phase: 'Completed' } },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, want }) => {
    const plan = planBatchRelease(aView(view))
    expect(
      plan.kind === 'writeStatus' && (want as { kind: string }).kind !== 'writeStatus' ? planOnceSaid(aView(view)) : plan,
    ).toMatchObject(want)
  })

  it.each<[string, ViewFields['record']]>([
    ['an open release', {}],
    ['a failed release', { state: 'stopped', holds: [{ reason: 'ReleaseFailed', id: 'r1' }] }],
    ['a release that was paused', { state: 'stopped', holds: [{ reason: 'Paused', id: '3' }] }],
  ])('publishes %s as running when its DaemonSet is replaced during the last batch (G9, G12)', (_which, record) => {
    expect(publishedKeys({ ...replaced, record: { partition: 0, ...record } })).toEqual(expect.arrayContaining([control, inProgressing]))
  })

  it('publishes no release as running when its DaemonSet is replaced after its end', () => {
    const keys = publishedKeys({ ...replaced, tranche: { left: { nodes: ['d', 'e'] } } })
    expect([keys.includes(control), keys.includes(inProgressing)]).toEqual([true, false])
  })

  it('restores the strategy and removes every key but the binding in one patch', () => {
    const plan = planBatchRelease(aView({ ...finishing, record: over, view: { strategyScope: 'release' } }))
    const operations = plan.kind === 'patchDaemonSet' ? plan.patch : []
    expect(operations.slice(0, 2)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'daemonset' },
      { op: 'test', path: '/metadata/resourceVersion', value: '40' },
    ])
    expect(operations.filter(({ op }) => op === 'remove')).toHaveLength(6)
    expect(operations).toContainEqual({ op: 'replace', path: '/spec/updateStrategy/type', value: 'RollingUpdate' })
    expect(JSON.stringify(operations)).not.toContain(rollout.replace('/', '~1'))
    expect(JSON.stringify(operations)).toContain(originalUpdateStrategy.replaceAll('/', '~1'))
  })

  it.each([
    ['keeps OnDelete where a Rollout’s binding owns it', {}, []],
    ['restores the strategy where no Rollout is bound', { annotations: unbound, metadata: { ownerReferences: [] } }, ['RollingUpdate']],
  ] as const)('%s', (_name, fields, want) => {
    const plan = planBatchRelease(aView({ ...finishing, record: over, ...fields }))
    const values = (plan.kind === 'patchDaemonSet' ? plan.patch : []).flatMap((one) =>
      one.path === '/spec/updateStrategy/type' && one.op === 'replace' ? [one.value] : [],
    )
    expect(plan.kind).toBe('patchDaemonSet')
    expect(values).toEqual(want)
  })

  it('keeps the strategy where the recorded type is invalid', () => {
    const fields = { ...finishing, record: over, annotations: { [partition]: '0', [originalUpdateStrategy]: 'Sideways' } }
    const plan = planBatchRelease(aView({ ...fields, view: { strategyScope: 'release' } }))
    const paths = (plan.kind === 'patchDaemonSet' ? plan.patch : []).map(({ op, path }) => `${op} ${path}`)
    expect(paths.filter((path) => path.startsWith('remove'))).toHaveLength(6)
    expect(paths.filter((path) => path.includes('updateStrategy/'))).toEqual([])
  })

  it('records what was left when it is deleted during a release', () => {
    const stopped = { state: 'stopped', holds: [{ reason: 'Deleting', id: 'release' }] } as const
    const plan = planBatchRelease(aView({ metadata: deleting, record: stopped, nodes: 'a:new b:old c:old' }))
    const said = (plan.kind === 'patchDaemonSet' ? plan.patch : []).find(({ path }) => path.endsWith(frozen.replace('/', '~1')))
    const value = said !== undefined && 'value' in said ? said.value : ''
    expect(JSON.parse(String(value))).toMatchObject({ revision: 'new', stable: 'old', nodesLeft: 2, at: stamp(0) })
  })

  it('does not restore the strategy when the template is newer than the published one', () => {
    const view = { metadata: deleting, record: { state: 'stopped', holds: [{ reason: 'Deleting', id: 'release' }] } } as const
    const published = { ...view, nodes: 'a:old b:old', annotations: { [canaryRevision]: 'old' } }
    const plan = planBatchRelease(aView(published))
    expect(plan.kind === 'patchDaemonSet' && plan.patch.some(({ path }) => path.includes('tranche.dev~1frozen'))).toBe(true)
    const pending = planOnceSaid(aView({ ...published, generation: 3, observed: 2 }))
    expect(pending.kind).toBe('wait')
  })

  it('pauses a DaemonSet whose status keeps changing: it tests who is in charge, not the resourceVersion', () => {
    const plan = planBatchRelease(aView({ tranche: { paused: true } }))
    const paths = (plan.kind === 'patchDaemonSet' ? plan.patch : []).map(({ op, path }) => `${op} ${path}`)
    expect(paths).toEqual([
      'test /metadata/uid',
      'test /metadata/annotations/batchrelease.rollouts.kruise.io~1control-info',
      'add /metadata/annotations/tranche.dev~1paused',
    ])
  })

  it('keeps the rest of the record when it writes it', () => {
    const plan = planBatchRelease(aView({ record: { state: 'stopped', permits: [permitFor('a')] } }))
    expect(plan.kind === 'writeRecord' && plan.record).toEqual({
      ...baseRecord,
      epoch: 4,
      seq: 8,
      state: 'open',
      permits: [permitFor('a')],
    })
  })

  it('checks again when a NotReady node counts as dead by the clock alone (G1)', () => {
    const { fleet, monotonicMs } = aView({})
    const [first, ...others] = fleet.nodes
    const lost = {
      ...first!,
      ready: false,
      notReadyFromMs: monotonicMs - 299_000,
      pods: first!.pods.map((pod) => ({ ...pod, ready: false, readyFromMs: null })),
    }
    const view = onceSaid(aView({ view: { fleet: toFleetView([lost, ...others]) } }))
    expect(planBatchRelease(view)).toMatchObject({ kind: 'wait', recheckAfterMs: 1_000 })
  })

  it.each<[string, ViewFields]>([
    ['in the final settling time of a batch that tolerates it', { ...settling, spec: { batchPartition: undefined, failureThreshold: 1 } }],
    [
      'while a changed strategy stops the end of its release',
      {
        ...settling,
        daemonSet: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } },
        annotations: { ...settling.annotations, [paused]: 'true' },
        status: { ...settling.status, strategyDrift: { release: 'r1', rounds: 2, generation: 2 } },
        record: { partition: 0, state: 'stopped', holds: [{ reason: 'StrategyConflict', id: '2' }] },
      },
    ],
  ])('checks again when a pod becomes available by the clock alone, %s (G6)', (_when, fields) => {
    const { fleet, ...rest } = aView({ ...fields, daemonSet: { ...fields.daemonSet, minReadySeconds: 60 } })
    const readyFromMs = rest.monotonicMs - 59_000
    const nodes = fleet.nodes.map((node) =>
      node.name === 'e' ? { ...node, pods: node.pods.map((pod) => ({ ...pod, readyFromMs })) } : node,
    )
    const view = onceSaid({ ...rest, fleet: toFleetView(nodes) })
    expect(planBatchRelease(view)).toMatchObject({ kind: 'wait', recheckAfterMs: 1_000 })
    const then = { ...view, nowMs: view.nowMs + 1_000, monotonicMs: view.monotonicMs + 1_000 }
    expect(planBatchRelease(then)).toMatchObject({ kind: 'writeStatus', status: { updatedAvailableReplicas: 5 } })
  })

  it('never lets its counts delay the next timer', () => {
    const canaryStatus = { batchState: 'Ready', currentBatch: 1, batchReadyTime: stamp(-9_500) } as const
    const view = onceSaid(aView({ ...finishing, status: { ...finishing.status, canaryStatus } }))
    const release = { ...view.release, status: { ...view.release.status, message: 'settling: a moment ago' } }
    const plan = planBatchRelease({ ...view, release, statusWrittenMs: 99_000 })
    expect(plan).toEqual({ kind: 'wait', for: 'counts', recheckAfterMs: 500 })
  })
})

/** Annotations that the next plan adds to the DaemonSet; fails where it does not publish. */
function publishedKeys(view: ViewFields): readonly string[] {
  const plan = planOnceSaid(aView(view))
  expect(plan).toMatchObject({ kind: 'patchDaemonSet', why: 'publish' })
  const paths = (plan.kind === 'patchDaemonSet' ? plan.patch : []).flatMap(({ op, path }) => (op === 'add' ? [path] : []))
  return paths.map((path) => path.replace('/metadata/annotations/', '').replace('~1', '/'))
}

function stamp(fromNowMs: number): string {
  return new Date(NOW_MS + fromNowMs).toISOString()
}

/** A BatchRelease takes over from one that vanished, and that had published this revision. */
function vanishedBefore(revision: string): ViewFields {
  const begunAt = '2023-11-14T21:00:00.000Z'
  const annotations = { [control]: controlInfo({ name: 'agent', uid: 'gone', begunAt }), [daemonSetAnnotations.canaryRevision]: revision }
  const metadata = { creationTimestamp: '2023-11-14T22:00:00Z' }
  return { record: { state: 'stopped' }, metadata, annotations, view: { otherControl: 'vanished' } }
}
