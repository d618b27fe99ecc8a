export { type Breach, type BreachQuery, countDeletions, findBreaches, type RecordedGuarantee } from './find-breaches.ts'
export { readRecording } from './read-recording.ts'
export type { RecordedPod, RecordedWrite } from './recorded-write.ts'
export { type UnavailableQuery, type UnavailableSeen, unavailableSeen } from './unavailable-seen.ts'
