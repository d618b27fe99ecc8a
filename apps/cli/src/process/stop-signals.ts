import { constants } from 'node:os'
import { exitCodes } from './exit-codes.ts'

/** Abort signal for a stop request to this process. */
export interface StopSignals {
  readonly signal: AbortSignal
  /** Stops listening. */
  release(): void
}

/** Exit code after a second signal, which ends the process at once. */
const EXIT_AT_ONCE = 130
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Signal that requests a stop. */
export type StopSignal = (typeof names)[number]

/**
 * Calls `leave` on a signal, then ends the process by that signal. The parent sees a stopped process (130 or 143 in a shell), never an
 * exit code of the command, so a script that is stopped too does not continue.
 */
export function endBySignal(leave: (name: StopSignal) => void): Disposable {
  const onSignal = (name: StopSignal): void => {
    stopListening()
    leave(name)
    process.kill(process.pid, name)
    // PID 1 of a container ignores signals without a handler.
    process.exit(128 + constants.signals[name])
  }
  const stopListening = (): void => {
    for (const name of names) process.off(name, onSignal)
  }
  for (const name of names) process.on(name, onSignal)
  return { [Symbol.dispose]: stopListening }
}

/**
 * Turns the first stop signal into an abort; the second ends the process at once. For long-running commands, whose stop is no failure.
 *
 * @param graceMs time after the first signal until the process exits in any case, in milliseconds
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

/** Abort reason after a stop signal; not a failure. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested'
  constructor() {
    super('stop requested by a signal')
  }
}

/** @returns a promise that resolves when the signal aborts */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
