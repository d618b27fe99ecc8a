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
