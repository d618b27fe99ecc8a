import { checkDelay, type Clock, type Timer } from './clock.ts'

interface Due {
  readonly atMs: number
  readonly order: number
  readonly callback: () => void
  cancelled: boolean
}

/**
 * Clock for simulations. Time stops while there is work, and jumps to the next timer when there is none.
 *
 * "Work" is everything announced with `hold` (a request in flight, an undelivered event on a real connection). It is also every promise
 * that can settle by itself: the clock lets one turn of the event loop pass before each jump.
 */
export class VirtualClock implements Clock {
  #nowMs = 0
  readonly #startMs: number
  #order = 0
  #holds = 0
  #running = false
  #heap: Due[] = []
  /** Number of cancelled timers in the heap. */
  #cancelled = 0

  /** @param startMs wall time at the start, in epoch milliseconds @default 1_700_000_000_000 */
  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs
  }

  nowMs(): number {
    return this.#startMs + this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    checkDelay(delayMs)
    const due: Due = { atMs: toTick(this.#nowMs + Math.max(0, delayMs)), order: this.#order++, callback, cancelled: false }
    this.#push(due)
    return { cancel: () => this.#cancel(due) }
  }

  /** @returns number of timers that will fire */
  pendingTimers(): number {
    return this.#heap.filter((due) => !due.cancelled).length
  }

  /** Stops the clock until the returned function is called. Later calls of that function are ignored. */
  hold(): () => void {
    this.#holds++
    let released = false
    return () => {
      if (released) return
      released = true
      this.#holds--
    }
  }

  /**
   * Runs until `done` says so, or until `untilMs` (monotonic) is reached, or no timer is left.
   *
   * @returns which of the three ended it
   */
  async run(options: { readonly done?: () => boolean; readonly untilMs?: number } = {}): Promise<'done' | 'time' | 'idle'> {
    if (this.#running) throw new Error('the virtual clock is already running')
    this.#running = true
    try {
      for (;;) {
        await settle()
        if (options.done?.()) return 'done'
        if (this.#holds > 0) continue
        const due = this.#pop()
        if (due === undefined) return 'idle'
        if (options.untilMs !== undefined && due.atMs > options.untilMs) {
          this.#push(due)
          this.#nowMs = Math.max(this.#nowMs, options.untilMs)
          return 'time'
        }
        this.#nowMs = Math.max(this.#nowMs, due.atMs)
        due.callback()
      }
    } finally {
      this.#running = false
    }
  }

  #cancel(due: Due): void {
    if (due.cancelled) return
    due.cancelled = true
    // A timer that has fired is no longer in the heap. Counting it too only makes a sweep come sooner.
    if (++this.#cancelled > SWEEP_FROM && 2 * this.#cancelled > this.#heap.length) this.#sweep()
  }

  /** Removes cancelled timers. Most deadlines are cancelled; without a sweep they would stay in memory until they are due. */
  #sweep(): void {
    const left = this.#heap.filter((due) => !due.cancelled)
    this.#heap = []
    this.#cancelled = 0
    for (const due of left) this.#push(due)
  }

  #push(due: Due): void {
    const heap = this.#heap
    let at = heap.push(due) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(due, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = due
  }

  #pop(): Due | undefined {
    for (;;) {
      const top = this.#heap[0]
      if (top === undefined) return undefined
      this.#removeTop()
      if (!top.cancelled) return top
      this.#cancelled--
    }
  }

  #removeTop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

/** Minimum number of cancelled timers for a sweep. */
const SWEEP_FROM = 256

/** Ticks per millisecond: a power of two, so that differences of moments are exact. */
const TICKS_PER_MS = 1024

/**
 * Rounds a moment up to a whole tick. Without it, a remaining wait could be too short to change the current time, and a loop that waits
 * for the rest of a deadline would never end.
 */
function toTick(ms: number): number {
  return Math.ceil(ms * TICKS_PER_MS) / TICKS_PER_MS
}

function before(a: Due, b: Due): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** Waits for one turn of the event loop, after which every promise that can settle has settled. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
