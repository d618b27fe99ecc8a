import type { ActionAnswer } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { afterEach, expect, it } from 'vitest'
import { type HandedRequest, type SendRequest, takeRequests } from '../src/http/take-requests.ts'
import { aSummary, type ApiStage, startTestApi, readsOf } from './fixtures.ts'

const clock = new FakeClock()
const written: ActionAnswer = { id: 'a', type: 'pause', state: 'accepted', message: 'it is written', repeated: false }
let stage: ApiStage
afterEach(() => stage.end())

/** @param act executes an action during the request */
async function handTo(act: (ending: AbortSignal) => Promise<ActionAnswer>): Promise<SendRequest> {
  let send: SendRequest | undefined
  stage = await startTestApi(readsOf([aSummary()]), {
    parts: { clock, carryOut: (_order, timeUp) => act(timeUp) },
    beforeReady: (app) => void (send = takeRequests(app)),
  })
  return send!
}

const pause = (headers: Readonly<Record<string, string>> = stage.as('admin')): HandedRequest => ({
  method: 'POST',
  path: '/api/v1/namespaces/demo/rollouts/agent/actions/pause',
  headers: { ...headers, 'content-type': 'application/json' },
  body: '{}',
})

it('answers as over a socket', async () => {
  const send = await handTo(async () => written)
  const { status, body } = await send(pause(), new AbortController().signal)
  expect([status, JSON.parse(body)]).toEqual([202, written])
  expect((await send(pause({}), new AbortController().signal)).status).toBe(401)
})

it('aborts the handler of a request when its client disconnects', async () => {
  const begun = Promise.withResolvers<AbortSignal>()
  const send = await handTo((ending) => {
    begun.resolve(ending)
    return new Promise((_, reject) => ending.addEventListener('abort', () => reject(ending.reason as Error)))
  })
  const sender = new AbortController()
  const answer = send(pause(), sender.signal)
  const ending = await begun.promise
  sender.abort(new Error('gone'))
  await expect(answer).rejects.toThrow('gone')
  expect(ending.aborted).toBe(true)
})

it('does nothing for a client that has already disconnected', async () => {
  const send = await handTo(() => Promise.reject(new Error('nothing is done')))
  await expect(send(pause(), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
})
