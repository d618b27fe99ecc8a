import type { BatchRelease } from '@tranche/api-schema'
import { daemonSetAnnotations, readJson } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

describe('a BatchRelease that is written by hand', () => {
  it('replaces the same revision from beginning to end, so that a dead node with it costs no budget (G1, G6)', () => {
    const fake = byHand()
    fake.nodes.set('node-9', { ready: false, bad: true })
    settle(fake)
    expect(fake.oldPods().map(({ node }) => node)).toEqual(['node-9'])
    expect(fake.release?.status).toMatchObject({ stableRevision: 'rev-v1', updateRevision: 'rev-v2' })
  })

  it('replaces another revision once the template changes: the one that most nodes run then', () => {
    const fake = byHand('70%')
    settle(fake)
    fake.setImage('v3')
    settle(fake)
    expect(fake.release?.status).toMatchObject({ stableRevision: 'rev-v2', updateRevision: 'rev-v3' })
  })

  it('leaves a DaemonSet on which its revision is not stable, though most nodes run it (G3)', () => {
    const fake = byHand('70%')
    settle(fake)
    expect(fake.oldPods()).toHaveLength(3)
    const { metadata } = fake.release!
    fake.release = { ...fake.release!, metadata: { ...metadata, deletionTimestamp: new Date(fake.nowMs).toISOString() } }
    settle(fake)
    expect(readJson(fake.daemonSet.metadata.annotations?.[daemonSetAnnotations.frozen] ?? '')).toMatchObject({ stable: 'rev-v1' })
  })
})

/** Ten nodes without a Rollout, and a new template. */
function byHand(size = '100%'): FakeCluster {
  const fake = new FakeCluster({ nodes: 10, maxUnavailable: 1 })
  fake.salt = 'rev-'
  fake.rollout = undefined
  fake.pods = []
  fake.revisions = []
  fake.actNatively()
  fake.actNatively()
  const { spec } = fake.daemonSet
  fake.editDaemonSet({ spec: { ...spec, updateStrategy: { ...spec.updateStrategy, type: 'OnDelete' } } })
  fake.setImage('v2')
  fake.release = releaseOf(size)
  return fake
}

function releaseOf(size: string): BatchRelease {
  return {
    metadata: { namespace: 'demo', name: 'by-hand', uid: 'by-hand', resourceVersion: '1', generation: 1 },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      releasePlan: { batches: [{ canaryReplicas: size }], batchPartition: 0, enableExtraWorkloadForCanary: false },
    },
  }
}
