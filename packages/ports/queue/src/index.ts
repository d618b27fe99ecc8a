export { type Enqueuer, type EnqueuerOptions, createEnqueuer } from './enqueuer.ts'
export { createInProcessQueue, type InProcessQueueOptions } from './in-process-queue.ts'
export { createWorkerPool, type PoolWorker, type WorkerPool } from './worker-pool.ts'
export type { JobHandler, JobNote, JobOutcome, JobQueue, JobQueueStats, Worker, WorkerOptions } from './job-queue.ts'
