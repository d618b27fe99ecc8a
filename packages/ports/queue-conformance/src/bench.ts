import type { JobQueueHarness } from './harness.ts'
import type { RunRecorder } from './recorder.ts'

/** Queue and handler of one test. */
export interface Bench {
  readonly queue: JobQueueHarness
  readonly work: RunRecorder
}

/** Delay in milliseconds: long compared with the lateness of any queue, and short enough for real time. */
export const DELAY_MS = 400

/** Enqueues keys one after the other. */
export async function enqueueAll(queue: JobQueueHarness, keys: readonly string[]): Promise<void> {
  for (const key of keys) await queue.producer.enqueue(key)
}

/** Ends every active run successfully, and waits for what follows. */
export async function endAll({ queue, work }: Bench): Promise<void> {
  for (const run of work.running()) run.end()
  await queue.settle()
}
