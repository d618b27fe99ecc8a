import { RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

it('the end of a Rollout leaves the recorded actions on its DaemonSet: who did what is known to the next one (G7)', () => {
  const fake = new FakeCluster({ nodes: 2 })
  settle(fake)
  const { metadata } = fake.daemonSet!
  fake.editDaemonSet({ metadata: { ...metadata, annotations: { ...metadata.annotations, [RECORDED_ACTIONS_ANNOTATION]: '[]' } } })
  fake.deleteRollout()
  settle(fake)
  expect(fake.daemonSet?.metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION]).toBe('[]')
})
