import type { Clock, Timer } from '@tranche/clock'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'

/** Process of one program, with the faults that an operating system can cause. */
export interface Process {
  /** Time as the process sees it. It continues while the process is frozen, but no timer fires. */
  readonly clock: Clock
  readonly exchange: Exchange
  /** From now on nothing leaves or reaches the process, and none of its timers fires. Requests in transit continue. */
  freeze(): void
  /**
   * Freezes at the next request that `matches`, which is decided and not yet sent. It is sent when the process thaws, even after its
   * deadline.
   */
  freezeBefore(matches: (request: WireRequest) => boolean): void
  /** Runs everything that became due while frozen. */
  thaw(): void
  isFrozen(): boolean
  /** Moves its wall clock by `ms`, in either direction. Monotonic time and timers are not affected. */
  stepClock(ms: number): void
  /** Resolves at once, or when the process thaws. */
  whenThawed(): Promise<void>
  /** Number of requests held by {@link Process.freezeBefore}. */
  held(): number
  /** Cuts all connections to the API server and prevents new ones; the process itself continues. */
  cutOff(): void
  reconnect(): void
}

/**
 * Creates a process on `clock` that reaches the API server by `exchange`.
 *
 * @param onUncaught called with an error that a timer throws, which ends a real process @default the error reaches the clock
 */
export function createProcess(clock: Clock, exchange: Exchange, onUncaught?: (error: unknown) => void): Process {
  let ice = openGate()
  let trap: ((request: WireRequest) => boolean) | null = null
  let held = 0
  let steppedMs = 0
  let cable = new AbortController()
  const deferred: (() => void)[] = []

  async function send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    if (trap?.(request) === true) {
      trap = null
      freeze()
    }
    const trapped = ice.isShut()
    if (trapped) held++
    await ice.open
    if (cable.signal.aborted) throw cable.signal.reason
    // A process that froze between decision and system call sends its request, even past the deadline.
    const response = await exchange(request, trapped ? cable.signal : AbortSignal.any([signal, cable.signal]))
    await ice.open
    return { ...response, body: thawed(response.body) }
  }

  async function* thawed(body: AsyncIterable<string>): AsyncIterable<string> {
    for await (const chunk of body) {
      await ice.open
      yield chunk
    }
  }

  function run(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      if (onUncaught === undefined) throw error
      onUncaught(error)
    }
  }

  function freeze(): void {
    if (!ice.isShut()) ice = shutGate()
  }

  return {
    clock: {
      nowMs: () => clock.nowMs() + steppedMs,
      monotonicMs: () => clock.monotonicMs(),
      setTimer(delayMs, callback): Timer {
        let cancelled = false
        const timer = clock.setTimer(delayMs, () => {
          const fire = (): void => void (cancelled || run(callback))
          if (ice.isShut()) deferred.push(fire)
          else fire()
        })
        return {
          cancel() {
            cancelled = true
            timer.cancel()
          },
        }
      },
    },
    exchange: send,
    freeze,
    freezeBefore: (matches) => void (trap = matches),
    thaw() {
      ice.unlock()
      for (const fire of deferred.splice(0)) fire()
    },
    isFrozen: () => ice.isShut(),
    stepClock: (ms) => void (steppedMs += ms),
    whenThawed: () => ice.open,
    held: () => held,
    cutOff: () => cable.abort(new Error('the connection was cut')),
    reconnect: () => void (cable = new AbortController()),
  }
}

interface Gate {
  readonly open: Promise<void>
  isShut(): boolean
  unlock(): void
}

function openGate(): Gate {
  return { open: Promise.resolve(), isShut: () => false, unlock: () => {} }
}

function shutGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  let shut = true
  return {
    open: promise,
    isShut: () => shut,
    unlock() {
      shut = false
      resolve()
    },
  }
}
