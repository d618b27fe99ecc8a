import type { Lease, Pod } from '@tranche/kube-types'
import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { breakPod } from './hands.ts'
import { nodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage, type StageOptions } from './stage.ts'

/** A controller that leads, loses its network while another one leads, and leads again knows what that one wrote, and no more (F14, G7). */

let stage: Stage
afterEach(() => stage.end())

const controllers = ['controller-1', 'controller-2']
const canary: StageOptions = {
  nodes: 6,
  maxUnavailable: 1,
  steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }],
  policy: { failure: { progressDeadlineSeconds: 120 } },
  controllers,
}

describe.each([
  ['one leader', stays],
  ['leaders that take turns', handOver],
] as const)('with %s', (_leaders, turn) => {
  it('a pod that was down for seconds long ago, and is down for a moment now, is no failure', async () => {
    const { pod } = await aCanary()
    await breakPod(stage, pod)
    await stage.pass(2_000)
    await turn()
    await heal(pod)
    await stage.pass(1_800_000)
    await breakPod(stage, pod)
    await stage.pass(1_000)
    await turn()
    await stage.pass(5_000)
    expect((await stage.release())?.status?.failure).toBeUndefined()
  })

  it('100 and 60 of 120 seconds without a Ready pod are a failure', async () => {
    const { pod } = await aCanary()
    await turn()
    await breakPod(stage, pod)
    await stage.pass(100_000)
    await heal(pod)
    await stage.pass(60_000)
    await turn()
    await breakPod(stage, pod)
    await stage.pass(60_000)
    expect((await stage.release())?.status?.failure?.stops).toBe(true)
  })

  it('a node that was in flight at the first turn, and is NotReady for a moment at the second, is no reason for a rollback', async () => {
    stage = await setStage({
      ...canary,
      maxUnavailable: 2,
      steps: [{ replicas: 4, pause: {} }, { replicas: '100%' }],
      policy: { failure: { progressDeadlineSeconds: 120, action: 'Rollback' } },
      annotations: { 'sim.tranche.dev/start-ms': '8000' },
    })
    await stage.setImage('v2')
    await stage.until('nodes are in flight', async () => (await permits()).length > 0)
    await stage.pass(3_000)
    const [{ node } = { node: '' }] = await permits()
    await turn()
    await untilPausedAt(stage, 1)
    await stage.pass(3_600_000)
    const pod = await podOn(node)
    await breakPod(stage, pod)
    await turn()
    await heal(pod)
    await stage.pass(600_000)
    expect((await stage.rollout()).status?.heldRevisions ?? []).toEqual([])
    expect(await nodesOn(stage, 'v2')).toHaveLength(4)
  })
})

/** A release that waits after its first node. */
async function aCanary(): Promise<{ readonly pod: Pod }> {
  stage = await setStage(canary)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const [node = ''] = await nodesOn(stage, 'v2')
  return { pod: await podOn(node) }
}

async function stays(): Promise<void> {
  await stage.pass(30_000)
}

/** The leader loses its network until another one leads; it stays alive, and is a candidate again afterwards. */
async function handOver(): Promise<void> {
  const before = await leader()
  const { process } = stage.program(before)
  process.cutOff()
  await stage.until('another one leads', async () => (await leader()) !== before, 60_000)
  process.reconnect()
  await stage.pass(10_000)
}

async function leader(): Promise<string> {
  const lease = await stage.client.get<Lease>(resourcePaths.leases, { namespace: 'kube-system', name: 'tranche-controller' })
  return lease.spec?.holderIdentity ?? ''
}

async function permits() {
  return (await stage.release())?.status?.flight?.permits ?? []
}

async function podOn(node: string): Promise<Pod> {
  const onNode = (await stage.pods()).filter(({ spec }) => spec?.nodeName === node)
  const pod = onNode.find(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (pod === undefined) throw new Error(`no pod on ${node}`)
  return pod
}

async function heal({ metadata: { namespace = '', name } }: Pod): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(stage.clock.nowMs()).toISOString() }]
  const patch = { type: 'strategic', body: { status: { conditions } } } as const
  await stage.client.patch(resourcePaths.pods, { namespace, name }, patch, { subresource: 'status' })
}
