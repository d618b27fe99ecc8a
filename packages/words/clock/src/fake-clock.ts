import { checkDelay, type Clock, type Timer } from './clock.ts'

interface Due {
  readonly atMs: number
  readonly order: number
  readonly callback: () => void
}

/** A clock that moves only on request. Wall time and monotonic time move together; `stepWall` moves only wall time. */
export class FakeClock implements Clock {
  #nowMs = 0
  #wallOffsetMs: number
  #order = 0
  readonly #due = new Set<Due>()

  /** @param startMs wall time at the start, in epoch milliseconds @default 1_700_000_000_000 */
  constructor(startMs = 1_700_000_000_000) {
    this.#wallOffsetMs = startMs
  }

  nowMs(): number {
    return this.#wallOffsetMs + this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    checkDelay(delayMs)
    const due: Due = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, callback }
    this.#due.add(due)
    return { cancel: () => void this.#due.delete(due) }
  }

  /** Advances time by `ms`. Each timer fires at its due time; timers with the same due time fire in order of creation. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    for (let due = this.#next(); due !== undefined && due.atMs <= endMs; due = this.#next()) {
      this.#due.delete(due)
      this.#nowMs = Math.max(this.#nowMs, due.atMs)
      due.callback()
    }
    this.#nowMs = endMs
  }

  /** Like `advance`, but lets promises settle after each timer, so that timers set by these promises fire in the same call. */
  async advanceAsync(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await settle()
    for (let due = this.#next(); due !== undefined && due.atMs <= endMs; due = this.#next()) {
      this.#due.delete(due)
      this.#nowMs = Math.max(this.#nowMs, due.atMs)
      due.callback()
      await settle()
    }
    this.#nowMs = endMs
    await settle()
  }

  /** Steps wall time by `ms`, in either direction. Monotonic time stays the same, and no timer fires. */
  stepWall(ms: number): void {
    this.#wallOffsetMs += ms
  }

  /** Number of pending timers. */
  get pendingTimers(): number {
    return this.#due.size
  }

  #next(): Due | undefined {
    let next: Due | undefined
    for (const due of this.#due)
      if (next === undefined || due.atMs < next.atMs || (due.atMs === next.atMs && due.order < next.order)) next = due
    return next
  }
}

/** Waits for one turn of the event loop, after which every promise that can settle has settled. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
