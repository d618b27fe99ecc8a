import type { BatchRelease } from '@tranche/api-schema'
import { adviseBatchRelease, checkBatchRelease, problemText, validateBatchRelease } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { batchReleaseWith } from './batch-releases.ts'

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' }

describe('a BatchRelease is valid', () => {
  it.each<[string, BatchRelease]>([
    ['with a number and a percentage that grow', batchReleaseWith()],
    ['without a partition', batchReleaseWith({ batchPartition: undefined })],
    ['with the last batch allowed', batchReleaseWith({ batchPartition: 1 })],
    ['with a threshold', batchReleaseWith({ failureThreshold: '10%' })],
    ['in the default style', batchReleaseWith({ rollingStyle: 'Partition', rolloutID: 'agent-v2' })],
    ['with an empty id', batchReleaseWith({ rolloutID: '' })],
    ['that names its revisions', batchReleaseWith({}, { tranche: { canaryRevision: '7c9f', stableRevision: '5d4f' } })],
    [
      'with a smaller share of more nodes',
      batchReleaseWith(
        { batches: [{ canaryReplicas: '100%' }, { canaryReplicas: '50%' }] },
        { tranche: { nodes: { steps: [{ matchLabels: { canary: 'true' } }, {}] } } },
      ),
    ],
    ['of another workload, with any fields', batchReleaseWith({ batches: [] }, { workloadRef: deployment })],
  ])('%s', (_, release) => {
    expect(validateBatchRelease(release)).toEqual([])
  })
})

describe('a BatchRelease breaks a rule', () => {
  it.each<[string, BatchRelease, string]>([
    [
      'without a workload',
      batchReleaseWith({}, { workloadRef: undefined }),
      'spec.workloadRef is missing: a BatchRelease must name the DaemonSet to release; add workloadRef: {apiVersion: apps/v1, kind: DaemonSet, name: NAME}',
    ],
    [
      'with a group version that is not served',
      batchReleaseWith({}, { workloadRef: { ...daemonSet, apiVersion: 'apps/v1beta2' } }),
      'spec.workloadRef.apiVersion is "apps/v1beta2": DaemonSets must use apps/v1; set it to apps/v1',
    ],
    [
      'with an empty name',
      batchReleaseWith({}, { workloadRef: { ...daemonSet, name: '' } }),
      'spec.workloadRef.name is "": it must be a valid DaemonSet name; set it to the name of a DaemonSet in the same namespace',
    ],
    [
      'without batches',
      batchReleaseWith({ batches: undefined }),
      'spec.releasePlan.batches is missing: a release needs at least one batch; add a batch such as {canaryReplicas: "10%"}',
    ],
    [
      'with 51 batches',
      batchReleaseWith({ batches: Array.from({ length: 51 }, () => ({ canaryReplicas: 1 })) }),
      'spec.releasePlan.batches is "51 batches": a release has at most 50 batches; merge batches',
    ],
    [
      'with a batch of nothing',
      batchReleaseWith({ batches: [{ canaryReplicas: 0 }] }),
      'spec.releasePlan.batches[0].canaryReplicas is 0: a batch must update a whole number of nodes, at least 1; set it to a whole number of nodes such as 3, or to a percentage such as "10%"',
    ],
    [
      'with a batch of no size',
      batchReleaseWith({ batches: [{ canaryReplicas: 'some' }] }),
      'spec.releasePlan.batches[0].canaryReplicas is "some": it must be a whole number or a percentage; set it to a whole number of nodes such as 3, or to a percentage such as "10%"',
    ],
    [
      'with batches that shrink',
      batchReleaseWith({ batches: [{ canaryReplicas: '50%' }, { canaryReplicas: '20%' }] }),
      'spec.releasePlan.batches[1].canaryReplicas is "20%": sizes are cumulative and must not shrink, and batches[0] has "50%"; set it to at least "50%", or make batches[0] smaller',
    ],
    [
      'with a partition beyond its batches',
      batchReleaseWith({ batchPartition: 2 }),
      'spec.releasePlan.batchPartition is 2: it must be the index of the last batch that may run, counted from 0; set it to a number from 0 to 1, or remove it to release every node',
    ],
    [
      'with a negative partition',
      batchReleaseWith({ batches: [{ canaryReplicas: 1 }], batchPartition: -1 }),
      'spec.releasePlan.batchPartition is -1: it must be the index of the last batch that may run, counted from 0; set it to 0, or remove it to release every node',
    ],
    [
      'with an invalid threshold',
      batchReleaseWith({ failureThreshold: 'few' }),
      'spec.releasePlan.failureThreshold is "few": it must state how many updated nodes may be unavailable when a batch is ready; set it to a whole number from 0 such as 1, or to a percentage from "0%" to "100%"',
    ],
    [
      'with an id that is no label value',
      batchReleaseWith({ rolloutID: 'v2 of the agent' }),
      'spec.releasePlan.rolloutID is "v2 of the agent": it becomes a pod label: up to 63 letters, digits, dots, hyphens and underscores, with a letter or digit at both ends; set it to a name such as agent-v2, or remove it',
    ],
    [
      'with another style',
      batchReleaseWith({ rollingStyle: 'BlueGreen' }),
      'spec.releasePlan.rollingStyle is "BlueGreen": DaemonSets are released in place, which is the style Partition; set it to Partition, or remove it',
    ],
    [
      'with labels for canary pods',
      batchReleaseWith({ patchPodTemplateMetadata: { labels: { canary: 'true' } } }),
      'spec.releasePlan.patchPodTemplateMetadata is {"labels":{"canary":"true"}}: canary pods of a DaemonSet use its own template and cannot get other labels; remove it',
    ],
    [
      'with an invalid canary revision',
      batchReleaseWith({}, { tranche: { canaryRevision: 'the new one' } }),
      'spec.tranche.canaryRevision is "the new one": it must be a controller-revision-hash: up to 63 letters, digits, dots, hyphens and underscores; set it to the label controller-revision-hash of a ControllerRevision, or remove it',
    ],
    [
      'with an empty stable revision',
      batchReleaseWith({}, { tranche: { stableRevision: '' } }),
      'spec.tranche.stableRevision is "": it must be a controller-revision-hash: up to 63 letters, digits, dots, hyphens and underscores; set it to the label controller-revision-hash of a ControllerRevision, or remove it',
    ],
  ])('%s', (_, release, text) => {
    expect(validateBatchRelease(release).map(problemText)).toEqual([text])
  })

  it('with several problems, which are all reported', () => {
    const release = batchReleaseWith({ batches: [{ canaryReplicas: 0 }], batchPartition: 4, failureThreshold: '-1', rolloutID: '-' })
    expect(validateBatchRelease(release).map(({ rule }) => rule)).toEqual([
      'BatchSize',
      'BatchPartition',
      'BatchFailureThreshold',
      'RolloutId',
    ])
  })
})

