export { describeJobQueue } from './describe-job-queue.ts'
export type { JobQueueHarness } from './harness.ts'
