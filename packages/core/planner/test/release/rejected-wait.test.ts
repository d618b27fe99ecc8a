import { type BatchReleasePlan, type DaemonSetPatchReason, planBatchRelease } from '@tranche/planner'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { aView, onceSaid, planOnceSaid, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const words = 'daemonsets.apps "agent" is forbidden:\n this is   forbidden here'

/** A view of which the next plan is this patch. */
const views: Partial<Record<DaemonSetPatchReason, ViewFields>> = {
  publish: { spec: { batchPartition: 1 } },
  resume: { annotations: { [daemonSetAnnotations.paused]: 'true' } },
}

describe('a patch of the DaemonSet that the API server rejected', () => {
  it.each([
    ['publish', 'opens the batch'],
    ['resume', 'publishes the end of the pause'],
  ] as const)('(%s) is said with the words of the API server, and then tried again', (why, what) => {
    const view = aView({ ...views[why], view: { rejected: { why, message: words } } })
    const said = planBatchRelease(view)
    expect(said).toEqual({
      kind: 'writeStatus',
      status: {
        waiting: {
          reason: 'ChangeRejected',
          message: `the API server rejects the patch of the DaemonSet that ${what}: daemonsets.apps "agent" is forbidden: this is forbidden here; change the rule that rejects it`,
          nodes: [],
          since: new Date(view.nowMs).toISOString(),
        },
      },
    })
    const { waiting } = (said as BatchReleasePlan & { kind: 'writeStatus' }).status
    const after = { ...view, release: { ...view.release, status: { ...view.release.status!, waiting: waiting! } } }
    expect(planBatchRelease(after)).toMatchObject({ kind: 'patchDaemonSet', why })
    const changed = planBatchRelease({ ...after, nowMs: view.nowMs + 90_000, rejected: { why, message: 'another rule' } })
    expect(changed).toMatchObject({ status: { waiting: { since: waiting?.since, message: expect.stringContaining('another rule') } } })
  })

  it('is not said where another patch, or none, comes next', () => {
    const rejected = { why: 'restore', message: words } as const
    expect(planBatchRelease(aView({ ...views.publish, view: { rejected } }))).toMatchObject({ kind: 'patchDaemonSet', why: 'publish' })
    expect(planOnceSaid(aView({ view: { rejected } })).kind).toBe('wait')
  })

  it('is forgotten by the status once the patch has succeeded', () => {
    const waiting = { reason: 'ChangeRejected', message: 'the API server rejects it', nodes: [], since: '2026-01-01T00:00:00Z' }
    expect(onceSaid(aView({ status: { observedGeneration: 4, waiting } })).release.status?.waiting?.reason).toBe('Upgrading')
  })
})
