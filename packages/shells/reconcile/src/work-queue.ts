import type { Clock, Timer } from '@tranche/clock'
import { createNamespaceLines, type NamespaceLines } from '@tranche/queue'
import type { TraceContext } from '@tranche/telemetry'

/**
 * Keys that a runner has to process, inside one process. A key names an object, never a change, so signals collapse.
 *
 * Guarantees:
 *
 * - W1 A key is handed to one worker at a time: no other worker gets it between `get` and `done`.
 * - W2 No `add` is lost: after it, the key is handed out at least once more, counted from the moment of the add.
 * - W3 All adds while a key waits, or while it is processed, cause one more hand-out.
 * - W4 Namespaces take turns: after a key of one namespace, each other namespace with a ready key comes before its next one. Keys of one
 *   namespace come out in the order in which they became ready.
 * - W5 At most `atOnceOfNamespace` keys of one namespace are taken at a time.
 *
 * After `shutDown` adds are ignored and `get` returns null.
 *
 * @see k8s.io/client-go/util/workqueue, whose dirty and processing sets this follows
 */
export interface WorkQueue {
  /** Makes `key` ready now. A delayed add of the key stays as it is. */
  add(key: string): void
  /** Makes `key` ready in `delayMs` (≤ 0: now). Of several delayed adds of one key the earliest counts; the others are dropped. */
  addAfter(key: string, delayMs: number): void
  /**
   * Adds `key` after its own back-off, which doubles with each call until {@link WorkQueue.forget}.
   *
   * @returns the back-off in milliseconds
   */
  addRateLimited(key: string): number
  /** Resets the back-off of `key`, as after a successful pass. */
  forget(key: string): void
  /** @returns the number of rate-limited adds of `key` since the last `forget` */
  failures(key: string): number
  /** Records the trace that the next hand-out of `key` continues; the last call wins. Undefined records nothing. */
  follow(key: string, trace: TraceContext | undefined): void
  /** @returns the trace recorded for `key` since its last hand-out, and forgets it */
  takeTrace(key: string): TraceContext | undefined
  /** Waits for a ready key and takes it; null once the queue is shut down. Each key taken needs one {@link WorkQueue.done}. */
  get(): Promise<string | null>
  /** Returns a taken key; it becomes ready at once if it was added meanwhile. */
  done(key: string): void
  /** Ends the queue: drops waiting keys, cancels delayed adds, and lets every pending `get` return null. Taken keys are unaffected. */
  shutDown(): void
  /** Number of keys ready to be taken. */
  readonly ready: number
  /** Number of keys whose delayed add is not due yet. */
  readonly delayed: number
}

/** Settings of {@link createWorkQueue}. */
export interface WorkQueueOptions {
  readonly clock: Clock
  /** First back-off of a key, in milliseconds. @default 5 */
  readonly backOffBaseMs?: number
  /** Maximum back-off, in milliseconds. @default 30_000 */
  readonly backOffMaxMs?: number
  /** Maximum number of keys of one namespace that are taken at a time, ≥ 1. @default no limit */
  readonly atOnceOfNamespace?: number
  /** Called for every taken key with the time for which it was ready, in milliseconds (≥ 0), for metrics. Must not throw. */
  readonly onTaken?: (waitedMs: number) => void
}

/** @returns an empty {@link WorkQueue} */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const state: State = {
    clock: options.clock,
    backOffBaseMs: options.backOffBaseMs ?? 5,
    backOffMaxMs: options.backOffMaxMs ?? 30_000,
    onTaken: options.onTaken ?? (() => {}),
    ready: createNamespaceLines(options.atOnceOfNamespace),
    processing: new Set(),
    dirty: new Set(),
    delayed: new Map(),
    failures: new Map(),
    traces: new Map(),
    takers: [],
    isShutDown: false,
  }
  return {
    add: (key) => add(state, key),
    addAfter: (key, delayMs) => addAfter(state, key, delayMs),
    addRateLimited: (key) => addRateLimited(state, key),
    forget: (key) => void state.failures.delete(key),
    failures: (key) => state.failures.get(key) ?? 0,
    follow(key, trace) {
      if (trace !== undefined && !state.isShutDown) state.traces.set(key, trace)
    },
    takeTrace(key) {
      const trace = state.traces.get(key)
      state.traces.delete(key)
      return trace
    },
    get: () => get(state),
    done: (key) => done(state, key),
    shutDown: () => shutDown(state),
    get ready() {
      return state.ready.size
    },
    get delayed() {
      return state.delayed.size
    },
  }
}

/** A key is never in `ready` and `processing` at once; a key added while it is processed is in `processing` and `dirty`. */
interface State {
  readonly clock: Clock
  readonly backOffBaseMs: number
  readonly backOffMaxMs: number
  readonly onTaken: (waitedMs: number) => void
  /** Keys that are ready, with the monotonic time since which they are, in milliseconds. */
  readonly ready: NamespaceLines<number>
  readonly processing: Set<string>
  readonly dirty: Set<string>
  readonly delayed: Map<string, { readonly dueMs: number; readonly timer: Timer }>
  readonly failures: Map<string, number>
  readonly traces: Map<string, TraceContext>
  /** Pending `get` calls, first come first served. Empty while a ready key may be taken. */
  readonly takers: ((key: string | null) => void)[]
  isShutDown: boolean
}

function add(state: State, key: string): void {
  if (state.isShutDown) return
  if (state.processing.has(key)) {
    state.dirty.add(key)
    return
  }
  state.ready.add(key, state.clock.monotonicMs())
  serve(state)
}

/** Hands out ready keys to pending `get` calls. */
function serve(state: State): void {
  while (state.takers.length > 0) {
    const key = take(state)
    if (key === null) return
    state.takers.shift()?.(key)
  }
}

/** @returns the next key, which is then taken; null if none may be taken now */
function take(state: State): string | null {
  const next = state.ready.takeNext()
  if (next === null) return null
  state.processing.add(next.key)
  state.onTaken(state.clock.monotonicMs() - next.value)
  return next.key
}

function addAfter(state: State, key: string, delayMs: number): void {
  if (state.isShutDown) return
  if (delayMs <= 0) return add(state, key)
  const dueMs = state.clock.monotonicMs() + delayMs
  const earlier = state.delayed.get(key)
  if (earlier !== undefined && earlier.dueMs <= dueMs) return
  earlier?.timer.cancel()
  const timer = state.clock.setTimer(delayMs, () => {
    state.delayed.delete(key)
    add(state, key)
  })
  state.delayed.set(key, { dueMs, timer })
}

function addRateLimited(state: State, key: string): number {
  const failures = state.failures.get(key) ?? 0
  state.failures.set(key, failures + 1)
  const delayMs = Math.min(state.backOffMaxMs, state.backOffBaseMs * 2 ** failures)
  addAfter(state, key, delayMs)
  return delayMs
}

function get(state: State): Promise<string | null> {
  if (state.isShutDown) return Promise.resolve(null)
  const key = take(state)
  return key === null ? new Promise((resolve) => state.takers.push(resolve)) : Promise.resolve(key)
}

function done(state: State, key: string): void {
  if (state.processing.delete(key)) state.ready.leave(key)
  if (state.dirty.delete(key)) add(state, key)
  else serve(state)
}

function shutDown(state: State): void {
  state.isShutDown = true
  for (const { timer } of state.delayed.values()) timer.cancel()
  state.delayed.clear()
  state.ready.clear()
  state.traces.clear()
  for (const taker of state.takers.splice(0)) taker(null)
}
