import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { define } from './definitions.ts'
import { deletions } from './expect-kept.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const byHand = { ...stageKey, name: 'by-hand' }

/** Valid selectors, each of which is compared with every node. */
function selectors(count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({ matchLabels: { z: String(at) } }))
}

function handWritten(steps: readonly object[]): BatchRelease {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: byHand,
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
      releasePlan: { batches: [{ canaryReplicas: '100%' }], enableExtraWorkloadForCanary: false },
      tranche: { nodes: { steps } },
    },
  } as never
}

const readByHand = () => stage.client.get<BatchRelease>(resourcePaths.batchReleases, byHand)

describe('a hand-written BatchRelease with too many selectors of steps', () => {
  it('is rejected by the API server, which names the field', async () => {
    stage = await setStage({ nodes: 6, withRollout: false, strategyType: 'OnDelete' })
    await expect(stage.client.create(resourcePaths.batchReleases, handWritten(selectors(56_000)))).rejects.toThrow(
      /spec\.tranche\.nodes\.steps: Too many: 56000: must have at most 50 items/,
    )
  })

  it('deletes no pod under definitions without limits, says why in a short text, and is released once it is corrected', async () => {
    stage = await setStage({ nodes: 6, withRollout: false, strategyType: 'OnDelete' })
    await define(stage, 'unlimited')
    await stage.setImage('v2')
    await stage.client.create(resourcePaths.batchReleases, handWritten(selectors(5_000)))
    await stage.until('it says why it waits', async () => (await readByHand()).status?.waiting !== undefined)
    await stage.pass(60_000)
    const { status } = await readByHand()
    expect(status?.waiting).toMatchObject({ reason: 'InvalidSpec' })
    expect(status?.message).toBe(
      'spec.tranche.nodes.steps is "5000 entries": the list has 5000 entries; the maximum is 50; keep 50 entries or fewer',
    )
    expect(JSON.stringify(status).length).toBeLessThan(16_384)
    expect(deletions(stage)).toBe(0)
    const body = { spec: { tranche: { nodes: { steps: [{}] } } } }
    await stage.client.patch(resourcePaths.batchReleases, byHand, { type: 'merge', body })
    await stage.until('it is released', async () => (await readByHand()).status?.phase === 'Completed')
    expect(deletions(stage)).toBe(6)
  })

  it('that grows to this size in mid-release stops, and executors take no further node', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 1, withRollout: false, strategyType: 'OnDelete' })
    await define(stage, 'unlimited')
    await stage.setImage('v2')
    await stage.client.create(resourcePaths.batchReleases, handWritten([{}]))
    await stage.until('a pod is deleted', () => deletions(stage) >= 2)
    const body = { spec: { tranche: { nodes: { steps: selectors(5_000) } } } }
    await stage.client.patch(resourcePaths.batchReleases, byHand, { type: 'merge', body })
    await stage.until('the stop is acknowledged', async () => {
      const { metadata, status } = await readByHand()
      return status?.observedGeneration === metadata.generation && status?.flight?.state === 'stopped'
    })
    const before = deletions(stage)
    expect(before).toBeLessThan(8)
    await stage.pass(60_000)
    expect(deletions(stage)).toBe(before)
  })
})

describe('a Rollout of a tenant with invalid values', () => {
  it.each([
    [4_800, /values\[0\] is "_": a label value has up to 63 .* \(and at least \d+ more\)$/],
    [30_000, /steps\[8\]\.nodes is "5400 values": all selectors up to here have 5400 values; the maximum/],
  ])('%i of them, is held with a status of less than 16 KiB, and others are released', async (count, text) => {
    stage = await setStage({ nodes: 4, steps: [{ replicas: '100%' }] })
    const values = Array.from({ length: count / 300 }, () => '_')
    const step = { nodes: { matchExpressions: Array.from({ length: 6 }, () => ({ key: 'a', operator: 'In', values })) } }
    const strategy = { canary: { steps: Array.from({ length: 50 }, () => step) } }
    const key = { namespace: stageKey.namespace, name: 'of-a-tenant' }
    const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'another' }
    const head = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', metadata: key }
    await stage.client.create<Rollout>(resourcePaths.rollouts, { ...head, spec: { workloadRef, strategy } } as never)
    const read = () => stage.client.get<Rollout>(resourcePaths.rollouts, key)
    await stage.until('it is held', async () => (await read()).status?.message !== undefined)
    const { status } = await read()
    expect(status?.message).toMatch(text)
    expect(JSON.stringify(status).length).toBeLessThan(16_384)
    await stage.setImage('v2')
    await stage.until('the other is released', async () => (await stage.rollout()).status?.phase === 'Healthy' && deletions(stage) === 4)
  })
})
