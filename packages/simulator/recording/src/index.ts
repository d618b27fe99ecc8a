export {
  type Breach,
  type ClockStep,
  type Disturbance,
  type JudgeQuery,
  type RecordedGuarantee,
  recordedGuarantees,
} from './judges/breach.ts'
export { type BreachQuery, countDeletions, findBreaches } from './find-breaches.ts'
export { judge } from './judge.ts'
export { readRecording, readWithDeliveries } from './record/read-recording.ts'
export { type PaceQuery, type ReleasePace, releasePace } from './release-pace.ts'
export type { RecordedDelivery, Recording } from './record/recorded-delivery.ts'
export type {
  RecordedDaemonSet,
  RecordedNode,
  RecordedPlacement,
  RecordedPod,
  RecordedRequirement,
  RecordedRevision,
  RecordedTerm,
  RecordedWrite,
} from './record/recorded-write.ts'
export { type UnavailableQuery, type UnavailableSeen, unavailableSeen } from './unavailable-seen.ts'
export type { FailedRequest, Stall } from './world/observations.ts'
