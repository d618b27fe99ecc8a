export { type KruiseActivity, kruiseActiveText } from './kruise-activity.ts'
export { batchReach, type BatchReach } from './nodes/batch-reach.ts'

export { type Outbox, withNotifications } from './notify/outbox.ts'
export {
  FIRST_BACK_OFF_MS,
  LONGEST_BACK_OFF_MS,
  type NotifyFailure,
  type NotifyPlan,
  type NotifyView,
  planNotify,
  postponePatch,
  receiversOf,
  removalPatch,
} from './notify/plan-notify.ts'
export { receiverTrouble } from './notify/receiver-trouble.ts'
export { type Wait, waitOf } from './notify/reminders.ts'

export { toPublishedTarget } from './pass/to-published-target.ts'

export { badBeforeText, firstNodes, unwellText } from './release/unwell-text.ts'
export { type BatchProgress, batchProgress, type BatchQuestion, batchSize } from './release/batch-progress.ts'
export type {
  BatchReleasePlan,
  BatchReleaseStatusPatch,
  DaemonSetPatchReason,
  PodLabels,
  RecordWriteReason,
} from './release/batch-release-plan.ts'
export { type DaemonSetChange, daemonSetPatch, strategyOf, takeOverStrategy } from './release/daemon-set-patch.ts'
export {
  type Discovery,
  discoverRevisions,
  type DiscoveryView,
  hashOf,
  nodesByHash,
  templateOf,
  templateText,
} from './release/discover-revisions.ts'
export { plainTemplate } from './release/stable-template.ts'
export { answeredIds, isAnswered } from './rollout/answer-action.ts'
export { commandText, retryHeldText } from './rollout/command-text.ts'
export { controlInfo, planBatchRelease } from './release/plan-batch-release.ts'
export { controlledBy, type ReleaseView, type StrategyScope } from './release/release-view.ts'
export { releaseStatusPatch } from './status-patch.ts'
export { judgementOf, watchedNodesOf } from './release/judgement.ts'
export { resolveLimit, type Wanted, wantedAllowance } from './release/wanted-allowance.ts'
export { newAnswer, rolloutEvents } from './rollout/rollout-events.ts'
export { FINAL_SETTLE_SECONDS, nodeRulesFor, type PolicyReading, policyProblems } from './rollout/release-policy.ts'
export { isFinalising, releaseSpecFor, stepsOf } from './rollout/release-spec.ts'
export { isForeign } from './rollout/batch-release-summary.ts'
export { releaseTitle } from './rollout/release-title.ts'
export { heldTemplate, templateDigest } from './rollout/held-revisions.ts'
export { isStopAsked } from './rollout/on-delete.ts'
export { imagesText } from './rollout/revision-text.ts'
export { hasReadableFields, planPolicyStatus, type PolicyView } from './policy/plan-policy-status.ts'
export { QUEUE_UNAVAILABLE } from './release/waiting-for.ts'
export { isReleaseRevisionMissing } from './release/missing-revision.ts'
export { isRevisionMissing } from './rollout/missing-revision.ts'
export { planRollout } from './rollout/plan-rollout.ts'
export type { PlannedEvent, RolloutPlan } from './rollout/rollout-plan.ts'
export type { RolloutView, WorkloadReading } from './rollout/rollout-view.ts'

export { type KnownRollout, type Refusals, refusalsFor } from './rollout/why-refused.ts'
