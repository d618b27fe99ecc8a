import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { condition, untilReleased } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

describe('a node that dies while its pod is being replaced', () => {
  it('does not block its batch, is named, and is updated when it is back (G6)', async () => {
    stage = await setStage({
      nodes: 6,
      maxUnavailable: 2,
      steps: [{ replicas: 3, pause: {} }, { replicas: '100%' }],
      annotations: { 'sim.tranche.dev/stop-ms': '5000' },
    })
    await stage.setImage('registry.example/node-agent:v2')
    await stage.until('a pod is terminating', async () => (await terminating()) !== undefined)
    const dead = await terminating()
    await stage.simulator.nodes.kill(dead ?? '')
    await stage.until('the step is ready without it', async () => (await stage.rollout()).status?.currentStepState === 'StepPaused')
    expect((await stage.rollout()).status?.skippedNodes).toEqual([dead])
    await stage.approve()
    await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
    expect((await stage.rollout()).status?.message).toContain(dead)
    await stage.simulator.nodes.revive(dead ?? '')
    await stage.until('nothing is left', async () => (await stage.release()) === undefined)
    expect((await stage.pods()).every((pod) => JSON.stringify(pod.spec).includes(':v2'))).toBe(true)
    expectKept(stage)
  })
})

it('a release reports pods that dead kubelets cannot end if they use up maxUnavailable (F12 PodsStuck)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 1, steps: [{ replicas: '100%' }], annotations: { 'sim.tranche.dev/stop-ms': '5000' } })
  await stage.setImage('v2')
  await stage.until('a pod is terminating', async () => (await terminating()) !== undefined)
  const node = (await terminating()) ?? ''
  await drive(stage.clock, stage.simulator.nodes.kill(node))
  await stage.until('it is reported', async () => (await condition(stage, 'Stalled'))?.reason === 'PodsStuck', 300_000)
  expect((await condition(stage, 'Stalled'))?.message).toContain(`${node} which is NotReady`)
  await drive(stage.clock, stage.simulator.nodes.revive(node))
  await untilReleased(stage, 'v2')
  expectKept(stage)
})

async function terminating(): Promise<string | undefined> {
  return (await stage.pods()).find((pod) => pod.metadata.deletionTimestamp !== undefined)?.spec?.nodeName
}
