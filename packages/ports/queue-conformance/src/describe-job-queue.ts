import { afterEach, beforeEach, describe } from 'vitest'
import type { Bench } from './bench.ts'
import { describeClosing } from './describe-closing.ts'
import { describeDelays } from './describe-delays.ts'
import { describeFailures } from './describe-failures.ts'
import { describeOverlap } from './describe-overlap.ts'
import { describeSignals } from './describe-signals.ts'
import type { JobQueueHarness } from './harness.ts'
import { describeTraces } from './describe-traces.ts'
import { recordRuns } from './recorder.ts'

/**
 * Tests one implementation against the specification of `JobQueue`. Registers a `describe` block with vitest.
 *
 * @param name name of the implementation
 * @param createHarness creates a new, empty queue for each test
 */
export function describeJobQueue(name: string, createHarness: () => Promise<JobQueueHarness>): void {
  describe(`${name} is a job queue`, () => {
    let bench: Bench
    beforeEach(async () => {
      bench = { queue: await createHarness(), work: recordRuns() }
    })
    afterEach(async () => {
      bench.work.letAllEnd()
      await bench.queue.dispose()
    })
    const current = (): Bench => bench
    describeSignals(current)
    describeOverlap(current)
    describeDelays(current)
    describeFailures(current)
    describeClosing(current)
    describeTraces(current)
  })
}
