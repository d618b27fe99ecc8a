export {
  type Allowance,
  type Direction,
  directionOf,
  nodeScopeText,
  parseNodeScope,
  type RecordedAllowance,
  type ScopeReading,
} from './record/allowance.ts'
export { begunAt, continueSince } from './record/begun-at.ts'
export { type Carried, carriedText, carryOver, inheritPermits, MAX_CARRIED_LENGTH, parseCarried } from './record/carried.ts'
export { hasLeft, isConfirmedBy, type LivePod } from './record/confirm.ts'
export {
  allowanceOf,
  changePermits,
  createRecord,
  eraseTouched,
  isRevoking,
  lastPermits,
  MAX_LIMIT,
  openRecord,
  type PatchOperation,
  type PermitChange,
  permitId,
  permitSlack,
  type RecordHome,
  recordPatch,
  revokeRecord,
  widenRecord,
  withHolds,
} from './record/flight-record.ts'
export { isOfLostPod, lostPermits, type LostRecord } from './record/lost-permits.ts'
export { type Availability, permitState, type PermitState } from './record/permit-state.ts'
export { isSameDecision } from './record/same-decision.ts'
export { recordTouches, type TouchAnswer, type TouchedPermit } from './record/touch.ts'
export { batchScope, type BatchScope, isInScope, isInSteps, isSameScope, scopeTextOf } from './nodes/batch-scope.ts'
export { type CountQuestion, isSameAnswer } from './nodes/count-question.ts'
export {
  budgetReasonOf,
  type Exemption,
  type ExemptionQuestion,
  exemptNodes,
  idleNodes,
  nodesInFlight,
  takesPlace,
} from './nodes/exempt-nodes.ts'
export { fullValues, valueOn } from './nodes/full-values.ts'
export { hasOldPod, isInReach, isOld, oldNodes } from './nodes/old-nodes.ts'
export { countUpdated, updatedNodeNames, updatedPod } from './nodes/updated-nodes.ts'
export { firstCandidates, type OrderReason, orderReasonOf } from './pass/candidate-order.ts'
export { failedDueNodes } from './pass/failed-due-nodes.ts'
export { type NodeOutlook, nodeOutlook } from './pass/node-outlook.ts'
export { tallyNodes } from './pass/node-tally.ts'
export type { Confirmation, PassView, PublishedTarget } from './pass/pass-view.ts'
export {
  CHECK_CURRENT_MS,
  type CheckPurpose,
  checkWords,
  type NodeCheck,
  type NodeQuestion,
  type NodeReading,
  type NodeWords,
  type Preparation,
  type PreparationRules,
  type Preparations,
  preparationId,
  SHORT_WORK_MS,
} from './nodes/node-check.ts'
export { type PassPlan, passRules, type PermittedPod, planPass, type PreparedNode } from './pass/plan-pass.ts'
export type { NodeToConfirm, PodToConfirm, Questions } from './pass/questions.ts'
