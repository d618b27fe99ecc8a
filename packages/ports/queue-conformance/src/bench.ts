import type { JobQueueHarness } from './harness.ts'
import type { RunRecorder } from './recorder.ts'

/** What every test works with. */
export interface Bench {
  readonly queue: JobQueueHarness
  readonly work: RunRecorder
}

/** Long against the lateness of any queue, short enough for one that lives in real time. */
export const DELAY_MS = 400

/** Announces keys one after the other. */
export async function enqueueAll(queue: JobQueueHarness, keys: readonly string[]): Promise<void> {
  for (const key of keys) await queue.producer.enqueue(key)
}

/** Lets every run that goes on end well, and waits for what follows. */
export async function endAll({ queue, work }: Bench): Promise<void> {
  for (const run of work.running()) run.end()
  await queue.settle()
}
