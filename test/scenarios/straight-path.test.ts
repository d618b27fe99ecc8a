import { afterEach, expect, it } from 'vitest'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

it('goes from a new image to Healthy, batch by batch', async () => {
  stage = await setStage({ nodes: 10 })
  await stage.setImage('registry.example/node-agent:v2')
  await stage.until('the first step is paused', async () => (await stage.rollout()).status?.currentStepState === 'StepPaused')
  const updated = (await stage.pods()).filter((pod) => JSON.stringify(pod.spec).includes(':v2'))
  expect(updated).toHaveLength(2)
  await stage.approve()
  await stage.until('the release is over', async () => (await stage.rollout()).status?.phase === 'Healthy')
  expect((await stage.pods()).every((pod) => JSON.stringify(pod.spec).includes(':v2'))).toBe(true)
  expect((await stage.daemonSet()).metadata.annotations).not.toHaveProperty([daemonSetAnnotations.controlInfo])
})
