import type { Clock } from '@tranche/clock'
import { createSemaphore, type Semaphore } from '@tranche/connections'
import { Agent } from 'undici'

/** What the requests of one caller share, and those of no other. */
export interface CallerPool {
  readonly agent: Agent
  /** Slots for long responses: those of the caller, then those of the process. */
  readonly semaphore: Pick<Semaphore, 'acquire'>
}

/** Limits of {@link CallerPools}. */
export interface PoolLimits {
  /** Connections of a caller per origin; more requests wait. */
  readonly connections: number
  /** Requests of a caller at a time, to all origins together; more requests wait. */
  readonly requestsOfCaller: number
  /** Long responses that are read at a time. */
  readonly longAnswers: number
  /** Those of one caller. */
  readonly longAnswersOfCaller: number
  /** How long an idle connection is kept, and at least the pool of a caller without requests, in milliseconds. */
  readonly keepAliveMs: number
}

interface KeptPool extends CallerPool {
  /** Slots for requests. */
  readonly requests: Semaphore
  /** Number of requests in flight. */
  open: number
  /** When (monotonic ms) the last one ended. */
  idleSinceMs: number
}

/**
 * Connections of their own for each caller. A caller whose requests are slow, to whatever server, keeps none of another caller from being sent.
 * It takes up only a part of the slots for long responses.
 */
export class CallerPools {
  readonly #pools = new Map<string, KeptPool>()
  readonly #clock: Clock
  readonly #connect: NonNullable<Agent.Options['connect']>
  readonly #limits: PoolLimits
  readonly #shared: Semaphore

  constructor(clock: Clock, connect: NonNullable<Agent.Options['connect']>, limits: PoolLimits) {
    this.#clock = clock
    this.#connect = connect
    this.#limits = limits
    this.#shared = createSemaphore(limits.longAnswers)
  }

  /** Number of callers that have a pool. */
  get size(): number {
    return this.#pools.size
  }

  /**
   * Runs work with the pool of its caller, once the caller has fewer requests than it may.
   *
   * @throws the signal's reason if it aborts before; errors of `work`
   */
  async run<T>(caller: string, signal: AbortSignal, work: (pool: CallerPool) => Promise<T>): Promise<T> {
    this.#dropIdle()
    const pool = this.#pools.get(caller) ?? this.#create(caller)
    pool.open++
    try {
      return await pool.requests.run(signal, caller, () => work(pool))
    } finally {
      pool.open--
      pool.idleSinceMs = this.#clock.monotonicMs()
    }
  }

  /** Aborts requests in flight and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(({ agent }) => agent.destroy()))
  }

  #create(caller: string): KeptPool {
    const { connections, requestsOfCaller, keepAliveMs: keepAliveTimeout, longAnswersOfCaller } = this.#limits
    const agent = new Agent({ connect: this.#connect, connections, keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0 })
    const semaphore = inTurn(createSemaphore(longAnswersOfCaller), this.#shared, caller)
    const pool = { agent, semaphore, requests: createSemaphore(requestsOfCaller), open: 0, idleSinceMs: 0 }
    this.#pools.set(caller, pool)
    return pool
  }

  /** Connections without requests have closed by themselves; what is left is memory. */
  #dropIdle(): void {
    const sinceMs = this.#clock.monotonicMs() - this.#limits.keepAliveMs
    for (const [caller, pool] of this.#pools) {
      if (pool.open > 0 || pool.idleSinceMs > sinceMs) continue
      this.#pools.delete(caller)
      void pool.agent.destroy()
    }
  }
}

/** A slot of the caller, then one of all, for which callers take turns. */
function inTurn(own: Semaphore, shared: Semaphore, caller: string): Pick<Semaphore, 'acquire'> {
  return {
    async acquire(signal) {
      const leaveOwn = await own.acquire(signal)
      try {
        const leaveShared = await shared.acquire(signal, caller)
        return () => {
          leaveShared()
          leaveOwn()
        }
      } catch (error) {
        leaveOwn()
        throw error
      }
    },
  }
}
