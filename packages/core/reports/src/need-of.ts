import type { Need, Outcome, ActionType } from '@tranche/api-schema'
import { laterStepInReach, waitOf } from '@tranche/planner'
import { parseTime, timeText, valueIn } from '@tranche/kube-types'
import { allowedActions } from './allowed-actions.ts'
import { excludedNeed } from './excluded-nodes.ts'
import { conditionIn } from './outcome-of.ts'
import { type Outline, progressOf } from './outline.ts'
import { personWaitOf } from './policy/person-wait.ts'
import { pauseText } from './pause-text.ts'
import { healedText, presentMessage, waitingTemplateText } from './present-message.ts'

/** The decision that a Rollout waits for; undefined when it waits for no user. */
export function needOf(outline: Outline, outcome: Outcome): Need | undefined {
  if (outcome === 'Done' || outcome === 'RolledBack') return excludedNeed(outline)
  if (outcome !== 'Waiting' && outcome !== 'Failed' && outcome !== 'Blocked') return undefined
  const { rollout } = outline.facts
  const reason = needReason(outline)
  if (reason === null || rollout.status === undefined) return undefined
  const sinceMs = sinceOf(outline)
  const allowed = allowedActions(outline.facts)
  return {
    reason,
    message: messageOf(outline),
    ...(sinceMs !== undefined && { since: timeText(sinceMs) }),
    actions: valueIn(helpful, reason)?.filter((action) => allowed.includes(action) && isOnward(outline, reason, action)) ?? [],
  }
}

/** Actions that help, by reason, the most likely first; for other reasons the message states the fix. */
const helpful: Readonly<Record<string, readonly ActionType[]>> = {
  StepPaused: ['approve', 'promote', 'abort', 'jump'],
  Paused: ['resume', 'abort'],
  ReleaseFailed: ['abort', 'undo', 'retry'],
  AnalysisInconclusive: ['retry', 'promote', 'abort'],
  RevisionHeld: ['abort', 'undo', 'retry'],
  StrategyConflict: ['retry', 'abort'],
  PodsStuck: ['abort'],
  AcceptedFailed: ['abort', 'undo'],
  UnavailableBefore: ['abort', 'undo'],
  ChangeRejected: ['undo'],
  NodesExcluded: ['abort', 'jump'],
}

/**
 * Whether an action leads on: a jump helps a step that reaches no node only where a later one does, and another template only a rejected
 * rollback.
 */
function isOnward(outline: Outline, reason: string, action: ActionType): boolean {
  if (reason === 'ChangeRejected') return isRollingBack(outline)
  if (reason !== 'NodesExcluded' || action !== 'jump') return true
  const { fleet, release } = outline
  // Where excluded nodes use up the budget, no step has any left.
  if (progressOf(outline).outOfReach === undefined) return false
  return release !== undefined && laterStepInReach(fleet, release) !== undefined
}

/** Whether the released revision is blocked. */
function isRollingBack({ facts: { rollout } }: Outline): boolean {
  const { heldRevisions = [], canaryStatus } = rollout.status ?? {}
  return heldRevisions.some(({ revision }) => revision !== undefined && revision === canaryStatus?.canaryRevision)
}

/** Null after a completed rollback: no decision is left. */
function needReason(outline: Outline): string | null {
  const stalled = conditionIn(outline, 'Stalled')
  if (stalled?.status === 'True') return stalled.reason
  const { status } = outline.facts.rollout
  if (status?.phase === 'Disabled') return 'Disabled'
  if (status?.phase !== 'Progressing') return null
  if (conditionIn(outline, 'Progressing')?.reason === 'Paused') return 'Paused'
  return personWaitOf(outline.facts.rollout, outline.release) ?? 'StepPaused'
}

function sinceOf({ facts }: Outline): number | undefined {
  const { rollout, release } = facts
  if (rollout.status === undefined) return undefined
  const waiting = release?.status?.waiting
  const stalled = rollout.status.conditions?.find(({ type }) => type === 'Stalled')
  // The wait of the BatchRelease has its own start, which earlier stalls do not change.
  if (stalled?.status === 'True' && waiting?.reason === stalled.reason) return parseTime(waiting.since) ?? undefined
  return waitOf(rollout, rollout.status)?.sinceMs ?? parseTime(rollout.status.waitingFor?.since) ?? undefined
}

/** Includes a pause beside a stall: the action that ends the pause may also accept the failures. */
function messageOf(outline: Outline): string {
  const { rollout } = outline.facts
  const stalled = conditionIn(outline, 'Stalled')
  const isStalled = stalled?.status === 'True'
  const message = presentMessage(outline) ?? ''
  const isPaused = rollout.spec.strategy.paused === true && conditionIn(outline, 'Progressing')?.reason === 'Paused'
  const why = isStalled ? `${stalled.message}${healedText(outline)}${waitingTemplateText(outline)}` : message
  const said = isPaused && message !== why ? `${why}; and it is ${message}` : why
  return isPaused ? `${said} (${pauseText(rollout)})` : said
}
