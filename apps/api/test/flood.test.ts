import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ApiStage, startTestApi, readsOf } from './fixtures.ts'

describe('a flood of guessed tokens', () => {
  const limits = { requestsPerSecond: 3, guessesPerSecond: 3, unauthenticatedPerAddress: 4 }
  let few: ApiStage
  const get = (headers: Readonly<Record<string, string>>, remoteAddress = '192.0.2.1'): Promise<{ readonly statusCode: number }> =>
    few.app.inject({ method: 'GET', url: '/api/v1/rollouts', headers, remoteAddress })
  const guess = (name: number): Promise<number> => get({ authorization: `Bearer guess-${name}` }).then(({ statusCode }) => statusCode)
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  beforeEach(async () => {
    few = await startTestApi(readsOf([]), { limits })
  })
  afterEach(() => few.end())

  it('is reviewed slowly, and does not block a new valid token from the same address', async () => {
    expect(await Promise.all([guess(1), guess(2), guess(3)])).toEqual([401, 401, 401])
    const asked = few.reviews.length
    const waiting = [guess(4), guess(5), get(few.as('viewer')).then(({ statusCode }) => statusCode)]
    await turns()
    expect(few.reviews.length).toBe(asked)
    few.clock.advance(1_000)
    expect(await Promise.all(waiting)).toEqual([401, 401, 200])
  })

  it('does not delay tokens that were valid within the hour', async () => {
    expect((await get(few.as('viewer'))).statusCode).toBe(200)
    few.clock.advance(3_000_000)
    await Promise.all([guess(1), guess(2), guess(3)])
    expect((await get(few.as('viewer'))).statusCode).toBe(200)
  })

  it('leaves slots to other addresses, and is refused when its line is full', async () => {
    await Promise.all([guess(1), guess(2), guess(3)])
    const waiting = [4, 5, 6, 7].map(guess)
    await turns()
    expect(await guess(8)).toBe(429)
    expect((await get(few.as('viewer'), '198.51.100.1')).statusCode).toBe(200)
    few.clock.advance(2_000)
    expect(await Promise.all(waiting)).toEqual([401, 401, 401, 401])
  })

  it('with one repeated token causes one review in ten seconds, and counts for the address', async () => {
    const statuses = []
    for (let time = 0; time < 5; time++) statuses.push(await guess(1))
    expect([statuses, few.reviews.length]).toEqual([[401, 401, 401, 401, 429], 1])
  })

  it('from all addresses of one IPv6 /64 network counts as one client', async () => {
    const from = (ip: string): Promise<number> => get({}, ip).then(({ statusCode }) => statusCode)
    const statuses = []
    for (const ip of ['2001:db8::1', '2001:db8::2', '2001:db8::3:4', '2001:db8::5', '2001:db8:0:1::1']) statuses.push(await from(ip))
    expect(statuses).toEqual([401, 401, 401, 429, 401])
  })
})
