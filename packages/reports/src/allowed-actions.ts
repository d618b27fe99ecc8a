import { type ActionType, type RolloutAction, type WishBody, type WishType, wishTypes } from '@tranche/api-schema'
import { type Refusals, refusalsFor } from '@tranche/planner'
import { planUndo, refusalOf } from '@tranche/wishes'
import { otherWorkload } from './other-workload.ts'
import type { ReleaseFacts } from './release-facts.ts'

/** What can be wished for now so that it would be accepted, in the order of {@link wishTypes}. A forecast: what counts is the answer. */
export function allowedActions(facts: ReleaseFacts): readonly WishType[] {
  if (otherWorkload(facts.rollout) !== null) return []
  const refusals = refusalsFor(facts)
  return wishTypes.filter((type) => isAllowed(facts, type, refusals))
}

function isAllowed(facts: ReleaseFacts, type: WishType, refusals: Refusals): boolean {
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

/** With any of these bodies it would be a wish for what goes on now. */
function bodiesFor({ rollout }: ReleaseFacts, type: ActionType): readonly WishBody[] {
  const expectedStep = rollout.status?.canaryStatus?.currentStepIndex ?? 1
  if (type === 'approve') return [{ expectedStep }]
  if (type === 'jump') return [{ expectedStep, step: 1 }]
  return type === 'promote' ? [{}, { full: true }] : [{}]
}

/** REST and the command line write it. */
function isWritten({ rollout }: ReleaseFacts, type: WishType, body: WishBody): boolean {
  return refusalOf(rollout, { id: '', type, body, by: '', via: 'rest' }) === null
}

/** The controller acts on it. */
function isAccepted(type: ActionType, body: WishBody, refusals: Refusals): boolean {
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
