import { ACCEPTED_FAILED, type Waiting } from '@tranche/api-schema'
import { acceptedBefore, failureTerms } from '@tranche/verdict'
import { parseTime, timeText } from '@tranche/kube-types'
import { insteadOfAbort } from './progress/instead-of-abort.ts'
import { firstNodes } from './progress/unwell-text.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import type { ReleaseView } from './view/release-view.ts'

/** Reasons of that wait before {@link ACCEPTED_FAILED}. */
const acceptedReasons: readonly string[] = ['NotAvailable', 'BudgetUsedUp']

type Allowed = Wanted & { kind: 'allow' }

/** Nodes whose failures a retry accepted stay down: says what they block, and the fix. */
export function acceptedText(view: ReleaseView, wanted: Allowed): string {
  const { progress, allowance } = wanted
  const down = acceptedDown(view, wanted)
  if (down.length === 0) return ''
  const acceptedNote = `the failures on ${firstNodes(down)} were accepted`
  const used = progress.unavailable.length
  const away = `abort, or apply another template${insteadOfAbort(view.release, 'Rollback')}`
  if (isBudgetUsedUp(wanted) && down.length >= allowance.limit)
    return `; ${acceptedNote}, and they use up maxUnavailable (${allowance.limit}): raise it to at least ${used + 1}, fix the nodes, ${away}`
  if (progress.updatedAvailable > 0) return ''
  return `; ${acceptedNote}, but no batch is ready before an updated node is available: fix one, ${away}`
}

/**
 * A wait for nothing but such nodes, once it has lasted as long as a new pod may take (`failure.progressDeadlineSeconds`): from then on only a
 * person ends it. Until then, and where it is for something else as well, the wait itself.
 *
 * @param before the wait of the status, by the present clock
 */
export function acceptedWait(now: Waiting, before: Waiting | undefined, view: ReleaseView, wanted: Wanted): Waiting {
  if (!isForAcceptedOnly(now.reason, view, wanted)) return now
  const since = isContinued(before, view) ? before.since : timeText(view.nowMs)
  const waiting = { ...now, since }
  if (untilFailedMs(waiting, view) > 0) return waiting
  return { ...waiting, reason: ACCEPTED_FAILED, message: `${waiting.message}; their time is over (failure.progressDeadlineSeconds)` }
}

/** Milliseconds until {@link acceptedWait} changes by time alone; null where it does not. @param waiting as in the status, by the present clock */
export function untilAcceptedFailedMs(waiting: Waiting | undefined, view: ReleaseView, wanted: Wanted): number | null {
  if (waiting === undefined || !isForAcceptedOnly(waiting.reason, view, wanted) || !isContinued(waiting, view)) return null
  return untilFailedMs(waiting, view)
}

function isForAcceptedOnly(reason: string, view: ReleaseView, wanted: Wanted): boolean {
  return acceptedReasons.includes(reason) && wanted.kind === 'allow' && waitsForAcceptedOnly(view, wanted)
}

/** Whether the wait of the status was for such nodes only, too. */
function isContinued(before: Waiting | undefined, { release }: ReleaseView): before is Waiting {
  if (before === undefined || parseTime(before.since) === null) return false
  const accepted = new Set(acceptedBefore(release))
  const isSame = before.reason === ACCEPTED_FAILED || acceptedReasons.includes(before.reason)
  return isSame && before.nodes.every((node) => accepted.has(node))
}

function untilFailedMs({ since }: Waiting, { release: { spec }, fleet, nowMs }: ReleaseView): number {
  const { progressDeadlineMs } = failureTerms(spec.tranche?.failure, spec.releasePlan, fleet.desired)
  return Math.max(0, (parseTime(since) ?? nowMs) + progressDeadlineMs - nowMs)
}

/** Whether accepted nodes alone use up the budget, or are all that an otherwise complete batch waits for. */
function waitsForAcceptedOnly(view: ReleaseView, wanted: Allowed): boolean {
  const { unwell, updated, updatedAvailable, effectiveSize, state, outOfReach, isBehind } = wanted.progress
  const down = acceptedDown(view, wanted)
  if (state === 'Ready' || isBehind || outOfReach !== undefined) return false
  if (isBudgetUsedUp(wanted)) return down.length >= wanted.allowance.limit
  return updated >= effectiveSize && updatedAvailable === 0 && unwell.length > 0 && unwell.every(({ node }) => down.includes(node))
}

function acceptedDown({ release }: ReleaseView, { progress }: Allowed): readonly string[] {
  const accepted = new Set(acceptedBefore(release))
  return progress.unavailable.filter((node) => accepted.has(node))
}

function isBudgetUsedUp({ progress, allowance }: Allowed): boolean {
  return progress.unavailable.length >= allowance.limit && progress.updated < progress.effectiveSize
}
