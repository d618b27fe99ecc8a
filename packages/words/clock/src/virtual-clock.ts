import type { Clock, Timer } from './clock.ts'

interface Due {
  readonly atMs: number
  readonly order: number
  readonly callback: () => void
  cancelled: boolean
}

/**
 * A clock for simulation: time stands still while there is work and jumps to the next timer when there is none.
 *
 * "Work" is what `hold` announces (a request in flight, an event undelivered over a real connection) and every promise
 * that can settle by itself: the clock lets one turn of the event loop pass before each jump.
 */
export class VirtualClock implements Clock {
  #nowMs = 0
  readonly #startMs: number
  #order = 0
  #holds = 0
  #running = false
  #heap: Due[] = []
  /** Cancelled ones among them. */
  #cancelled = 0

  /** @param startMs wall time at the start, epoch milliseconds @default 1_700_000_000_000 */
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
    const due: Due = { atMs: toTick(this.#nowMs + Math.max(0, delayMs)), order: this.#order++, callback, cancelled: false }
    this.#push(due)
    return { cancel: () => this.#cancel(due) }
  }

  /** Keeps the clock from moving until the returned function is called (once; later calls are ignored). */
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
    if (this.#running) throw new Error('the virtual clock runs already')
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
    // One that has fired is no longer in the heap; counting it too makes a sweep come sooner, and nothing else.
    if (++this.#cancelled > SWEEP_FROM && 2 * this.#cancelled > this.#heap.length) this.#sweep()
  }

  /** Deadlines are set all the time and hardly ever come: without this they would be kept until their moment. */
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

/** Fewer cancelled timers than this are not worth a sweep. */
const SWEEP_FROM = 256

/** Ticks in a millisecond: a power of two, so that differences of moments are exact. */
const TICKS_PER_MS = 1024

/**
 * Rounds a moment up to a whole tick. What is left of a wait is then never so short that adding it to now gives now
 * again: a loop that waits for the rest of a deadline would not end.
 */
function toTick(ms: number): number {
  return Math.ceil(ms * TICKS_PER_MS) / TICKS_PER_MS
}

function before(a: Due, b: Due): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** One turn of the event loop: every promise that can settle has settled. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
