/** Waits with a time limit: a benchmark fails with the missing condition instead of waiting forever. */
import { type Clock, sleep, systemClock } from '../../packages/words/clock/src/index.ts'

/** Time limit of a wait. */
export interface Patience {
  readonly withinSeconds: number
  /** @default the system clock */
  readonly clock?: Clock
}

/** Time limit of a wait, and interval between checks. */
export interface LookPatience extends Patience {
  /** Interval between checks, in milliseconds. @default 20 */
  readonly everyMs?: number
}

/**
 * Waits until a condition is true.
 *
 * @param what completes "waited 60 s for"
 * @param look returns true, or the current state for the error
 * @throws if the condition is not true in time, or no check has finished by then; also errors of a check
 */
export async function until(what: string, look: () => Promise<true | string> | true | string, patience: LookPatience): Promise<void> {
  const { everyMs = 20, clock = systemClock } = patience
  let isOver = false
  let seen: true | string = 'nothing was seen'
  const watch = async (): Promise<void> => {
    while (!isOver) {
      seen = await look()
      if (seen === true) return
      await sleep(clock, everyMs)
    }
  }
  try {
    await inTime(watch(), () => `${what}: ${seen}`, patience)
  } finally {
    isOver = true
  }
}

/**
 * Waits for a promise.
 *
 * @param what completes "waited 60 s for"
 * @throws if it has not settled in time; also the error that it rejects with
 */
export function within<T>(what: string, work: Promise<T>, patience: Patience): Promise<T> {
  return inTime(work, () => what, patience)
}

async function inTime<T>(work: Promise<T>, what: () => string, { withinSeconds, clock = systemClock }: Patience): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = clock.setTimer(withinSeconds * 1000, () => late.reject(new Error(`waited ${withinSeconds} s for ${what()}`)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    timer.cancel()
  }
}
