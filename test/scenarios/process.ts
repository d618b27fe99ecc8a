import type { Clock, Timer } from '@tranche/clock'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'

/** One program's process: what an operating system can do to it. */
export interface Process {
  /** Time as the process sees it: it goes on while the process is frozen, but no timer fires. */
  readonly clock: Clock
  readonly exchange: Exchange
  /** From now on nothing leaves the process, nothing reaches it, and none of its timers fires; what was sent is on its way. */
  freeze(): void
  /** Freezes at the next request that `matches`, with that request decided and not yet sent; it is sent when the process thaws, whatever has become of its deadline. */
  freezeBefore(matches: (request: WireRequest) => boolean): void
  /** What was due meanwhile happens now. */
  thaw(): void
  isFrozen(): boolean
  /** Moves its wall clock by `ms`, in either direction; monotonic time and timers go on as before. */
  stepClock(ms: number): void
  /** Resolves at once, or when the process thaws. */
  whenThawed(): Promise<void>
  /** Requests that were held by {@link Process.freezeBefore}. */
  held(): number
  /** No connection to the API server, old or new; the process itself goes on. */
  cutOff(): void
  reconnect(): void
}

/** A process on `clock` that reaches the API server by `exchange`. */
export function createProcess(clock: Clock, exchange: Exchange): Process {
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
    // A process that froze between decision and system call sends what it had decided, even past its deadline.
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
          const fire = (): void => void (cancelled || callback())
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
