import type { Clock, Timer } from '@tranche/clock'

/** Delayed tasks by name; a planned task is not planned twice. */
export interface PlannedWork {
  /** Runs the task once after this delay in milliseconds, and again for as long as it fails. */
  plan(what: string, afterMs: number, act: () => Promise<void>): void
  /** Cancels the task of this name. */
  cancel(what: string): void
  /** Cancels all tasks. */
  stop(): void
}

interface PlannedWorkOptions {
  readonly clock: Clock
  /** Delay before a retry. */
  readonly retryMs: number
  readonly onError: (error: unknown, what: string) => void
}

/** @returns empty plan; it runs no timer while it is empty */
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
