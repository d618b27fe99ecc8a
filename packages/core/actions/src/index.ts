export { answerOf, resultOfAction, type ActionStanding, type WrittenAction } from './answer-of.ts'
export { bindingFault, type BindingFault } from './binding-fault.ts'
export { planUndo } from './plan-template.ts'
export { planAction, targetOf } from './plan-action.ts'
export { refusalOf } from './refuse-action.ts'
export { RECORDED_ACTIONS_MAX_BYTES, recordedActionsOf } from './recorded-actions.ts'
export { observedChangesOf, withObservedChanges } from './observed-changes.ts'
export type {
  SeenMember,
  Action,
  ActionFacts,
  ActionPlan,
  ActionRejection,
  ActionRejectionCode,
  ActionTarget,
  ActionWrite,
} from './action.ts'
export { keyedActionId } from './action-id.ts'
