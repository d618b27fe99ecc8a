import { stripVTControlCharacters } from 'node:util'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** Longest part of an error that its line repeats, in characters: enough for a counterexample with its seed. */
const LONGEST_ERROR = 1_000

/**
 * Ends a test run with the plain line `N passed, N failed, N skipped`, for programs that read the output. Lists skipped suites, and each
 * failure in a line that begins with `failed:`.
 */
export default class ClosingLineReporter implements Reporter {
  /** A file that could not be loaded and an error outside every test count as one failure each: `0 failed` means that nothing went wrong. */
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length
    const skippedIn = Map.groupBy(
      tests.filter((test) => test.result().state === 'skipped'),
      (test) => test.module.relativeModuleId,
    )
    const lines = [
      ...[...skippedIn].map(([file, skipped]) => `skipped: ${skipped.length} in ${file}\n`),
      ...tests.flatMap((test) => failureLines(`${test.module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? [])),
      ...modules.flatMap((module) => failureLines(module.relativeModuleId, module.errors())),
      ...failureLines('outside the tests', unhandledErrors),
    ]
    const failed = count('failed') + broken + unhandledErrors.length
    process.stdout.write(`\n${lines.join('')}${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped\n`)
  }
}

function failureLines(where: string, errors: readonly SerializedError[]): readonly string[] {
  return errors.map(
    ({ message }) => `failed: ${where}: ${stripVTControlCharacters(message).replaceAll(/\s+/g, ' ').slice(0, LONGEST_ERROR)}\n`,
  )
}
