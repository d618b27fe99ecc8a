import type { BatchRelease } from '@tranche/api-schema'
import { type AdmissionReview, resources } from '@tranche/sim-api'
import { expect, it } from 'vitest'
import { labelPods } from '../src/label-pods.ts'

const release = {
  metadata: { name: 'agent', namespace: 'demo', uid: 'u', resourceVersion: '1' },
  spec: { releasePlan: { rolloutID: 'v2', batches: [{ canaryReplicas: 1 }, { canaryReplicas: '100%' }], batchPartition: 1 } },
  status: { flight: { state: 'open', revision: 'bbbb', permits: [{ node: 'node-1', podUid: 'old' }] } },
} as unknown as BatchRelease

const labelsOf = async (one: BatchRelease | undefined, node: string, hash: string): Promise<unknown> => {
  const object = { metadata: { name: 'agent-x', labels: { 'controller-revision-hash': hash } }, spec: { nodeName: node } }
  const answer = await labelPods(() => one).admit({ operation: 'CREATE', object } as unknown as AdmissionReview)
  return 'object' in answer ? answer.object?.metadata.labels : undefined
}

it('labels pods that come up by a permit of the release, with its id and batch, and leaves all others to the controller', async () => {
  const stopped = { ...release, status: { ...release.status, flight: { ...release.status!.flight!, state: 'stopped' } } } as BatchRelease
  expect(await labelsOf(release, 'node-1', 'bbbb')).toEqual({
    'controller-revision-hash': 'bbbb',
    'rollouts.kruise.io/rollout-id': 'v2',
    'rollouts.kruise.io/rollout-batch-id': '2',
  })
  const others = [labelsOf(release, 'node-2', 'bbbb'), labelsOf(release, 'node-1', 'aaaa'), labelsOf(stopped, 'node-1', 'bbbb')]
  expect(await Promise.all([...others, labelsOf(undefined, 'node-1', 'bbbb')])).toEqual([undefined, undefined, undefined, undefined])
})

it('examines only new pods', () => {
  const { handles } = labelPods(() => release)
  const asked = (resource: AdmissionReview['resource'], operation: AdmissionReview['operation']) =>
    handles({ operation, resource, subresource: undefined })
  expect([asked(resources.pods, 'CREATE'), asked(resources.pods, 'UPDATE'), asked(resources.nodes, 'CREATE')]).toEqual([true, false, false])
})
