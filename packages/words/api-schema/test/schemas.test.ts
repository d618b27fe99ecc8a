import { type BatchRelease, batchReleaseSchema, type Rollout, rolloutSchema } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'

const metadata = { name: 'node-agent', namespace: 'demo', uid: 'u1', resourceVersion: '7' }
const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' }
const rollout: Rollout = {
  metadata,
  spec: {
    workloadRef,
    strategy: {
      canary: {
        steps: [
          { replicas: '10%', pause: {} },
          { replicas: 3, pause: { duration: 60 } },
        ],
      },
    },
  },
}
const batchRelease: BatchRelease = {
  metadata,
  spec: {
    workloadRef,
    releasePlan: { batches: [{ canaryReplicas: '10%' }], batchPartition: 0, enableExtraWorkloadForCanary: false },
    tranche: { canaryRevision: '5d4f', rolloutGeneration: 2, nodes: { exclude: [{ matchLabels: { pool: 'gpu' } }] } },
  },
  status: {
    canaryStatus: { currentBatch: 0, batchState: 'Upgrading' },
    flight: {
      workloadUid: 'w1',
      epoch: 1,
      seq: 4,
      state: 'open',
      holds: [],
      generation: 2,
      revision: '5d4f',
      partition: 9,
      limit: 1,
      watermark: '1200',
      permits: [{ node: 'n1', podUid: 'p1', podResourceVersion: '1190' }],
    },
  },
}

describe('the schemas accept every value of their types', () => {
  it.each([
    ['a Rollout', rolloutSchema, rollout],
    ['a BatchRelease with a flight record', batchReleaseSchema, batchRelease],
  ])('%s', (_, schema, value) => {
    expect(schema.parse(value)).toEqual(value)
  })
})

describe('a schema names the path of an invalid value', () => {
  it.each([
    ['a pause that is not a number', { pause: { duration: 'soon' } }, 'spec.strategy.canary.steps.0.pause.duration'],
    ['a size that is a fraction', { replicas: 1.5 }, 'spec.strategy.canary.steps.0.replicas'],
  ])('%s', (_, step, path) => {
    const wrong = { ...rollout, spec: { workloadRef, strategy: { canary: { steps: [step] } } } }
    expect(rolloutSchema.safeParse(wrong).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })
})
