import { type Clock, systemClock } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import type { RedisSettings } from '@tranche/queue-bullmq'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { redisForTests } from '../../../scripts/redis-for-tests.ts'
import { freePort } from '../../../scripts/free-port.ts'
import { startRedis } from '../../../scripts/redis-server.ts'
import { followRedis } from '../src/health/follow-redis.ts'

const redisServer = await redisForTests()
const program = redisServer ?? 'redis-server'

describe.skipIf(redisServer === null)('a process whose Redis', () => {
  it('rejects the credentials is not ready, logs the fix once, and is ready once it is fixed', async () => {
    const redis = await startRedis({ program, args: ['--requirepass', 'right'] })
    onTestFinished(() => redis.dispose())
    let password = 'wrong'
    const { health, lines, failed, lookAgain } = follow(redis.port, () => password)
    await failed(1)
    lookAgain()
    await failed(2)
    expect([health.isReady(), health.says?.()]).toEqual([false, 'REDIS_REFUSED'])
    expect(lines).toMatchObject([
      { level: 'error', code: 'REDIS_REFUSED', hint: expect.stringContaining('--redis-password-file') as unknown },
    ])
    password = 'right'
    lookAgain()
    await vi.waitUntil(() => health.isReady(), { timeout: 10_000, interval: 10 })
    expect(health.says?.()).toBe('ready')
  })

  it('does not answer is not ready until it does, and leaves logging to the queue', async () => {
    const port = await freePort()
    const { health, lines, failed, lookAgain } = follow(port, () => undefined)
    await failed(1)
    expect([health.isReady(), health.says?.(), lines]).toEqual([false, 'REDIS_UNREACHABLE', []])
    const redis = await startRedis({ program, port })
    onTestFinished(() => redis.dispose())
    lookAgain()
    await vi.waitUntil(() => health.isReady(), { timeout: 10_000, interval: 10 })
  })
})

function follow(port: number, password: () => string | undefined) {
  const lines: object[] = []
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const redis: RedisSettings = {
    address: { kind: 'server', host: '127.0.0.1', port },
    ...{ database: 0, username: undefined, sentinelPassword: undefined, tls: null },
    get password() {
      return password()
    },
  }
  const log = { error: (fields: object) => void lines.push({ level: 'error', ...fields }) } as unknown as Logger
  const { clock, ...pauses } = pausing()
  return { health: followRedis({ redis, prefix: undefined, clock, log, signal: ending.signal }), lines, ...pauses }
}

/** A clock whose pauses end when the test says so: each follows a look that failed. */
function pausing() {
  const begun: (() => void)[] = []
  const waiting = new Set<() => void>()
  const clock: Clock = {
    ...systemClock,
    setTimer(_delayMs, callback) {
      begun.push(callback)
      for (const look of waiting) look()
      return { cancel: () => undefined }
    },
  }
  return {
    clock,
    lookAgain: () => begun.at(-1)?.(),
    failed: (times: number) =>
      new Promise<void>((resolve) => {
        const look = (): void => void (begun.length >= times && resolve())
        waiting.add(look)
        look()
      }),
  }
}
