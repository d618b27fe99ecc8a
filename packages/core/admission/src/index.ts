export type { Admission, AdmissionOperation, DenyCause, AdmissionPatchOperation } from './admission.ts'
export { admitBatchRelease, type BatchReleaseRequest } from './admit-batch-release.ts'
export {
  admitBoundDaemonSet,
  admitDaemonSet,
  type BoundDaemonSetRequest,
  type DaemonSetRequest,
  rolloutInCharge,
} from './admit-daemon-set.ts'
export { admitReapply, type ReapplyRequest } from './admit-reapply.ts'
export { admitRollout, admitRolloutStatus, type RolloutRequest, type RolloutStatusRequest } from './admit-rollout.ts'
export { planRefusals, type Refusal, type RefusalView } from './plan-refusals.ts'
export { admissionPolicies } from './policies/admission-policies.ts'
export { definitionsPolicy } from './policies/definitions-policy.ts'
export { EXECUTOR_ACCOUNT, helperPodsPolicy } from './policies/helper-pods-policy.ts'
export type { PolicyObject } from './policies/policy-objects.ts'
export { type AdmissionWebhook, admissionWebhooks, type WebhookName } from './webhooks/admission-webhooks.ts'
export { answerReview, decideReview, readReview, type ReviewFacts, type ReviewRequest } from './webhooks/review.ts'
export { podPolicy } from './policies/pod-policy.ts'
export { POD_POLICY_NAME, podPolicyFault, type ServedPodPolicy } from './policies/pod-policy-fault.ts'
