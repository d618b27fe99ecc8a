import type { RedisSettings } from '@tranche/queue-bullmq'
import { Redis } from 'ioredis'
import { redisForTests } from '../../../../scripts/redis-for-tests.ts'
import { type RedisServer, type RedisServerOptions, startRedis } from '../../../../scripts/redis-server.ts'

/** Path of redis-server; null if there is none. */
export const redisServer = await redisForTests()

/** Whether the suites on Redis are skipped; the test run says so in a line of its own. */
export const isRedisMissing = redisServer === null

/** A server, and a connection for inspecting it while it runs. */
export interface TestRedis extends RedisServer {
  readonly settings: RedisSettings
  readonly admin: Redis
}

/** Starts a real redis-server for one test or file. */
export async function startTestRedis(options: RedisServerOptions = {}): Promise<TestRedis> {
  const server = await startRedis({ program: redisServer ?? 'redis-server', ...options })
  const admin = new Redis({ port: server.port, host: '127.0.0.1', retryStrategy: () => 10, maxRetriesPerRequest: null })
  admin.on('error', () => {})
  return {
    ...server,
    settings: plainSettings(server.port),
    admin,
    async dispose() {
      admin.disconnect()
      await server.dispose()
    },
  }
}

/** @returns settings of a server on this machine without password and TLS */
export function plainSettings(port: number): RedisSettings {
  return {
    address: { kind: 'server', host: '127.0.0.1', port },
    database: 0,
    username: undefined,
    password: undefined,
    sentinelPassword: undefined,
    tls: null,
  }
}