it('numbers and percentages of batches are compared when the nodes are known', () => {
  const release = batchReleaseWith({ batches: [{ canaryReplicas: 5 }, { canaryReplicas: '10%' }] })
  expect(validateBatchRelease(release)).toEqual([])
  expect(validateBatchRelease(release, { desired: 30 })).toMatchObject([{ rule: 'BatchShrinks', value: '10%' }])
})

describe('advice about a BatchRelease', () => {
  it.each<[string, BatchRelease, readonly string[]]>([
    ['a partition needs no advice', batchReleaseWith(), []],
    ['without a partition every batch may run', batchReleaseWith({ batchPartition: undefined }), ['BatchPartitionAbsent']],
    ['an extra workload has no effect', batchReleaseWith({ enableExtraWorkloadForCanary: true }), ['BatchExtraWorkload']],
    ['another workload is ignored', batchReleaseWith({}, { workloadRef: deployment }), ['BatchOtherWorkload']],
  ])('%s', (_, release, rules) => {
    expect(adviseBatchRelease(release).map(({ rule }) => rule)).toEqual(rules)
  })
})

it('a BatchRelease with fields of wrong types gets a problem for each, with all other problems', () => {
  const { spec } = batchReleaseWith({ batches: [{ canaryReplicas: 0 }] })
  const value = { metadata: { name: 'by-hand' }, spec: { ...spec, tranche: { paused: 'yes' }, batchSize: 3 } }
  expect(checkBatchRelease(value)).toMatchObject({
    object: null,
    problems: [
      { rule: 'BatchReleaseField', path: 'spec.tranche.paused', value: 'yes' },
      { rule: 'BatchReleaseField', path: 'spec.batchSize', value: 3, fix: 'remove it, or correct its name' },
      { rule: 'BatchSize', path: 'spec.releasePlan.batches[0].canaryReplicas' },
    ],
  })
})
