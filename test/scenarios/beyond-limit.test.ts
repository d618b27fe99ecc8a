import { afterEach, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '100%' }]

it('a bad version is replaced node by node, although it runs on more nodes than a lowered maxUnavailable allows (F4, G2, G6)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 3, steps })
  await stage.setImage('bad-crash')
  await untilNodesOn(stage, 'bad-crash', 3)
  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } } })
  await stage.pass(5_000)
  expect(await nodesOn(stage, 'bad-crash')).toHaveLength(3)
  await stage.setImage('v3')
  await untilReleased(stage, 'v3')
  expectKept(stage)
})

it('a flapping version is rolled back, although it runs on more nodes than maxUnavailable (F4, G2, G6)', async () => {
  stage = await setStage({ nodes: 8, maxUnavailable: 1, steps })
  await stage.setImage('bad-flap')
  await untilNodesOn(stage, 'bad-flap', 3, 1_200_000)
  await stage.pass(60_000)
  await stage.setImage('v1')
  await untilReleased(stage, 'v1')
  expectKept(stage)
})
