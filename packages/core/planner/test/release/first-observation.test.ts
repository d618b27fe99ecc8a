import { carriedText } from '@tranche/fence'
import { toFleetView } from '@tranche/fleet'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { aFleetPod, aRevision, aView, NOW_MS, onceSaid, type ViewFields } from '../../../../../test/fakes/build-view.ts'

const at = (fromNowMs: number): string => new Date(NOW_MS + fromNowMs).toISOString()

/** UIDs that the status lists as older than the release, where node a has a crashing pod of a revision made at this moment. */
function olderPods(madeMs: number, fields: ViewFields = {}): readonly string[] | undefined {
  const view = aView({ nodes: 'b:old c:old d:old e:old', ...fields })
  const pod = aFleetPod('a', 'new', { ready: false, trouble: { reason: 'CrashLoopBackOff' }, createdAt: at(-7_200_000) })
  const revisions = Object.entries({ old: -60_000, new: madeMs }).map(([hash, ms], at_) => {
    const revision = aRevision(hash, at_ + 1)
    return { ...revision, metadata: { ...revision.metadata, creationTimestamp: at(ms) } }
  })
  const node = { name: 'a', desired: true, ready: true, answers: true, labels: {}, pods: [pod] }
  return onceSaid({ ...view, revisions, fleet: toFleetView([node, ...view.fleet.nodes]) }).release.status?.stoppedTime?.olderPods
}

describe('the first observation of a release', () => {
  it('lists no pod as older whose revision was made for it, whatever the clock of the API server says', () => {
    expect(olderPods(-59_000)).toBeUndefined()
  })

  it('lists bad pods of an earlier revision as older', () => {
    expect(olderPods(-61_000)).toEqual([expect.stringContaining('a')])
  })

  it('lists none after the end of a release, because nodes left had pods of another revision then (G9)', () => {
    expect(olderPods(-61_000, { tranche: { left: { nodes: ['a'] } } })).toBeUndefined()
  })

  const permits = [{ node: 'a', podUid: 'gone', podResourceVersion: '4' }]
  const leftBy = (workloadUid: string): ViewFields => ({
    tranche: { paused: true },
    record: { state: 'stopped', holds: [{ reason: 'Paused', id: '4' }] },
    annotations: {
      [daemonSetAnnotations.controlInfo]: null,
      [daemonSetAnnotations.unsettled]: carriedText({ workloadUid, watermark: '9', permits }),
    },
  })

  it.each([
    ['the BatchRelease before it was deleted', leftBy('daemonset')],
    ['it has inherited the node', { record: { permits } }],
  ] as const)('lists no pod as older that a release has brought to a node in flight: %s (G9, F11)', (_when, fields) => {
    expect(olderPods(-61_000, fields)).toBeUndefined()
  })

  it('lists bad pods on a node whose permit was restored, which does not say how its node was', () => {
    const restored = [{ node: 'a', podUid: 'lost:a', podResourceVersion: '0' }]
    expect(olderPods(-61_000, { record: { permits: restored } })).toEqual([expect.stringContaining('a')])
  })

  it('lists bad pods on nodes that were in flight on another DaemonSet, as in a copied manifest', () => {
    expect(olderPods(-61_000, leftBy('another'))).toEqual([expect.stringContaining('a')])
  })
})
