import { type ReleaseView, showsFewerNodes } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView, type ViewFields } from '../../../../../test/fakes/build-view.ts'
import { nextRecheck } from '../../src/release/next-recheck.ts'
import { wantedAllowance } from '../../src/release/progress/wanted-allowance.ts'

const MINUTE = 60_000

/** Two of the five nodes that the view shows are updated, as the first batch wants. */
const complete = { nodes: 'a:new b:new c:old d:old e:old', record: { size: 2 } } satisfies ViewFields

/** @param counted desired nodes that the DaemonSet controller counts */
function aBatch(counted: number, fields: ViewFields = {}): ReleaseView {
  const { daemonSet, ...view } = aView({ ...complete, ...fields })
  return { ...view, daemonSet: daemonSet && { ...daemonSet, status: { ...daemonSet.status, desiredNumberScheduled: counted } } }
}

function stateOf(view: ReleaseView): unknown {
  const wanted = wantedAllowance(view)
  return wanted.kind === 'allow' ? wanted.progress.state : wanted
}

describe('a batch whose nodes are all updated, by our view', () => {
  const readyBefore = (currentBatch: number): ViewFields => ({
    status: { observedRelease: 'r1', phase: 'Progressing', canaryStatus: { batchState: 'Ready', currentBatch } },
  })
  const finalizing = { batches: [{ canaryReplicas: '100%' }], batchPartition: undefined }
  const all: ViewFields = { nodes: 'a:new b:new', record: { size: 2, limit: 1 }, spec: finalizing }

  it.each<[sentence: string, counted: number, fields: ViewFields, state: string]>([
    ['is ready', 5, {}, 'Ready'],
    ['is ready where the DaemonSet controller counts fewer nodes', 4, {}, 'Ready'],
    ['is not ready while the DaemonSet controller counts more nodes (G3)', 6, {}, 'Upgrading'],
    [
      'is not ready while it has counted more for less than five minutes',
      6,
      { view: { fewerNodesSinceMs: 100_000 - 299_999 } },
      'Upgrading',
    ],
    ['is ready after that: no release waits for ever (G6)', 6, { view: { fewerNodesSinceMs: 100_000 - 300_000 } }, 'Ready'],
    ['stays ready where it was before', 6, readyBefore(0), 'Ready'],
    ['is not ready where an earlier batch was', 6, { ...readyBefore(0), spec: { batchPartition: 1 }, nodes: 'a:new b:new' }, 'Upgrading'],
    ['is not ready at the end where the last batch was', 3, { ...all, ...readyBefore(0) }, 'Upgrading'],
    [
      'stays ready at the end where it was before',
      3,
      { ...all, status: { observedRelease: 'r1', phase: 'Finalizing', canaryStatus: { batchState: 'Ready', currentBatch: 0 } } },
      'Ready',
    ],
    ['is not ready where one of another release was', 6, { ...readyBefore(0), tranche: { release: 'r2' } }, 'Upgrading'],
  ])('%s', (_sentence, counted, fields, state) => {
    expect(stateOf(aBatch(counted, fields))).toBe(state)
  })

  it('is looked at again when five minutes are over', () => {
    const view = aBatch(6, { view: { fewerNodesSinceMs: 100_000 - MINUTE } })
    expect(nextRecheck(view, wantedAllowance(view))).toBe(4 * MINUTE)
  })

  it('counts nothing for another generation of the DaemonSet', () => {
    expect([showsFewerNodes(aBatch(6)), showsFewerNodes(aBatch(6, { observed: 1 }))]).toEqual([true, false])
  })
})
