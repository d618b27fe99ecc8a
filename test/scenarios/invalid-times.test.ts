import { resourcePaths } from '@tranche/kube-client'
import type { Exchange } from '@tranche/wire'
import { afterEach, expect, it } from 'vitest'
import { untilPausedAt } from './looks.ts'
import { stageKey } from './stage-objects.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

/** API servers accept it as a date-time. The simulator is stricter: it stores another time, which the connection of the programs replaces. */
const NO_TIME = '2026-01-01T00:00:00x0Z'
const STORED = '2031-03-03T03:03:03Z'

async function* withNoTime(body: AsyncIterable<string>): AsyncIterable<string> {
  for await (const chunk of body) yield chunk.replaceAll(STORED, NO_TIME)
}

const tap =
  (_identity: string, exchange: Exchange): Exchange =>
  async (request, signal) => {
    const body = request.body?.replaceAll(NO_TIME, STORED)
    const response = await exchange({ ...request, ...(body !== undefined && { body }) }, signal)
    return { ...response, body: withNoTime(response.body) }
  }

it.each([{ counts: false }, { counts: true }])(
  'a user who may patch the status of a Rollout ends no program by a time that is none (metrics: $counts)',
  async ({ counts }) => {
    stage = await setStage({ nodes: 4, counts, tap })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const body = { status: { canaryStatus: { lastUpdateTime: STORED } } }
    await stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }, { subresource: 'status' })
    await stage.pass(10_000)
    await stage.approve()
    const step = async (): Promise<number> => (await stage.rollout()).status?.canaryStatus?.currentStepIndex ?? 0
    await stage.until('the approval is taken', async () => (await step()) > 1, 120_000)
    expect(await step()).toBe(2)
  },
)
