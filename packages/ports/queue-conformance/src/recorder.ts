import type { JobHandler, JobNote, JobOutcome } from '@tranche/queue'

/** Run of a handler, which continues until the test ends it. */
export interface Run {
  readonly key: string
  readonly signal: AbortSignal
  readonly note: JobNote | undefined
  isRunning: boolean
  end(outcome?: JobOutcome): void
  fail(error: Error): void
}

/** Handler controlled by the test, which records every run. */
export interface RunRecorder {
  readonly handler: JobHandler
  /** All runs, in order of their start. */
  readonly runs: readonly Run[]
  /** Keys of all runs, in order of their start. */
  keys(): readonly string[]
  /** Active runs. */
  running(): readonly Run[]
  /** Ends every active run, and each later one as soon as it starts, so that a queue can close. */
  letAllEnd(): void
}

/** @returns a recorder whose runs wait for `end` or `fail` */
export function recordRuns(): RunRecorder {
  const runs: Run[] = []
  let areAllToEnd = false
  return {
    runs,
    keys: () => runs.map((run) => run.key),
    running: () => runs.filter((run) => run.isRunning),
    letAllEnd() {
      areAllToEnd = true
      for (const run of runs) run.end()
    },
    handler: (key, signal, note) =>
      new Promise((resolve, reject) => {
        const run: Run = {
          key,
          signal,
          note,
          isRunning: true,
          end(outcome = { kind: 'awaitChange' }) {
            run.isRunning = false
            resolve(outcome)
          },
          fail(error) {
            run.isRunning = false
            reject(error)
          },
        }
        runs.push(run)
        if (areAllToEnd) run.end()
      }),
  }
}
