import { acceptedBefore, failureTerms } from '@tranche/verdict'
import { parseTime } from '@tranche/kube-types'
import { firstNodes } from './progress/unwell-text.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import type { ReleaseView } from './view/release-view.ts'

/** Reason of a wait for nothing but nodes whose failures a retry accepted, once they have had their time to recover. */
export const ACCEPTED_FAILED = 'AcceptedFailed'

/** Reasons of the same wait before that. */
export const acceptedReasons: readonly string[] = ['NotAvailable', 'BudgetUsedUp']

type Allowed = Wanted & { kind: 'allow' }

/** Nodes whose failures a retry accepted stay down: says what they block, and the fix. */
export function acceptedText(view: ReleaseView, wanted: Allowed): string {
  const { progress, allowance } = wanted
  const down = acceptedDown(view, wanted)
  if (down.length === 0) return ''
  const acceptedNote = `the failures on ${firstNodes(down)} were accepted`
  const used = progress.unavailable.length
  if (isBudgetUsedUp(wanted))
    return `; ${acceptedNote}, and they use up maxUnavailable (${allowance.limit}): raise it to at least ${used + 1}, fix the nodes, abort, or apply another template`
  if (progress.updatedAvailable > 0) return ''
  return `; ${acceptedNote}, but no batch is ready before an updated node is available: fix one, abort, or apply another template`
}

/**
 * Milliseconds until a wait for nothing but such nodes has lasted as long as a new pod may take (`failure.progressDeadlineSeconds`). From then on
 * only a person ends it.
 *
 * @param since start (RFC 3339) of the wait
 * @returns null where it waits for something else as well
 */
export function acceptedWait(view: ReleaseView, wanted: Wanted, since: string | undefined): number | null {
  const sinceMs = parseTime(since)
  if (sinceMs === null || wanted.kind !== 'allow' || !waitsForAcceptedOnly(view, wanted)) return null
  const { spec } = view.release
  const { progressDeadlineMs } = failureTerms(spec.tranche?.failure, spec.releasePlan, view.fleet.desired)
  return Math.max(0, sinceMs + progressDeadlineMs - view.nowMs)
}

/** Whether accepted nodes alone use up the budget, or are all that an otherwise complete batch waits for. */
function waitsForAcceptedOnly(view: ReleaseView, wanted: Allowed): boolean {
  const { unwell, updated, updatedAvailable, effectiveSize, state, outOfReach, isBehind } = wanted.progress
  const down = acceptedDown(view, wanted)
  if (state === 'Ready' || isBehind || outOfReach !== undefined || down.length === 0) return false
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
