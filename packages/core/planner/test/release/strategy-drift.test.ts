import type { StrategyDriftStatus } from '@tranche/api-schema'
import { toFleetView } from '@tranche/fleet'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { planBatchRelease, wantedAllowance } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aFleetPod, aView, planOnceSaid, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const { controlInfo, originalUpdateStrategy, paused } = daemonSetAnnotations
const setBack: ViewFields = {
  daemonSet: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } },
  generation: 3,
}
const round = (rounds: number, generation: number, fields: Partial<StrategyDriftStatus> = {}): { strategyDrift: StrategyDriftStatus } => ({
  strategyDrift: { release: 'r1', rounds, generation, ...fields },
})
const reassert = [
  { op: 'test', path: '/metadata/uid', value: 'daemonset' },
  { op: 'test', path: '/metadata/annotations/batchrelease.rollouts.kruise.io~1control-info', value: expect.any(String) },
  { op: 'test', path: '/spec/updateStrategy/type', value: 'RollingUpdate' },
  { op: 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' },
]
const surging = {
  fleet: toFleetView([
    {
      name: 'a',
      desired: true,
      ready: true,
      answers: true,
      labels: {},
      pods: [aFleetPod('a', 'old'), aFleetPod('a', 'new!', { uid: 'surge', name: 'surge' })],
    },
  ]),
}

describe('a strategy that is changed while a release is in charge (G11)', () => {
  const cases: Record<string, { view: ViewFields; want: object }> = {
    'is recorded before it is corrected': {
      view: setBack,
      want: { kind: 'reportDrift', status: round(1, 3), message: expect.stringContaining('OnDelete again, but only once') },
    },
    'is set to OnDelete again as soon as that is stored': {
      view: { ...setBack, status: round(1, 3) },
      want: { kind: 'patchDaemonSet', why: 'reassert', patch: reassert },
    },
    'is set to OnDelete again before the DaemonSet controller has observed it': {
      view: { ...setBack, observed: 2, status: round(1, 3) },
      want: { kind: 'patchDaemonSet', why: 'reassert' },
    },
    'is set to OnDelete again in a pause': {
      view: {
        ...setBack,
        status: round(1, 3),
        tranche: { paused: true },
        annotations: { [paused]: 'true' },
        record: { state: 'stopped', holds: [{ reason: 'Paused', id: '4' }] },
      },
      want: { kind: 'patchDaemonSet', why: 'reassert' },
    },
    'is recorded as the original if none is recorded': {
      view: { ...setBack, status: round(1, 3), annotations: { [originalUpdateStrategy]: null } },
      want: { patch: expect.arrayContaining([expect.objectContaining({ op: 'add', value: 'RollingUpdate' })]) },
    },
    'waits while a node has two pods of a surge': {
      view: { ...setBack, status: round(1, 3), view: surging },
      want: { kind: 'wait' },
    },
    'counts another round with another generation': {
      view: { ...setBack, generation: 5, status: round(1, 3) },
      want: { kind: 'reportDrift', status: round(2, 5), message: expect.stringContaining('Tranche leaves it so') },
    },
    'is left after the second round, and the release is stopped': {
      view: { ...setBack, generation: 5, status: round(2, 5), annotations: { [paused]: 'true' } },
      want: { kind: 'writeRecord', why: 'stop', record: { state: 'voiding', holds: [{ reason: 'StrategyConflict' }] } },
    },
    'continues the count that the previous version recorded': {
      view: { ...setBack, generation: 5, status: { contested: { release: 'r1', rounds: 1, generation: 3 } } },
      want: { kind: 'reportDrift', status: round(2, 5) },
    },
    'counts no further round for other changes of the DaemonSet': {
      view: { ...setBack, generation: 9, status: round(2, 5) },
      want: { kind: 'patchDaemonSet', why: 'pause' },
    },
    'is set to OnDelete again by a retry, which restarts the count': {
      view: { ...setBack, generation: 5, status: round(2, 5), tranche: { retry: 'again' } },
      want: { kind: 'reportDrift', status: round(1, 5, { retry: 'again' }) },
    },
    'is counted from zero in another release': {
      view: { ...setBack, generation: 5, status: round(2, 5, { release: 'r0' }) },
      want: { kind: 'reportDrift', status: round(1, 5) },
    },
    'is taken over without a report before the release is in charge': {
      view: { ...setBack, record: { state: 'stopped' }, annotations: { [controlInfo]: null } },
      want: { kind: 'patchDaemonSet', why: 'takeOver' },
    },
    'is left to its writer when the release is being deleted': {
      view: { ...setBack, metadata: { deletionTimestamp: '2023-11-14T00:00:00Z' }, annotations: { [paused]: 'true' } },
      want: { kind: 'writeRecord', why: 'stop', record: { holds: [{ reason: 'Deleting' }] } },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, want }) => {
    const plan = planBatchRelease(aView(view))
    expect(plan.kind === 'writeStatus' ? planOnceSaid(aView(view)) : plan).toMatchObject(want)
  })

  it('lets the release continue when the DaemonSet is set to OnDelete by its owner', () => {
    const stopped = { state: 'stopped', holds: [{ reason: 'StrategyConflict', id: '2' }], generation: 2 } as const
    const view = aView({ generation: 6, status: round(2, 5), record: stopped })
    expect(wantedAllowance(view).kind).toBe('allow')
    expect(planBatchRelease(view)).toMatchObject({ kind: 'writeRecord', why: 'open', record: { generation: 6 } })
  })

  it('does not take over a DaemonSet in mid-surge', () => {
    const view = aView({ ...setBack, record: { state: 'stopped' }, annotations: { [controlInfo]: null }, view: surging })
    expect(wantedAllowance(view)).toMatchObject({ kind: 'pending', message: expect.stringContaining('no node has two pods') })
  })
})
