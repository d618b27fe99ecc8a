import { afterEach, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { expectKept } from './expect-kept.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const label = (node: string, pool: string | null): Promise<unknown> =>
  stage.client.patch(resourcePaths.nodes, { name: node } as never, { type: 'merge', body: { metadata: { labels: { pool } } } })

it('a release follows a template that excludes nodes, and drops their permits (F6)', async () => {
  stage = await setStage({ nodes: 12, maxUnavailable: 2, steps })
  const keep = ['node-001', 'node-002', 'node-003', 'node-004', 'node-005', 'node-006']
  for (const node of keep) await label(node, 'agents')
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 2)
  const template = { spec: { nodeSelector: { pool: 'agents' } } }
  await stage.client.patch(
    resourcePaths.daemonSets,
    { namespace: 'demo', name: 'node-agent' },
    { type: 'strategic', body: { spec: { template } } },
  )
  await stage.until('only the selected nodes have pods', async () => (await stage.pods()).length <= 6)
  await untilPausedAt(stage, 1)
  // A node that joins starts with the new template at once. A node that leaves makes room for it in the size.
  await label('node-009', 'agents')
  await label('node-006', null)
  await stage.until('it has joined', async () => (await nodesOn(stage, 'v2')).includes('node-009'))
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(await nodesOn(stage, 'v2')).toEqual([...keep.slice(0, 5), 'node-009'])
  expectKept(stage)
})

it('a label that every object of JavaScript seems to have is absent from nodes without it (G3)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps: [{ replicas: '25%', pause: {} }, { replicas: '100%' }] })
  const absent = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'constructor', operator: 'DoesNotExist' }] }] }
  await stage.patchDaemonSet({
    spec: {
      template: {
        spec: {
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: absent } },
          containers: [{ name: 'agent', image: 'registry.example/node-agent:v2' }],
        },
      },
    },
  })
  await untilPausedAt(stage, 1)
  expect((await stage.daemonSet()).status?.desiredNumberScheduled).toBe(8)
  expect(await nodesOn(stage, 'v2')).toHaveLength(2)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expect(await nodesOn(stage, 'v2')).toHaveLength(8)
  expectKept(stage)
})
