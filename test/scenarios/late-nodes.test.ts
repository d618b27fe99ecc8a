import { resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { afterEach, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const ZONE = 'topology.kubernetes.io/zone'
const inZone = (zone: string): object => ({ matchLabels: { [ZONE]: zone } })
const taint = { key: 'example.com/reserved', effect: 'NoSchedule' }

it('a step does not pass while the watch of the controller does not show its nodes (G3)', async () => {
  const steps = [
    { replicas: 1, pause: {}, nodes: inZone('zone-c') },
    { replicas: 4, pause: {}, nodes: inZone('zone-a') },
    { replicas: '100%' },
  ]
  stage = await setStage({ nodes: 9, maxUnavailable: 2, steps, tolerations: [] })
  const { items } = await stage.client.list<Node>(resourcePaths.nodes)
  const reserved = items.filter(
    ({ metadata: { name, labels = {} } }) => labels[ZONE] === 'zone-a' || ['node-006', 'node-009'].includes(name),
  )
  await setTaints(reserved, [taint])
  await stage.pass(20_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const resume = stage.disturb({
    onEvent: ({ actor, resource }) =>
      actor.startsWith('controller') && resource.resource === 'nodes' ? { kind: 'stall', ms: 120_000 } : undefined,
  })
  await setTaints(reserved, null)
  await stage.pass(20_000)
  await stage.approve()
  await stage.pass(30_000)
  expect((await stage.rollout()).status).toMatchObject({
    currentStepIndex: 2,
    currentStepState: 'StepUpgrade',
    message: expect.stringContaining('waiting until the watch of nodes shows'),
  })
  resume()
  await untilPausedAt(stage, 2)
  expect(await nodesOn(stage, 'v2')).toHaveLength(4)
  await stage.approve()
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function setTaints(nodes: readonly Node[], taints: readonly object[] | null): Promise<void> {
  for (const { metadata } of nodes) {
    const body = { spec: { taints } }
    await drive(stage.clock, stage.client.patch(resourcePaths.nodes, { namespace: '', name: metadata.name }, { type: 'merge', body }))
  }
}
