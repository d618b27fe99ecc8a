import type { Clock, Timer } from '@tranche/clock'
import type { Redis } from 'ioredis'

/**
 * Keys that are due later, in a sorted set on Redis. The score is the due time by Redis' own clock, and it only decreases.
 *
 * Every process that holds a queue has a timer for the keys that it delayed. Processes with workers also scan all keys periodically, so
 * that a key outlives the process that delayed it.
 *
 * A due key stays in the set until its run begins ({@link DelayedKeys.forget}). The process that enqueues it claims it for a moment, so
 * that the others do not; if the enqueue fails, it is enqueued again.
 */
export interface DelayedKeys {
  /** Makes `key` due in `delayMs`, unless it is due earlier. */
  delay(key: string, delayMs: number): Promise<void>
  /** Removes the due time of `key`, because a run of it begins now. */
  forget(key: string): Promise<void>
  /**
   * Records how a run of `key` ended: a success resets its row of failures, a failure extends it.
   *
   * @returns what follows for the key
   */
  noteEnd(key: string, end: RunEnd): Promise<AfterRun>
  /** Starts scanning the keys of all processes. */
  watchAll(): void
  /** Scans now, because Redis may have been unavailable; otherwise the next scan is within a second. */
  look(): void
  /** Stops all timers. */
  stop(): void
}

/** Result of a run, and when the key is rechecked. Milliseconds. */
export type RunEnd = { readonly kind: 'done' } | { readonly kind: 'recheckAfter'; readonly ms: number } | { readonly kind: 'failed' }

/** State of a key after a run. */
export interface AfterRun {
  /** Failures in a row, including this one; 0 after a success. */
  readonly failures: number
  /** When the key is rechecked, in milliseconds; -1: when it is enqueued. */
  readonly againMs: number
}

/** Options of {@link createDelayedKeys}. */
export interface DelayedKeysOptions {
  readonly client: Redis
  /** Names of the sorted set and of the hash of failures. */
  readonly names: { readonly due: string; readonly failures: string }
  readonly clock: Clock
  readonly backOffBaseMs: number
  readonly backOffMaxMs: number
  /** Interval of scanning the keys of all processes, in milliseconds. */
  readonly lookMs: number
  /** Enqueues a due key; may reject. */
  readonly onDue: (key: string) => Promise<void>
  /** Called when scanning fails, with the error. */
  readonly onFault: (error: unknown) => void
}

/** Maximum length of a key in characters: a namespace and a name, which DNS bounds. */
export const LONGEST_KEY = 512

/** Validity of a claim, and wait after an error, in milliseconds. */
const CLAIM_MS = 5_000
const RETRY_MS = 1_000
const MOST_AT_A_TIME = 200

/** Defines the Lua scripts on `client` and starts without a timer. */
export function createDelayedKeys(options: DelayedKeysOptions): DelayedKeys {
  const { clock, names } = options
  const calls = defineScripts(options.client)
  let timer: { readonly atMs: number; readonly timer: Timer } | null = null
  let watchesAll = false
  let stopped = false

  const lookIn = (delayMs: number): void => {
    const atMs = clock.monotonicMs() + delayMs
    if (stopped || (timer !== null && timer.atMs <= atMs)) return
    timer?.timer.cancel()
    timer = { atMs, timer: clock.setTimer(delayMs, () => void look()) }
  }
  const look = async (): Promise<void> => {
    timer = null
    try {
      const [due, nextMs] = await calls.trancheTakeDueBuffer(names.due, CLAIM_MS, MOST_AT_A_TIME)
      if (stopped) return
      if (nextMs >= 0) lookIn(nextMs)
      await Promise.all(due.map((member) => takeUp(options, member)))
    } catch (error) {
      options.onFault(error)
      lookIn(RETRY_MS)
    }
    if (watchesAll) lookIn(options.lookMs)
  }
  return {
    async delay(key, delayMs) {
      await calls.trancheDelay(names.due, key, Math.ceil(delayMs))
      lookIn(Math.ceil(delayMs))
    },
    async forget(key) {
      await options.client.zrem(names.due, key)
    },
    async noteEnd(key, end) {
      const ms = end.kind === 'recheckAfter' ? Math.ceil(Math.max(0, end.ms)) : -1
      const hasFailed = end.kind === 'failed' ? 1 : 0
      const [failures, againMs] = await calls.trancheNoteEnd(
        names.due,
        names.failures,
        key,
        hasFailed,
        ms,
        options.backOffBaseMs,
        options.backOffMaxMs,
      )
      if (againMs >= 0) lookIn(againMs)
      return { failures, againMs }
    },
    watchAll() {
      watchesAll = true
      lookIn(0)
    },
    look: () => lookIn(0),
    stop() {
      stopped = true
      timer?.timer.cancel()
    },
  }
}

/** Enqueues a due key. A member that is no key is deleted: no run would forget it, so it would come back again and again. */
async function takeUp({ client, names, onDue }: DelayedKeysOptions, member: Buffer): Promise<void> {
  const key = member.toString()
  if (key.length <= LONGEST_KEY && member.equals(Buffer.from(key))) return onDue(key)
  await client.zrem(names.due, member)
}

/** Lua scripts as ioredis exposes them once defined. */
interface Scripts {
  trancheDelay(due: string, key: string, delayMs: number): Promise<unknown>
  trancheTakeDueBuffer(due: string, claimMs: number, most: number): Promise<readonly [due: readonly Buffer[], nextMs: number]>
  trancheNoteEnd(
    due: string,
    failures: string,
    key: string,
    hasFailed: number,
    againMs: number,
    baseMs: number,
    maxMs: number,
  ): Promise<readonly [failures: number, againMs: number]>
}

const nowMs = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

const delayScript = `${nowMs}
redis.call('ZADD', KEYS[1], 'LT', now + ARGV[2], ARGV[1])`

const takeDueScript = `${nowMs}
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for _, key in ipairs(due) do redis.call('ZADD', KEYS[1], now + ARGV[1], key) end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if #next == 0 then return { due, -1 } end
return { due, math.max(0, next[2] - now) }`

/** A number of failures that another writer has spoilt begins at one again. */
const noteEndScript = `${nowMs}
local failures = 0
local again = tonumber(ARGV[3])
if ARGV[2] == '1' then
  failures = redis.pcall('HINCRBY', KEYS[2], ARGV[1], 1)
  if type(failures) ~= 'number' or failures < 1 then
    failures = 1
    redis.call('HSET', KEYS[2], ARGV[1], 1)
  end
  again = math.min(tonumber(ARGV[5]), ARGV[4] * 2 ^ math.min(failures - 1, 40))
else
  redis.call('HDEL', KEYS[2], ARGV[1])
end
if again >= 0 then redis.call('ZADD', KEYS[1], 'LT', now + again, ARGV[1]) end
return { failures, again }`

function defineScripts(client: Redis): Scripts {
  client.defineCommand('trancheDelay', { numberOfKeys: 1, lua: delayScript })
  client.defineCommand('trancheTakeDue', { numberOfKeys: 1, lua: takeDueScript })
  client.defineCommand('trancheNoteEnd', { numberOfKeys: 2, lua: noteEndScript })
  return client as unknown as Scripts
}
