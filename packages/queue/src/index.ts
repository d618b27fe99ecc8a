export { createInProcessQueue, type InProcessQueueOptions } from './in-process-queue.ts'
export type { JobHandler, JobOutcome, JobQueue, JobQueueStats, Worker, WorkerOptions } from './job-queue.ts'
