export {
  createEventRecorder,
  type CoreEvent,
  type EventPort,
  type EventRecorder,
  type EventRecorderOptions,
  type EventRegarding,
  type EventType,
} from './event-recorder.ts'
export { createJobHandler, type JobHandlerOptions } from './job-handler.ts'
export { createLeaderElector, type LeaderElector, type LeaderElectorOptions, type LeasePort, type LeaseWatch } from './leader-elector.ts'
export type { LeaseSpec } from './lease-record.ts'
export { createPass, type PassObservation, type PassOptions, type PassResult } from './pass.ts'
export { awaitChange, recheckAfter, type ReconcileResult, type Reconcile } from './reconcile.ts'
export { createRunner, type Runner, type RunnerOptions } from './runner.ts'
export { createThrottle, type ThrottleOptions } from './throttle.ts'
export { createWorkQueue, type WorkQueue, type WorkQueueOptions } from './work-queue.ts'
