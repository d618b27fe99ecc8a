import { daemonSetAnnotations } from '@tranche/kube-types'
import { moreNodesCounted, planBatchRelease, type ReleaseView } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, onceSaid, type ViewFields } from '../../../../../test/fakes/build-view.ts'
import { wantedAllowance } from '../../src/release/progress/wanted-allowance.ts'

/** Two of the five nodes that the view shows are updated, as the first batch wants. */
const complete = { nodes: 'a:new b:new c:old d:old e:old', record: { size: 2 } } satisfies ViewFields

/** @param counted desired nodes that the DaemonSet controller counts */
function aBatch(counted: number, fields: ViewFields = {}): ReleaseView {
  const { daemonSet, ...view } = aView({ ...complete, ...fields })
  return { ...view, daemonSet: daemonSet && { ...daemonSet, status: { ...daemonSet.status, desiredNumberScheduled: counted } } }
}

/** The default view was read at this time. @param unseen as in a live list of nodes, which may be repeated 20 seconds later */
const listed = (unseen: readonly string[] | null): ViewFields => ({ view: { nodeList: { unseen, againMs: 120_000 } } })

function stateOf(view: ReleaseView): unknown {
  const wanted = wantedAllowance(view)
  return wanted.kind === 'allow' ? wanted.progress.state : wanted
}

describe('a batch whose nodes are all updated, by our view', () => {
  const readyBefore = (currentBatch: number, phase: 'Progressing' | 'Finalizing' = 'Progressing'): ViewFields => ({
    status: { observedRelease: 'r1', phase, canaryStatus: { batchState: 'Ready', currentBatch } },
  })
  const all: ViewFields = {
    nodes: 'a:new b:new',
    record: { size: 2, limit: 1 },
    spec: { batches: [{ canaryReplicas: '100%' }], batchPartition: undefined },
  }

  it.each<[sentence: string, counted: number, fields: ViewFields, state: string]>([
    ['is ready', 5, {}, 'Ready'],
    ['is ready where the DaemonSet controller counts fewer nodes', 4, {}, 'Ready'],
    ['is not ready while the DaemonSet controller counts more nodes (G3)', 6, {}, 'Upgrading'],
    ['is not ready while nodes cannot be listed', 6, listed(null), 'Upgrading'],
    ['is not ready while a live list has a node that our view lacks', 6, listed(['f']), 'Upgrading'],
    ['is ready where a live list has no other node: one was deleted that the DaemonSet controller still counts', 6, listed([]), 'Ready'],
    ['stays ready where it was before', 6, readyBefore(0), 'Ready'],
    ['is not ready where an earlier batch was', 6, { ...readyBefore(0), spec: { batchPartition: 1 }, nodes: 'a:new b:new' }, 'Upgrading'],
    ['is not ready at the end where the last batch was', 3, { ...all, ...readyBefore(0) }, 'Upgrading'],
    ['stays ready at the end where it was before', 3, { ...all, ...readyBefore(0, 'Finalizing') }, 'Ready'],
    ['is not ready where one of another release was', 6, { ...readyBefore(0), tranche: { release: 'r2' } }, 'Upgrading'],
  ])('%s', (_sentence, counted, fields, state) => {
    expect(stateOf(aBatch(counted, fields))).toBe(state)
  })

  it('lists nodes where the DaemonSet controller counts more, and again where that showed some, but not at once', () => {
    expect(planBatchRelease(aBatch(6))).toEqual({ kind: 'listNodes' })
    const view = onceSaid(aBatch(6, listed(['f'])))
    expect(planBatchRelease(view)).toMatchObject({ kind: 'wait', recheckAfterMs: 20_000 })
    expect(planBatchRelease({ ...view, monotonicMs: 120_000 })).toEqual({ kind: 'listNodes' })
  })

  it.each([
    ['which nodes the view lacks', listed(['f']), 'waiting until the watch of nodes shows f', ['f']],
    [
      'how many may be missing, where no list says which',
      listed(null),
      'waiting for a list of nodes: the DaemonSet controller counts 2 nodes more than the watch of nodes shows',
      [],
    ],
  ])('says %s', (_what, fields, message, nodes) => {
    expect(onceSaid(aBatch(7, fields)).release.status?.waiting).toMatchObject({ reason: 'Pending', message, nodes })
  })

  it('waits for a node that the view has before nodes are listed', () => {
    const view = aBatch(6, { ...complete, nodes: 'a:new b:new! c:old d:old e:old' })
    expect(stateOf(view)).toBe('Verifying')
    expect(onceSaid(view).release.status?.waiting?.reason).toBe('NotAvailable')
    expect(planBatchRelease(onceSaid(view)).kind).toBe('wait')
  })
})

it('a release does not end with no node while the DaemonSet controller counts some (G3)', () => {
  const none: ViewFields = {
    nodes: '',
    record: { size: 0, partition: 0 },
    spec: { batchPartition: undefined },
    status: { observedRelease: 'r1', phase: 'Finalizing' },
    annotations: { [daemonSetAnnotations.partition]: '0' },
  }
  const planOf = (fields: ViewFields): unknown => planBatchRelease(onceSaid(aBatch(2, { ...none, ...fields })))
  expect(planOf(listed(['a', 'b']))).toMatchObject({ kind: 'wait' })
  expect(planOf(listed([]))).toMatchObject({ kind: 'writeRecord', why: 'stop' })
})

it('a count of the DaemonSet controller for another generation says nothing', () => {
  expect([moreNodesCounted(aBatch(6)), moreNodesCounted(aBatch(6, { observed: 1 }))]).toEqual([1, 0])
})
