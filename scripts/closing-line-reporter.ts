import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** Ends a test run with the plain line `N passed, N failed`, for programs that read the output. */
export default class ClosingLineReporter implements Reporter {
  /** A file that could not be loaded and an error outside every test count as one failure each: `0 failed` means that nothing went wrong. */
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length
    const passed = states.filter((state) => state === 'passed').length
    const failed = states.filter((state) => state === 'failed').length + broken + unhandledErrors.length
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  }
}
