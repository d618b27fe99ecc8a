import { afterEach, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { nodesOn, untilNodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage, type StageOptions } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '25%', pause: {} }, { replicas: '100%' }]
/** What the simulator holds for an integer that it cannot. */
const STAND_IN = '5000001'
const tolerations = [{ key: 'example.com/busy', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: Number(STAND_IN) }]

/** An API server whose integers have 64 bits. */
const holding = (digits: string): Pick<StageOptions, 'tap'> => ({
  tap: (_identity, exchange) => async (request, signal) => {
    const sent = request.body === undefined ? request : { ...request, body: request.body.replaceAll(digits, STAND_IN) }
    const response = await exchange(sent, signal)
    async function* body(): AsyncGenerator<string> {
      for await (const chunk of response.body) yield chunk.replaceAll(STAND_IN, digits)
    }
    return { ...response, body: body() }
  },
})

it.each(['9007199254740993', '9223372036854775807'])('an abort puts back a template that has the integer %s', async (digits) => {
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, tolerations, ...holding(digits) })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const before = deletions(stage)
  const annotations = { 'tranche.dev/action': JSON.stringify({ id: 'stop', type: 'abort', expectedStep: 1 }) }
  await stage.patchRollout({ metadata: { annotations } })
  await untilNodesOn(stage, 'v1', 8)
  expect(deletions(stage) - before).toBe(2)
  expectKept(stage)
})

it('a version that fails is rolled back to a template that has the integer 9223372036854775807', async () => {
  const policy = { failure: { action: 'Rollback' } } as const
  stage = await setStage({ nodes: 8, maxUnavailable: 2, steps, policy, tolerations, ...holding('9223372036854775807') })
  await stage.setImage('v2-bad-crash')
  await untilNodesOn(stage, 'v2-bad-crash', 2)
  await untilNodesOn(stage, 'v1', 8)
  expect(await nodesOn(stage, 'v2-bad-crash')).toEqual([])
})
