import { constants } from 'node:os'
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

/** A signal that asks a process to stop. */
export type StopSignal = (typeof names)[number]

/**
 * Lets a signal end this process as if nobody listened, once `leave` has said and restored what there is to: whoever started it sees that
 * it was stopped (to a shell 130 or 143, and a script that was stopped as well goes no further), and nothing that it could have come to.
 */
export function endBySignal(leave: (name: StopSignal) => void): Disposable {
  const onSignal = (name: StopSignal): void => {
    stopListening()
    leave(name)
    process.kill(process.pid, name)
    // The first process of a container is not ended by a signal that it does not take.
    process.exit(128 + constants.signals[name])
  }
  const stopListening = (): void => {
    for (const name of names) process.off(name, onSignal)
  }
  for (const name of names) process.on(name, onSignal)
  return { [Symbol.dispose]: stopListening }
}

/**
 * Turns the first signal that asks this process to stop into an abort; the second ends the process at once. For what runs until it is
 * stopped, so that this is no failure.
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
