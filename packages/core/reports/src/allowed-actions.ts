import { type RolloutActionType, type RolloutAction, type ActionBody, type ActionType, actionTypes } from '@tranche/api-schema'
import { type Refusals, refusalsFor } from '@tranche/planner'
import { planUndo, refusalOf } from '@tranche/actions'
import { otherWorkload } from './other-workload.ts'
import type { ReleaseFacts } from './release-facts.ts'

/** Actions that the controller would probably accept now, in the order of {@link actionTypes}; only its answer is final. */
export function allowedActions(facts: ReleaseFacts): readonly ActionType[] {
  if (otherWorkload(facts.rollout) !== null) return []
  const refusals = refusalsFor(facts)
  return actionTypes.filter((type) => isAllowed(facts, type, refusals))
}

function isAllowed(facts: ReleaseFacts, type: ActionType, refusals: Refusals): boolean {
  const { rollout, daemonSet } = facts
  switch (type) {
    case 'pause':
      return rollout.spec.strategy.paused !== true && rollout.metadata.deletionTimestamp === undefined
    case 'resume':
      return rollout.metadata.deletionTimestamp === undefined && isWritten(facts, type, {})
    case 'undo':
      return daemonSet !== undefined && planUndo(daemonSet, facts, { body: {} }).kind === 'change'
    case 'restart':
      return daemonSet !== undefined
    default:
      return bodiesFor(facts, type).some((body) => isWritten(facts, type, body) && isAccepted(type, body, refusals))
  }
}

/** Request bodies that aim the action at the present release. */
function bodiesFor({ rollout }: ReleaseFacts, type: RolloutActionType): readonly ActionBody[] {
  const expectedStep = rollout.status?.canaryStatus?.currentStepIndex ?? 1
  if (type === 'approve') return [{ expectedStep }]
  if (type === 'jump') return [{ expectedStep, step: 1 }]
  return type === 'promote' ? [{}, { full: true }] : [{}]
}

/** Whether REST and the command line would write the action. */
function isWritten({ rollout }: ReleaseFacts, type: ActionType, body: ActionBody): boolean {
  return refusalOf(rollout, { id: '', type, body, by: '', via: 'rest' }) === null
}

/** Whether the controller would accept the action. */
function isAccepted(type: RolloutActionType, body: ActionBody, refusals: Refusals): boolean {
  const { expectedStep, step, full } = body
  const action: RolloutAction = {
    id: '',
    type,
    ...(expectedStep !== undefined && { expectedStep }),
    ...(step !== undefined && { step }),
    ...(full !== undefined && { full }),
  }
  return refusals(action) === null
}
