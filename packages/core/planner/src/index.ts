export { type KruiseActivity, kruiseActiveText } from './release/view/kruise-activity.ts'
export { batchReach, type BatchReach } from './release/progress/batch-reach.ts'

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
export { isUnpaused, needsPerson } from './notify/person-waits.ts'
export { type Wait, waitOf } from './notify/reminders.ts'

export { toPublishedTarget } from './release/view/to-published-target.ts'

export { type BadBefore, badBeforeNodes, firstNodes } from './release/progress/unwell-text.ts'
export { namesLeft, nodesNotDone } from './release/progress/the-end.ts'
export { leftNodes, leftText, outageStart } from './release/progress/left-nodes.ts'
export { budgetUsers, budgetUsersText } from './release/progress/budget-users.ts'
export { type BatchProgress, batchProgress, type BatchQuestion, batchSize } from './release/progress/batch-progress.ts'
export { moreNodesCounted } from './release/progress/unseen-nodes.ts'
export { deletablePod } from './release/undeleted.ts'
export type {
  BatchReleasePlan,
  BatchReleaseStatusPatch,
  DaemonSetPatchReason,
  PodLabels,
  RejectablePatch,
  RecordWriteReason,
} from './release/view/batch-release-plan.ts'
export { type DaemonSetChange, daemonSetPatch, strategyOf, takeOverStrategy } from './release/view/daemon-set-patch.ts'
export {
  type Discovery,
  discoverRevisions,
  type DiscoveryView,
  hashOf,
  nodesByHash,
  templateOf,
  templateText,
} from './release/view/discover-revisions.ts'
export { plainTemplate } from './release/view/stable-template.ts'
export { unpinnedText, wasPinned } from './release/view/unpinned-template.ts'
export { answeredIds, isAnswered } from './rollout/actions/answer-action.ts'
export { configReturnText } from './rollout/view/config-between.ts'
export { failedStable, failedStableText } from './rollout/view/failed-stable.ts'
export { commandText, releaseAgainText, retryHeldText } from './rollout/view/command-text.ts'
export { controlInfo, planBatchRelease, statusWithRecord } from './release/plan-batch-release.ts'
export { controlledBy, isInCharge, type LiveNodeList, type ReleaseView, type StrategyScope } from './release/view/release-view.ts'
export { isBeingPrepared } from './release/blocked-wait.ts'
export { PASS_FAILED_TEXT, recordAfterFailedPasses, specAfterFailedPasses } from './release/failed-pass.ts'
export { countedWait, isFailingBack } from './release/counted-wait.ts'
export { laterStepInReach, leadsPast } from './release/progress/later-step.ts'
export { GROUP_BUSY, mayLeaveGroup, nextInLine } from './release/progress/group-rules.ts'
export {
  type GroupHolder,
  groupHolderOf,
  groupLeaseName,
  type GroupMember,
  groupNameOf,
  type GroupRefusal,
  type GroupView,
  holderText,
  isFree,
  isGroupLeaseName,
  isHeldBy,
  isLeaving,
  LEAVING_ANNOTATION,
} from './release/view/group-view.ts'
export { releaseStatusPatch, statusChanges } from './release/view/status-patch.ts'
export { judgementOf, watchedNodesOf } from './release/progress/judgement.ts'
export { resolveLimit, type Wanted, wantedAllowance } from './release/progress/wanted-allowance.ts'
export { newAnswer, rolloutEvents } from './rollout/actions/rollout-events.ts'
export { FINAL_SETTLE_SECONDS, nodeRulesFor, type PolicyReading } from './rollout/view/release-policy.ts'
export { foundPolicy } from './policy/policy-problems.ts'
export { partsOfReleaseId } from './rollout/release/release-id.ts'
export { isFinalising, releaseSpecFor, stepsOf } from './rollout/release/release-spec.ts'
export { isForeign } from './rollout/release/batch-release-summary.ts'
export { stepSelectorText } from './rollout/release/step-selector-text.ts'
export { isUnreleased, releaseTitle } from './rollout/release/release-title.ts'
export { heldTemplate, templateDigest } from './rollout/held/held-revisions.ts'
export { endsRelease, isDeletedOrDisabled, isStopAsked, onDeletePolicy } from './rollout/held/on-delete.ts'
export { imagesText, revisionText } from './rollout/held/revision-text.ts'
export { hasReadableFields, planPolicyStatus, type PolicyView } from './policy/plan-policy-status.ts'
export { QUEUE_UNAVAILABLE } from './release/waiting-for.ts'
export { isReleaseRevisionMissing } from './release/missing-revision.ts'
export { isRevisionMissing } from './rollout/missing-revision.ts'
export { isBehindRelease, planRollout } from './rollout/plan-rollout.ts'
export { liveConfigHold } from './rollout/live-config-hold.ts'
export { stopsRelease } from './rollout/stops-release.ts'
export { forgedCopiesHold } from './rollout/forged-copies-hold.ts'
export { isOnTheWayBack, isRollingBack } from './rollout/held/way-back.ts'
export { type PinTiming, takeOverForPins } from './rollout/take-over-for-pins.ts'
export { arePinsUndone } from './rollout/undone-pins.ts'
export { changeOf, type RejectedChange } from './rollout/view/rejected-change.ts'
export type { PlannedEvent, RolloutPlan } from './rollout/view/rollout-plan.ts'
export type { RolloutView, WorkloadReading } from './rollout/view/rollout-view.ts'
export { selectsNodes } from './rollout/view/step-nodes.ts'

export { type KnownRollout, type Refusals, refusalsFor } from './rollout/why-refused.ts'
