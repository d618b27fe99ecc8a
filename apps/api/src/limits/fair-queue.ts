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
  return new RoundRobinQueue({ slots: 4_096, failuresPerSecond: Number.POSITIVE_INFINITY, ...options })
}

class RoundRobinQueue implements FairQueue {
  readonly #options: Required<FairQueueOptions>
  readonly #allowances: Allowances
  /** Waiting clients by address, in round-robin order. */
  readonly #lines = new Map<string, Waiting[]>()
  /** Connections that have a request in the queue or in progress. */
  readonly #busy = new WeakSet<object>()
  #waiting = 0
  #underWay = 0
  #timer: Timer | undefined

  constructor(options: Required<FairQueueOptions>) {
    this.#options = options
    this.#allowances = createAllowances(options.clock, options.failuresPerSecond)
  }

  async run<T>(client: FairQueueClient, work: () => Promise<T>, isFailure: (result: T) => boolean = () => false): Promise<T> {
    const end = Promise.withResolvers<T>()
    const one: Waiting = { client, refuse: end.reject, act: () => settle(end, work, isFailure) }
    this.#enter(one)
    const onAbort = (): void => {
      if (this.#leave(one)) end.reject(client.signal.reason)
    }
    client.signal.addEventListener('abort', onAbort, { once: true })
    this.#serve()
    return end.promise.finally(() => client.signal.removeEventListener('abort', onAbort))
  }

  #enter(one: Waiting): void {
    const { slots, slotsPerAddress } = this.#options
    const { address, connection, signal } = one.client
    signal.throwIfAborted()
    if (this.#busy.has(connection)) throw tooMany('a connection can have only one such request at a time')
    const line = this.#lines.get(address) ?? []
    if (line.length >= slotsPerAddress) throw tooMany(`${slotsPerAddress} such requests from this address are waiting`)
    if (this.#waiting >= slots) this.#freeSlot(line.length)
    this.#busy.add(connection)
    line.push(one)
    this.#lines.set(address, line)
    this.#waiting += 1
  }

  /** @throws {AppError} RATE_LIMITED if no other address has a longer line than the new client's */
  #freeSlot(own: number): void {
    let longest: Waiting[] = []
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line
    const last = longest.at(-1)
    const error = tooMany(`${this.#options.slots} such requests are waiting`)
    if (last === undefined || longest.length <= own + 1) throw error
    this.#leave(last)
    last.refuse(error)
  }

  /** @returns false if it was not waiting */
  #leave(one: Waiting): boolean {
    const { address, connection } = one.client
    const line = this.#lines.get(address) ?? []
    const at = line.indexOf(one)
    if (at < 0) return false
    line.splice(at, 1)
    if (line.length === 0) this.#lines.delete(address)
    this.#waiting -= 1
    this.#busy.delete(connection)
    return true
  }

  #serve(): void {
    const { clock, atOnce, failuresPerSecond } = this.#options
    while (this.#underWay < atOnce) {
      const first = this.#takeNext()
      if (first === undefined) break
      void this.#begin(first)
    }
    if (this.#lines.size === 0 || this.#underWay >= atOnce || this.#timer !== undefined) return
    this.#timer = clock.setTimer(Math.ceil(1_000 / failuresPerSecond), () => {
      this.#timer = undefined
      this.#serve()
    })
  }

  /** Takes the first client of the next address that may have work, and moves the address to the end of the round. */
  #takeNext(): Waiting | undefined {
    const address = this.#lines.keys().find((key) => this.#allowances.left(key) >= 1)
    const line = address === undefined ? undefined : this.#lines.get(address)
    const first = line?.[0]
    if (address === undefined || line === undefined || first === undefined) return undefined
    this.#leave(first)
    if (this.#lines.delete(address)) this.#lines.set(address, line)
    return first
  }

  async #begin({ client, act }: Waiting): Promise<void> {
    this.#underWay += 1
    this.#busy.add(client.connection)
    const hasFailed = await act()
    if (hasFailed) this.#allowances.spend(client.address)
    this.#busy.delete(client.connection)
    this.#underWay -= 1
    this.#serve()
  }
}

interface Waiting {
  readonly client: FairQueueClient
  /** Never rejects. @returns true if the result counts as a failure */
  act(): Promise<boolean>
  refuse(error: Error): void
}

/** Runs the work and settles its promise. Never rejects. @returns true if the result counts as a failure */
async function settle<T>(end: PromiseWithResolvers<T>, work: () => Promise<T>, isFailure: (result: T) => boolean): Promise<boolean> {
  try {
    const result = await work()
    end.resolve(result)
    return isFailure(result)
  } catch (error) {
    end.reject(error)
    return false
  }
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
