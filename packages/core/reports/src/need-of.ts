import type { Need, Outcome, ActionType } from '@tranche/api-schema'
import { waitOf } from '@tranche/planner'
import { allowedActions } from './allowed-actions.ts'
import { conditionIn } from './outcome-of.ts'
import type { Outline } from './outline.ts'
import { pauseText } from './pause-text.ts'
import { presentMessage } from './present-message.ts'

/** What a person has to decide; undefined where nobody is waited for. */
export function needOf(outline: Outline, outcome: Outcome): Need | undefined {
  if (outcome !== 'Waiting' && outcome !== 'Failed' && outcome !== 'Blocked') return undefined
  const { rollout } = outline.facts
  const reason = needReason(outline)
  if (reason === null || rollout.status === undefined) return undefined
  const sinceMs = sinceOf(outline)
  const allowed = allowedActions(outline.facts)
  return {
    reason,
    message: messageOf(outline),
    ...(sinceMs !== undefined && { since: new Date(sinceMs).toISOString() }),
    actions: helpful[reason]?.filter((action) => allowed.includes(action)) ?? [],
  }
}

/** What helps, the first of them most likely; a reason that is not listed is lifted by what its message says. */
const helpful: Readonly<Record<string, readonly ActionType[]>> = {
  StepPaused: ['approve', 'promote', 'abort', 'jump'],
  Paused: ['resume', 'abort'],
  ReleaseFailed: ['abort', 'retry', 'undo'],
  AnalysisInconclusive: ['retry', 'promote', 'abort'],
  RevisionHeld: ['retry', 'undo', 'abort'],
  StrategyContested: ['retry', 'abort'],
  PodsStuck: ['abort'],
}

/** Null where a release was taken back and is over: there is nothing left to decide. */
function needReason(outline: Outline): string | null {
  const stalled = conditionIn(outline, 'Stalled')
  if (stalled?.status === 'True') return stalled.reason
  const { status } = outline.facts.rollout
  if (status?.phase === 'Disabled') return 'Disabled'
  if (status?.phase !== 'Progressing') return null
  return conditionIn(outline, 'Progressing')?.reason === 'Paused' ? 'Paused' : 'StepPaused'
}

function sinceOf({ facts }: Outline): number | undefined {
  const { rollout, release } = facts
  if (rollout.status === undefined) return undefined
  const waiting = release?.status?.waiting
  const stalled = rollout.status.conditions?.find(({ type }) => type === 'Stalled')
  // What the BatchRelease waits for has its own moment, which other stalls before it do not change.
  if (stalled?.status === 'True' && waiting?.reason === stalled.reason) return Date.parse(waiting.since)
  return waitOf(rollout, rollout.status)?.sinceMs
}

/** A pause beside a stall is said too: what ends it may accept what has failed. */
function messageOf(outline: Outline): string {
  const { rollout } = outline.facts
  const stalled = conditionIn(outline, 'Stalled')
  const isStalled = stalled?.status === 'True'
  const message = presentMessage(outline) ?? ''
  const isPaused = rollout.spec.strategy.paused === true && conditionIn(outline, 'Progressing')?.reason === 'Paused'
  const said = !isStalled ? message : isPaused && message !== stalled.message ? `${stalled.message}; and it is ${message}` : stalled.message
  return isPaused ? `${said} (${pauseText(rollout)})` : said
}
