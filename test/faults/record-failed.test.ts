import { VirtualClock } from '@tranche/clock'
import type { FailedRequest } from '@tranche/recording'
import type { Exchange, WireResponse } from '@tranche/wire'
import { describe, expect, it } from 'vitest'
import { recordFailed } from './record-failed.ts'

const path = '/api/v1/nodes/a'

async function failuresOf(exchange: Exchange): Promise<readonly FailedRequest[]> {
  const failures: FailedRequest[] = []
  const recorded = recordFailed(exchange, 'executor-1', new VirtualClock(), (request) => failures.push(request))
  await recorded({ method: 'GET', path, headers: {} }, new AbortController().signal).catch(() => {})
  return failures.map((failure) => ({ ...failure, atMs: 0 }))
}

const answering =
  (status: number): Exchange =>
  async () =>
    ({ status, headers: {}, body: (async function* () {})() }) as unknown as WireResponse

const failed = [{ actor: 'executor-1', atMs: 0, method: 'GET', path }]

describe('requests that fail', () => {
  it.each([
    ['a success is none', answering(200), []],
    ['404 is an answer', answering(404), []],
    ['a conflict is one', answering(409), failed],
    ['an error of the server is one', answering(500), failed],
    ['a connection that breaks is one', async () => Promise.reject(new Error('cut')), failed],
  ] as const)('%s', async (_name, exchange, found) => {
    expect(await failuresOf(exchange)).toEqual(found)
  })
})
