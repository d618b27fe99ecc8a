import type { Clock, Timer } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { LRUCache } from 'lru-cache'

/** A client that waits in the queue. */
export interface FairQueueClient {
  /** Clients of one address share its slots. */
  readonly address: string
  /** A connection may have one request in the queue. */
  readonly connection: object
  /** Ends the wait. */
  readonly signal: AbortSignal
}

/** Schedules work of unauthenticated clients that causes requests to the API server, fairly by client address. */
export interface FairQueue {
  /**
   * Runs `work` when a slot is free for the client.
   *
   * @param isFailure whether the result counts as a failure of the address
   * @throws {AppError} RATE_LIMITED if the queue is full; the signal's reason; errors of `work`
   */
  run<T>(client: FairQueueClient, work: () => Promise<T>, isFailure?: (result: T) => boolean): Promise<T>
}

/** Options of {@link createFairQueue}. */
export interface FairQueueOptions {
  readonly clock: Clock
  /** Maximum number of concurrent slots. */
  readonly atOnce: number
  /** Maximum number of waiting clients per address. */
  readonly slotsPerAddress: number
  /** Maximum number of waiting clients. @default 4096 */
  readonly slots?: number
  /** Failures per second after which an address has to wait. @default no limit */
  readonly failuresPerSecond?: number
}

/** Maximum number of addresses whose failures are counted; an evicted address starts at zero. */
const ADDRESSES = 10_000

/**
 * Serves addresses round-robin, independent of their number of waiting clients; clients of one address are served in order. If the queue
 * is full, the longest line loses its last client: an address with a short line is never refused because of one with a long line.
 */
export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { clock, atOnce, slotsPerAddress, slots = 4_096, failuresPerSecond = Number.POSITIVE_INFINITY } = options
  /** Waiting clients by address, in round-robin order. */
  const lines = new Map<string, Waiting[]>()
  const busy = new WeakSet<object>()
  const allowances = createAllowances(clock, failuresPerSecond)
  let waiting = 0
  let underWay = 0
  let timer: Timer | undefined

  function enter(one: Waiting): void {
    const { address, connection, signal } = one.client
    signal.throwIfAborted()
    if (busy.has(connection)) throw tooMany('a connection can have only one such request at a time')
    const line = lines.get(address) ?? []
    if (line.length >= slotsPerAddress) throw tooMany(`${slotsPerAddress} such requests from this address are waiting`)
    if (waiting >= slots) freeSlot(line.length)
    busy.add(connection)
    line.push(one)
    lines.set(address, line)
    waiting += 1
  }

  /** @throws {AppError} RATE_LIMITED if no other address has a longer line than the new client's */
  function freeSlot(own: number): void {
    let longest: Waiting[] = []
    for (const line of lines.values()) if (line.length > longest.length) longest = line
    const last = longest.at(-1)
    const error = tooMany(`${slots} such requests are waiting`)
    if (last === undefined || longest.length <= own + 1) throw error
    leave(last)
    last.refuse(error)
  }

  /** @returns false if it was not waiting */
  function leave(one: Waiting): boolean {
    const { address, connection } = one.client
    const line = lines.get(address) ?? []
    const at = line.indexOf(one)
    if (at < 0) return false
    line.splice(at, 1)
    if (line.length === 0) lines.delete(address)
    waiting -= 1
    busy.delete(connection)
    return true
  }

  function nextAddress(): string | undefined {
    for (const address of lines.keys()) if (allowances.left(address) >= 1) return address
    return undefined
  }

  function serve(): void {
    while (underWay < atOnce) {
      const address = nextAddress()
      if (address === undefined) break
      const line = lines.get(address)!
      const [first] = line
      leave(first!)
      // Moves the address to the end of the round.
      if (lines.delete(address)) lines.set(address, line)
      void begin(first!)
    }
    if (lines.size === 0 || underWay >= atOnce || timer !== undefined) return
    timer = clock.setTimer(Math.ceil(1_000 / failuresPerSecond), () => {
      timer = undefined
      serve()
    })
  }

  async function begin({ client, act }: Waiting): Promise<void> {
    underWay += 1
    busy.add(client.connection)
    const hasFailed = await act()
    if (hasFailed) allowances.spend(client.address)
    busy.delete(client.connection)
    underWay -= 1
    serve()
  }

  return {
    async run<T>(client: FairQueueClient, work: () => Promise<T>, isFailure: (result: T) => boolean = () => false) {
      const end = Promise.withResolvers<T>()
      const one: Waiting = {
        client,
        refuse: end.reject,
        async act() {
          try {
            const result = await work()
            end.resolve(result)
            return isFailure(result)
          } catch (error) {
            end.reject(error)
            return false
          }
        },
      }
      enter(one)
      const onAbort = (): void => {
        if (leave(one)) end.reject(client.signal.reason)
      }
      client.signal.addEventListener('abort', onAbort, { once: true })
      serve()
      return end.promise.finally(() => client.signal.removeEventListener('abort', onAbort))
    },
  }
}

interface Waiting {
  readonly client: FairQueueClient
  /** Never rejects. @returns true if the result counts as a failure */
  act(): Promise<boolean>
  refuse(error: Error): void
}

interface Allowances {
  /** Number of failures left to the address now; at most one second's worth. */
  left(address: string): number
  spend(address: string): void
}

function createAllowances(clock: Clock, perSecond: number): Allowances {
  const known = new LRUCache<string, { readonly left: number; readonly atMs: number }>({ max: ADDRESSES })
  function left(address: string): number {
    const before = known.get(address)
    if (before === undefined) return perSecond
    return Math.min(perSecond, before.left + ((clock.monotonicMs() - before.atMs) * perSecond) / 1_000)
  }
  return {
    left,
    spend(address) {
      if (Number.isFinite(perSecond)) known.set(address, { left: left(address) - 1, atMs: clock.monotonicMs() })
    },
  }
}

function tooMany(why: string): AppError {
  return new AppError('RATE_LIMITED', `too many requests from unauthenticated clients: ${why}`, { hint: 'Try again in a second.' })
}
