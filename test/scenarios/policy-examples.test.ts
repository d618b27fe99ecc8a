import { readFileSync } from 'node:fs'
import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import type { RecordedPod } from '@tranche/recording'
import { afterEach, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { condition, nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

describe('with examples/policy.yaml', () => {
  it('canary nodes are updated first, one node of a zone at a time, and each batch soaks before the next', async () => {
    stage = await setStage({ nodes: 6, maxUnavailable: 3, steps: [{ replicas: '50%', pause: { duration: 1 } }, { replicas: '100%' }] })
    await stage.client.patch(
      resourcePaths.nodes,
      { namespace: '', name: 'node-005' },
      { type: 'merge', body: { metadata: { labels: { 'example.com/canary': 'true' } } } },
    )
    await applyPolicy('policy.yaml', 'careful')
    await stage.setImage('v2')
    await untilNodesOn(stage, 'v2', 1)
    expect(await nodesOn(stage, 'v2')).toContain('node-005')
    await stage.until('the batch soaks', async () => (await stage.rollout()).status?.currentStepState === 'StepMetricsAnalysis')
    await untilReleased(stage, 'v2')
    expect(await mostOfAZone()).toBe(1)
  })

  it('a version that fails on its first node is rolled back', async () => {
    stage = await setStage({ nodes: 6, maxUnavailable: 3 })
    await applyPolicy('policy.yaml', 'careful')
    await stage.setImage('v2-bad-crash')
    await stage.until('it is rolled back', async () => (await stage.rollout()).status?.heldRevisions?.[0]?.reason === 'Failed')
    await untilReleased(stage, 'v1')
    expect((await condition(stage, 'Succeeded'))?.status).toBe('False')
  })
})

it('the API server accepts every example, and drops no field of it', async () => {
  stage = await setStage({ nodes: 1, withRollout: false, controllers: [], executors: [] })
  for (const file of ['policy.yaml', 'policies/metrics.yaml', 'policies/on-call.yaml', 'policies/pools.yaml'])
    for (const policy of policiesOf(file)) {
      const stored = (await drive(
        stage.clock,
        stage.client.create(resourcePaths.releasePolicies, policy as never),
      )) as unknown as ReleasePolicy
      expect(stored.spec).toEqual(policy.spec)
    }
})

async function applyPolicy(file: string, name: string): Promise<void> {
  for (const policy of policiesOf(file)) await drive(stage.clock, stage.client.create(resourcePaths.releasePolicies, policy as never))
  await drive(stage.clock, stage.patchRollout({ metadata: { annotations: { 'tranche.dev/release-policy': name } } }))
}

function policiesOf(file: string): readonly ReleasePolicy[] {
  const text = readFileSync(`${import.meta.dirname}/../../examples/${file}`, 'utf8')
  return [...parseAllDocuments(text)]
    .map((document) => document.toJS() as ReleasePolicy)
    .filter(({ kind }) => kind === 'ReleasePolicy')
    .map((policy) => ({ ...policy, metadata: { ...policy.metadata, namespace: stageKey.namespace } }))
}

/** @returns the most nodes of one zone that Tranche had down at a time, by the recording */
async function mostOfAZone(): Promise<number> {
  const { items } = await drive(stage.clock, stage.client.list<Node>(resourcePaths.nodes))
  const zoneOf = new Map(items.map(({ metadata }) => [metadata.name, metadata.labels?.['topology.kubernetes.io/zone'] ?? '']))
  const down = new Map<string, string>()
  let most = 0
  for (const { o, type, node } of stage.recording().filter(({ kind }) => kind === 'Pod')) {
    const pod = o as Partial<RecordedPod>
    if (node === undefined) continue
    if (pod.deleting === true || type === 'DELETED') down.set(node, zoneOf.get(node) ?? '')
    else if (pod.ready === true) down.delete(node)
    const counts = Map.groupBy(down.values(), (zone) => zone)
    most = Math.max(most, ...[...counts.values()].map((nodes) => nodes.length))
  }
  return most
}
