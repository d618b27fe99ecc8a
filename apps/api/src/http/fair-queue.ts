import type { Clock, Timer } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { LRUCache } from 'lru-cache'

/** Who wants a turn. */
export interface FairQueueClient {
  /** Those of one address share its turns. */
  readonly address: string
  /** Has one place. */
  readonly connection: object
  /** Ends the wait for a turn. */
  readonly signal: AbortSignal
}

/** Gives turns at work that costs the API server something, before anybody knows who asks for it. */
export interface FairQueue {
  /**
   * Does `work` when it is the visitor's turn.
   *
   * @param isFailure whether what came of it counts as one of the failures of the address
   * @throws {AppError} RATE_LIMITED where there is no place to wait; the signal's reason; whatever `work` throws
   */
  run<T>(client: FairQueueClient, work: () => Promise<T>, isFailure?: (result: T) => boolean): Promise<T>
}

/** What a queue is made with. */
export interface FairQueueOptions {
  readonly clock: Clock
  /** Turns side by side. */
  readonly atOnce: number
  /** Places of one address. */
  readonly slotsPerAddress: number
  /** Places in all. @default 4096 */
  readonly slots?: number
  /** After so many failures in one second an address waits. @default no limit */
  readonly failuresPerSecond?: number
}

/** Addresses whose failures are remembered: one that is forgotten begins anew. */
const ADDRESSES = 10_000

/**
 * Addresses take turns, whatever the number that waits of each; those of one address are served in their order. Where all places are taken
 * the longest line loses its last: an address with few that wait is never turned away because of another with many.
 */
export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { clock, atOnce, slotsPerAddress, slots = 4_096, failuresPerSecond = Number.POSITIVE_INFINITY } = options
  /** In the order of their next turns. */
  const lines = new Map<string, Waiting[]>()
  const busy = new WeakSet<object>()
  const allowances = createAllowances(clock, failuresPerSecond)
  let waiting = 0
  let underWay = 0
  let timer: Timer | undefined

  function enter(one: Waiting): void {
    const { address, connection, signal } = one.client
    signal.throwIfAborted()
    if (busy.has(connection)) throw tooMany('one connection has one such request at a time')
    const line = lines.get(address) ?? []
    if (line.length >= slotsPerAddress) throw tooMany(`${slotsPerAddress} such requests wait from this address`)
    if (waiting >= slots) freeSlot(line.length)
    busy.add(connection)
    line.push(one)
    lines.set(address, line)
    waiting += 1
  }

  /** @throws {AppError} RATE_LIMITED where nobody has more places than who comes */
  function freeSlot(own: number): void {
    let longest: Waiting[] = []
    for (const line of lines.values()) if (line.length > longest.length) longest = line
    const last = longest.at(-1)
    const error = tooMany(`${slots} such requests wait`)
    if (last === undefined || longest.length <= own + 1) throw error
    leave(last)
    last.refuse(error)
  }

  /** @returns whether it was there */
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
      // To the end of the round.
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
  /** Never rejects. @returns whether it counts as a failure */
  act(): Promise<boolean>
  refuse(error: Error): void
}

interface Allowances {
  /** Failures that the address may still have at this moment; never more than in a second. */
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
  return new AppError('RATE_LIMITED', `too many requests of senders that are not known yet: ${why}`, { hint: 'Try again in a second.' })
}
