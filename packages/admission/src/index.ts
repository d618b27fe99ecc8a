export type { Admission, AdmissionOperation, DenyCause, PatchOperation } from './admission.ts'
export { admitDaemonSet, type DaemonSetRequest, rolloutOf } from './admit-daemon-set.ts'
export { admitRollout, type RolloutRequest } from './admit-rollout.ts'
