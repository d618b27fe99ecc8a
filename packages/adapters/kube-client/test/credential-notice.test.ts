import { FakeClock } from '@tranche/clock'
import { type LogFields, type Logger, silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { expect, it } from 'vitest'
import { createCredentialNotice } from '../src/credentials/credential-notice.ts'

it('rejected credentials cause one log line a minute with a fix, and one line once they are accepted again', async () => {
  const clock = new FakeClock()
  const lines: (LogFields & { readonly msg: string })[] = []
  const write = (fields: LogFields, msg: string): void => void lines.push({ ...fields, msg })
  const log: Logger = { ...silentLogger, info: write, warn: write, error: write }
  let status = 401
  const exchange: Exchange = async () => ({ status, headers: {}, body: nothing() })
  const noticed = createCredentialNotice({ clock, log })(exchange)
  const ask = (): Promise<unknown> => noticed({ method: 'GET', path: '/version?timeout=1s', headers: {} }, new AbortController().signal)
  for (let second = 0; second < 150; second++) {
    await ask()
    clock.advance(1_000)
  }
  expect(lines.map(({ msg }) => msg)).toEqual(Array(3).fill('API server does not accept the credentials'))
  expect(lines[0]).toMatchObject({ hint: expect.stringContaining('service account') as string, why: 'GET /version was answered with 401' })
  for (status of [500, 503, 429]) await ask()
  expect(lines).toHaveLength(3)
  status = 200
  await ask()
  await ask()
  expect(lines.slice(3)).toEqual([{ msg: 'API server accepts the credentials again', awayMs: 150_000 }])
})

it('accepted credentials cause no log line, and another rejection within a minute causes none either', async () => {
  const clock = new FakeClock()
  const lines: string[] = []
  const write = (_fields: LogFields, msg: string): void => void lines.push(msg)
  const log: Logger = { ...silentLogger, info: write, error: write }
  let status = 404
  const exchange: Exchange = async () => ({ status, headers: {}, body: nothing() })
  const noticed = createCredentialNotice({ clock, log })(exchange)
  for (status of [200, 404, 401, 499, 401, 200]) {
    await noticed({ method: 'GET', path: '/version', headers: {} }, new AbortController().signal)
    clock.advance(1_000)
  }
  expect(lines).toEqual(['API server does not accept the credentials', 'API server accepts the credentials again'])
})

async function* nothing(): AsyncGenerator<string> {}
