import type { Clock, Timer } from '@tranche/clock'

/** Things to be done later, each under a name; a thing that is planned already is not planned again. */
export interface PlannedWork {
  /** Does it once after so many milliseconds, and again later for as long as it fails. */
  plan(what: string, afterMs: number, act: () => Promise<void>): void
  /** Forgets what was planned under this name. */
  cancel(what: string): void
  /** Forgets everything. */
  stop(): void
}

interface PlannedWorkOptions {
  readonly clock: Clock
  /** How long after a failure it is tried again. */
  readonly retryMs: number
  readonly onError: (error: unknown, what: string) => void
}

/** @returns nothing planned; as long as that is so, no timer runs */
export function createPlannedWork({ clock, retryMs, onError }: PlannedWorkOptions): PlannedWork {
  const timers = new Map<string, Timer>()

  function plan(what: string, afterMs: number, act: () => Promise<void>): void {
    if (timers.has(what)) return
    timers.set(
      what,
      clock.setTimer(afterMs, () => {
        timers.delete(what)
        void act().catch((error: unknown) => {
          onError(error, what)
          plan(what, retryMs, act)
        })
      }),
    )
  }

  return {
    plan,
    cancel(what) {
      timers.get(what)?.cancel()
      timers.delete(what)
    },
    stop() {
      for (const timer of timers.values()) timer.cancel()
    },
  }
}
