/** What a bench waits for comes in time, or the bench ends and says what is missing: it never waits for ever. */
import { type Clock, sleep, systemClock } from '../../packages/words/clock/src/index.ts'

/** How long is waited. */
export interface Patience {
  readonly withinSeconds: number
  /** @default the clock on the wall */
  readonly clock?: Clock
}

/** How long is waited, and how often it is looked. */
export interface LookPatience extends Patience {
  /** Between two looks, in milliseconds. @default 20 */
  readonly everyMs?: number
}

/**
 * Waits until something is so.
 *
 * @param what completes "waited 60 s for"
 * @param look says true, or what is seen instead, for the error
 * @throws where it is not so in time, or nothing has been seen by then; what a look throws
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
 * @throws where it has not settled in time; what it rejects with
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
