import type { Rollout } from '@tranche/api-schema'
import type { Pod } from '@tranche/kube-types'
import type { AcceptedWrite } from '@tranche/sim-api'
import { expect, it } from 'vitest'
import { createTimeline, EXECUTOR } from '../src/timeline.ts'

const daemonSet = {
  metadata: { namespace: 'demo', name: 'agent', uid: 'ds' },
  spec: { selector: { matchLabels: { app: 'agent' } } },
}

const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'ds', controller: true }

it('a pod that crashes before it was Ready for minReadySeconds keeps its node unavailable, and does not count it twice', () => {
  let nowMs = 0
  const timeline = createTimeline({
    rollout: { metadata: {}, spec: {} } as unknown as Rollout,
    release: undefined,
    daemonSet,
    pods: [],
    isOvertaken: false,
    minReadyMs: 10_000,
    nowMs: () => nowMs,
  })
  const see = (atMs: number, status: 'True' | 'False'): void => {
    nowMs = atMs
    const metadata = { namespace: 'demo', name: 'agent-1', uid: 'pod', labels: { app: 'agent' }, ownerReferences: [owner] }
    const object = { metadata, spec: { nodeName: 'node-1' }, status: { conditions: [{ type: 'Ready', status }] } }
    timeline.take({ kind: 'Pod', type: 'MODIFIED', verb: 'patch', actor: { name: 'kubelet' }, object } as unknown as AcceptedWrite)
  }
  see(1_000, 'True')
  see(5_000, 'False')
  expect(timeline.downs).toEqual([])
  see(20_000, 'True')
  see(40_000, 'False')
  expect(timeline.downs).toEqual([
    { atMs: 30_000, by: -1 },
    { atMs: 40_000, by: 1 },
  ])
})

it.each<[string, object, number]>([
  ['the DaemonSet', {}, 1],
  ['nothing that counts, in another namespace', { namespace: 'tenant' }, 0],
  ['nothing that counts, by an owner that does not control it', { ownerReferences: [{ ...owner, controller: false }] }, 0],
  ['nothing that counts, without the labels of the selector', { labels: {} }, 0],
])('a deleted pod is one of %s (F15)', (_whose, metadata, taken) => {
  const timeline = createTimeline({
    rollout: { metadata: {}, spec: {} } as unknown as Rollout,
    release: undefined,
    daemonSet,
    pods: [],
    isOvertaken: false,
    minReadyMs: 0,
    nowMs: () => 0,
  })
  const pod = {
    metadata: { namespace: 'demo', name: 'agent-1', uid: 'pod', labels: { app: 'agent' }, ownerReferences: [owner], ...metadata },
    spec: { nodeName: 'node-1' },
  } as unknown as Pod
  const going = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const write = { kind: 'Pod', type: 'MODIFIED', verb: 'delete', actor: { name: EXECUTOR }, object: going, previous: pod }
  timeline.take(write as unknown as AcceptedWrite)
  expect(timeline.taken).toHaveLength(taken)
})
