import type { ControllerRevision } from '@tranche/kube-types'
import { configReturnText, imagesText, planRollout } from '@tranche/planner'
import { expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

const holding = (...images: readonly string[]): ControllerRevision =>
  ({
    data: { spec: { template: { spec: { containers: images.map((image) => ({ name: 'c', image })) } } } },
  }) as unknown as ControllerRevision

it('names the images of a revision without their registries', () => {
  expect(imagesText(holding('registry.example/team/agent:v1', 'proxy:v2'))).toBe('agent:v1, proxy:v2')
})

it.each([[['x'.repeat(400_000)]], [Array.from({ length: 10_000 }, () => 'agent:v1')]])(
  'cuts what a template calls images, so that a message with it fits into a status',
  (images) => {
    expect(imagesText(holding(...images)).length).toBeLessThan(300)
  },
)

it.each<[string, boolean, string]>([
  ['by its revision and images', true, 'revision hash-v2 (v2) is held: config: Pin: why'],
  ['by its images, before it is a revision', false, 'the template with v2 is held: config: Pin: why'],
])('names the template that config holds %s', (_name, isObserved, message) => {
  const fake = new FakeCluster({ steps: [{ replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  if (isObserved) fake.actNatively()
  const view = fake.rolloutView()
  const plan = view && planRollout({ ...view, configHold: { reason: 'CopyFailed', message: 'config: Pin: why' } })
  expect(plan).toMatchObject({ kind: 'writeStatus', status: { message } })
})

it.each<[string, string, string, string]>([
  ['the object', 'ConfigMap/a=a-2', 'ConfigMap/a=a-1', '; ConfigMap a has its earlier content again'],
  [
    'each object',
    'ConfigMap/a=a-2,Secret/b=b-2',
    'ConfigMap/a=a-1,Secret/b=b-1',
    '; ConfigMap a, Secret b have their earlier content again',
  ],
  ['none that is the same', 'ConfigMap/a=a-1', 'ConfigMap/a=a-1', ''],
  ['none of a revision that the history has lost', 'ConfigMap/a=a-2', '', ''],
])('names config that changes back: %s', (_which, from, to, text) => {
  const pinning = (hash: string, pins: string): ControllerRevision =>
    ({
      metadata: { name: hash, labels: { 'controller-revision-hash': hash } },
      data: { spec: { template: { metadata: { annotations: { 'tranche.dev/pinned-config': pins } }, spec: {} } } },
    }) as unknown as ControllerRevision
  const revisions = [pinning('new', from), ...(to === '' ? [] : [pinning('old', to)])]
  expect(configReturnText(revisions, 'new', 'old')).toBe(text)
})
