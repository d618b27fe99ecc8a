import { type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis'
import type { RedisSettings } from './redis-settings.ts'

/** Connect timeout, in milliseconds. */
const CONNECT_MS = 5_000
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 2_000

/**
 * Creates a connection for calls that a caller waits for: without Redis they fail at once, and no command is sent twice.
 *
 * @param silenceMs time without an expected reply after which the connection counts as dead
 */
export function createCallClient(settings: RedisSettings, silenceMs: number): Redis {
  return quiet(
    new Redis(
      toClientOptions(settings, {
        socketTimeout: silenceMs,
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
      }),
    ),
  )
}

/** Creates a connection for a worker: its commands wait until Redis is back. */
export function createWorkerClient(settings: RedisSettings, silenceMs: number): Redis {
  return quiet(new Redis(toClientOptions(settings, { socketTimeout: silenceMs, maxRetriesPerRequest: null })))
}

/**
 * Creates a connection that connects once, on request, and never reconnects.
 *
 * @param deadlineMs limit of the connection and of each reply, in milliseconds
 */
export function createProbeClient(settings: RedisSettings, deadlineMs: number): Redis {
  return quiet(
    new Redis(
      toClientOptions(settings, {
        lazyConnect: true,
        retryStrategy: () => null,
        connectTimeout: deadlineMs,
        commandTimeout: deadlineMs,
        maxRetriesPerRequest: 0,
      }),
    ),
  )
}

/** Without a listener, ioredis writes errors and the commands to the console. */
function quiet(client: Redis): Redis {
  return client.on('error', () => {})
}

/** Replies in the format that BullMQ reads. */
type ClientOptions = Omit<RedisOptions, 'replyMapping'> & { readonly replyMapping?: 'legacy' }

function toClientOptions(settings: RedisSettings, behaviour: Omit<CommonRedisOptions, 'replyMapping'>): ClientOptions {
  const { address, database, username, sentinelPassword, tls } = settings
  const tlsOptions = tls?.ca === undefined ? {} : { ca: tls.ca }
  return {
    ...(address.kind === 'server'
      ? { host: address.host, port: address.port }
      : {
          sentinels: [...address.sentinels],
          name: address.master,
          role: 'master',
          sentinelRetryStrategy: behaviour.retryStrategy ?? retryDelayMs,
          ...(sentinelPassword !== undefined && { sentinelPassword }),
          ...(tls !== null && { sentinelTLS: tlsOptions, enableTLSForSentinelMode: true }),
        }),
    db: database,
    username,
    password: settings.password,
    ...(tls !== null && { tls: tlsOptions }),
    connectTimeout: CONNECT_MS,
    // Called before a reconnect, on the connection's own copy of the options.
    retryStrategy(this: { password?: string | null | undefined }, attempt) {
      this.password = settings.password
      return retryDelayMs(attempt)
    },
    // A master that became a replica keeps its connections; a new one leads to the new master.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    connectionName: 'tranche',
    ...behaviour,
  }
}

function retryDelayMs(attempt: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempt - 1))
}
