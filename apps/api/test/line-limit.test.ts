import { createHmac } from 'node:crypto'
import { FakeClock } from '@tranche/clock'
import { createKubeClient } from '@tranche/kube-client'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { createHookHandler } from '../src/hooks/hook-handler.ts'
import { createLineLimit } from '../src/limits/line-limit.ts'
import { createLogin } from '../src/login/login.ts'
import { aSummary, startTestApi, readsOf } from './fixtures.ts'

describe('a limit of log lines', () => {
  it('allows five lines per subject and minute, and counts the dropped ones', () => {
    const clock = new FakeClock()
    const limit = createLineLimit(clock)
    expect(times(7, () => limit.take('a'))).toEqual([0, 0, 0, 0, 0, null, null])
    expect(limit.take('b')).toBe(2)
    expect(limit.take('b')).toBe(0)
    clock.advance(60_000)
    expect(limit.take('a')).toBe(0)
  })

  it('allows 60 lines per minute in total', () => {
    const clock = new FakeClock()
    const limit = createLineLimit(clock)
    expect(times(100, (at) => limit.take(`thing ${at}`)).filter((leftOut) => leftOut !== null)).toHaveLength(60)
    clock.advance(60_000)
    expect(limit.take('thing 99')).toBe(40)
  })
})

describe('an unauthenticated client', () => {
  it('causes five lines a minute at a hook', async () => {
    const clock = new FakeClock()
    const { log, lines } = countingLog()
    const exchange = async (): Promise<never> => Promise.reject(new Error('nothing is asked'))
    const client = createKubeClient({ exchange, clock, userAgent: 'test/1', log: silentLogger })
    const handler = createHookHandler({ client, clock, log })
    const old = `t=1,v1=${createHmac('sha256', 'x').update('x').digest('hex')}`
    const sender = { address: '192.0.2.1', signal: new AbortController().signal }
    for (let at = 0; at < 50; at++)
      await expect(
        handler.admit({ namespace: 'demo', hook: 'ci', signature: old, body: Buffer.from('{}'), sender } as never),
      ).rejects.toMatchObject({ code: 'HOOK_REFUSED' })
    expect(lines).toHaveLength(5)
  })

  it('causes five lines a minute at each route while reviews fail', async () => {
    const { log, lines } = countingLog()
    const stage = await startTestApi(readsOf([aSummary()]), { parts: { log } })
    stage.breakReviews('gone')
    for (let at = 0; at < 20; at++)
      expect(await stage.app.inject({ url: '/api/v1/rollouts', headers: { authorization: `Bearer ${at}` } })).toMatchObject({
        statusCode: 503,
      })
    expect(lines).toHaveLength(5)
    await stage.end()
  })

  it('causes five lines a minute at a login', async () => {
    const clock = new FakeClock()
    const { log, lines } = countingLog()
    const login = createLogin(
      { externalUrl: 'https://tranche.example.com', sessionKeys: ['k'.repeat(32)], issuer: 'https://issuer.example.com' } as never,
      { clock, log },
    )
    for (let at = 0; at < 50; at++) await expect(login.finish('/login/callback?code=x', {})).rejects.toMatchObject({ code: 'LOGIN_FAILED' })
    expect(lines).toHaveLength(5)
  })
})

function countingLog(): { readonly log: Logger; readonly lines: unknown[] } {
  const lines: unknown[] = []
  const count = (fields: unknown): void => void lines.push(fields)
  return { log: { ...silentLogger, warn: count, error: count }, lines }
}

function times<T>(count: number, make: (at: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, at) => make(at))
}
