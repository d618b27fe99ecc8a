import type { Clock } from '@tranche/clock'
import type { RateLimiter } from './rate-limiter.ts'

/** Keys with pending work. A key is queued at most once, and no two workers process it at the same time. */
export interface WorkQueue {
  add(key: string): void
  /** Of several delays of one key, the one that ends first counts. */
  addAfter(key: string, delayMs: number): void
  /** Starts the work of a queue that was created paused. */
  resume(): void
  /** Drops all keys and timers, and starts no more work. */
  stop(): void
}

interface WorkQueueOptions {
  readonly clock: Clock
  readonly limiter: RateLimiter
  /** Maximum number of keys processed in parallel (≥ 1). */
  readonly workers: number
  /** Processes one key. A rejection requeues the key with growing delays. */
  readonly work: (key: string) => Promise<void>
  /** Called for every rejection. */
  readonly onError: (error: unknown, key: string) => void
  /** Collects keys without processing them until it is resumed. @default false */
  readonly paused?: boolean
}

/** Queue that processes keys as soon as they arrive. A key added while it is processed is processed again afterwards. */
export function createWorkQueue({ clock, limiter, workers, work, onError, paused = false }: WorkQueueOptions): WorkQueue {
  const waiting = new Set<string>()
  const active = new Set<string>()
  const again = new Set<string>()
  const delays = createDelays(clock, add)
  let stopped = false
  let isPaused = paused

  function add(key: string): void {
    if (stopped) return
    if (active.has(key)) again.add(key)
    else waiting.add(key)
    queueMicrotask(next)
  }

  function addAfter(key: string, delayMs: number): void {
    if (!stopped) delays.begin(key, delayMs)
  }

  function next(): void {
    while (!stopped && !isPaused && active.size < workers && waiting.size > 0) {
      const key: string = waiting.values().next().value!
      waiting.delete(key)
      active.add(key)
      void run(key)
    }
  }

  async function run(key: string): Promise<void> {
    try {
      await work(key)
      limiter.forget(key)
    } catch (error) {
      onError(error, key)
      addAfter(key, limiter.delayMs(key))
    }
    active.delete(key)
    if (again.delete(key)) waiting.add(key)
    next()
  }

  return {
    add,
    addAfter,
    resume() {
      isPaused = false
      next()
    },
    stop() {
      stopped = true
      waiting.clear()
      delays.cancel()
    },
  }
}

interface Delays {
  begin(key: string, delayMs: number): void
  cancel(): void
}

/** One delay per key, as client-go has. @param over called at the end of a delay */
function createDelays(clock: Clock, over: (key: string) => void): Delays {
  const running = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>()
  return {
    begin(key, delayMs) {
      const dueMs = clock.monotonicMs() + delayMs
      const earlier = running.get(key)
      if (earlier !== undefined && earlier.dueMs <= dueMs) return
      earlier?.cancel()
      const { cancel } = clock.setTimer(delayMs, () => {
        running.delete(key)
        over(key)
      })
      running.set(key, { dueMs, cancel })
    },
    cancel() {
      for (const { cancel } of running.values()) cancel()
    },
  }
}
