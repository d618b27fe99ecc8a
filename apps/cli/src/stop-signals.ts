import { exitCodes } from './exit-codes.ts'

/** Whether somebody has asked this process to stop. */
export interface StopSignals {
  readonly signal: AbortSignal
  /** Stops listening. */
  release(): void
}

/** A person who asks twice does not want to wait. */
const EXIT_AT_ONCE = 130
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Turns the first signal that asks this process to stop into an abort; the second ends the process at once.
 *
 * @param graceMs after so long the process ends by itself, whatever still hangs (milliseconds)
 */
export function listenForStop(graceMs: number): StopSignals {
  const controller = new AbortController()
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_AT_ONCE)
    setTimeout(() => process.exit(exitCodes.done), graceMs).unref()
    controller.abort(new StopRequested())
  }
  for (const name of names) process.on(name, onSignal)
  return {
    signal: controller.signal,
    release: () => {
      for (const name of names) process.off(name, onSignal)
    },
  }
}

/** The reason of an abort by a signal: no failure. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested'
  constructor() {
    super('somebody asked to stop')
  }
}

/** @returns a promise that resolves when the signal aborts */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
