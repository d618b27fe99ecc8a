export {
  type Allowance,
  type Direction,
  directionOf,
  nodeScopeText,
  parseNodeScope,
  type RecordedAllowance,
  type ScopeReading,
} from './allowance.ts'
export { type Carried, carriedText, carryOver, inheritPermits, MAX_CARRIED_LENGTH, parseCarried } from './carried.ts'
export { hasLeft, isConfirmedBy, type LivePod } from './confirm.ts'
export {
  allowanceOf,
  changePermits,
  createRecord,
  eraseTouched,
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
} from './flight-record.ts'
export { type LostRecord, lostPermits } from './lost-permits.ts'
export { type Availability, permitState, type PermitState } from './permit-state.ts'
export { isSameDecision } from './same-decision.ts'
export { recordTouches, type TouchAnswer, type TouchedPermit } from './touch.ts'
