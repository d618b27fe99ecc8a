import { failureTerms, judgeRevision, type Verdict, type VerdictQuestion } from '@tranche/verdict'
import { FleetIndex, toFleetNode, toFleetPod } from '@tranche/fleet'
import type { Pod } from '@tranche/kube-types'
import { aNode, aPod, DAEMON_SET_UID } from '@tranche/testing'
import { describe, expect, it } from 'vitest'

const NOW_MS = Date.parse('2026-01-01T01:00:00Z')

describe('judgeRevision', () => {
  it('finds nothing where every updated node is well', () => {
    expect(judge([aPod({ node: 'a', hash: 'new' })])).toMatchObject({ count: 0, isBad: false, nextChangeMs: null })
  })

  it('takes a waiting reason for a failure at once', () => {
    const pod = aPod({ node: 'a', hash: 'new', ready: false })
    const waiting = { name: 'agent', restartCount: 1, state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }
    const verdict = judge([{ ...pod, status: { ...pod.status, containerStatuses: [waiting] } }])
    expect(verdict).toMatchObject({ count: 1, limit: 0, isBad: true })
    expect(verdict.failed).toEqual([{ node: 'a', reason: 'ImagePullBackOff', container: 'agent', restarts: 1, message: 'no such image' }])
  })
})

function judge(pods: readonly Pod[], given: Partial<VerdictQuestion> = {}): Verdict {
  const index = new FleetIndex()
  for (const pod of pods) {
    index.nodeChanged(undefined, toFleetNode(aNode(pod.spec?.nodeName ?? '')))
    index.podChanged(undefined, toFleetPod(pod, undefined, { nowMs: NOW_MS, monotonicMs: 0 })!)
  }
  return judgeRevision({
    fleet: index.view(DAEMON_SET_UID, {}),
    revision: 'new',
    minReadyMs: 0,
    nowMs: NOW_MS,
    monotonicMs: 1_000_000,
    permits: [],
    watched: [],
    stopped: { release: 'r', startedAt: '2026-01-01T00:00:00.000Z', seconds: 0 },
    accepted: new Set(),
    terms: failureTerms(undefined, { enableExtraWorkloadForCanary: false }, pods.length),
    plan: { enableExtraWorkloadForCanary: false },
    ...given,
  })
}
