export type { Admission, AdmissionOperation, DenyCause, PatchOperation } from './admission.ts'
export { admitBatchRelease, type BatchReleaseRequest } from './admit-batch-release.ts'
export { admitDaemonSet, type DaemonSetRequest, rolloutOf } from './admit-daemon-set.ts'
export { admitRollout, admitRolloutStatus, type RolloutRequest, type RolloutStatusRequest } from './admit-rollout.ts'
