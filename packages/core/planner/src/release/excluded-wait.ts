import type { Waiting } from '@tranche/api-schema'
import { nodeInView } from '@tranche/fleet'
import { parseTime, timeText } from '@tranche/kube-types'
import { failureTerms } from '@tranche/verdict'
import { excludedWithPod } from './progress/budget-users.ts'
import { firstNodes } from './progress/unwell-text.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import type { ReleaseView } from './view/release-view.ts'

type Allowed = Wanted & { kind: 'allow' }

/** Says that nodes which the policy excludes use up the budget, and what ends that. Begins with a semicolon; empty where they do not. */
export function excludedText(view: ReleaseView, wanted: Allowed): string {
  const down = excludedDown(view, wanted)
  const { limit } = wanted.allowance
  if (down.length < limit) return ''
  const more = wanted.progress.unavailable.length + 1
  return `; nothing updates ${firstNodes(down)} while the policy excludes them: exclude fewer nodes, delete their pods, or raise maxUnavailable (${limit}) to at least ${more}`
}

/**
 * A wait for the budget that excluded nodes alone use up. Only a person ends it once it has lasted as long as a new pod may take
 * (`failure.progressDeadlineSeconds`).
 *
 * @param before the wait of the status, by the present clock
 */
export function excludedWait(now: Waiting, before: Waiting | undefined, view: ReleaseView, wanted: Wanted): Waiting {
  if (!isForExcludedOnly(now, view, wanted)) return now
  const waiting = { ...now, since: isContinued(before, view, wanted) ? before.since : timeText(view.nowMs) }
  return untilExcludedMs(waiting, view, wanted) === 0 ? { ...waiting, reason: 'NodesExcluded' } : waiting
}

/** Milliseconds until {@link excludedWait} changes by time alone; null where it does not. @param waiting as in the status, by the present clock */
export function untilExcludedMs(waiting: Waiting | undefined, view: ReleaseView, wanted: Wanted): number | null {
  if (waiting === undefined || !isForExcludedOnly(waiting, view, wanted)) return null
  const { spec } = view.release
  const { progressDeadlineMs } = failureTerms(spec.tranche?.failure, spec.releasePlan, view.fleet.desired)
  return Math.max(0, (parseTime(waiting.since) ?? view.nowMs) + progressDeadlineMs - view.nowMs)
}

function isForExcludedOnly({ reason }: Waiting, view: ReleaseView, wanted: Wanted): boolean {
  return reason === 'BudgetUsedUp' && wanted.kind === 'allow' && excludedDown(view, wanted).length >= wanted.allowance.limit
}

/** Whether the wait of the status was for such nodes only, too. */
function isContinued(before: Waiting | undefined, view: ReleaseView, wanted: Wanted): before is Waiting {
  if (before?.reason !== 'BudgetUsedUp' && before?.reason !== 'NodesExcluded') return false
  const down = new Set(wanted.kind === 'allow' ? excludedDown(view, wanted) : [])
  return parseTime(before.since) !== null && before.nodes.every((node) => down.has(node))
}

/** Without nodes that are dead, NotReady or in maintenance: machines return. */
function excludedDown({ fleet }: ReleaseView, { progress }: Allowed): readonly string[] {
  const excluded = excludedWithPod(fleet, progress)
  return progress.unavailable.filter((name) => {
    const node = nodeInView(fleet, name)
    return excluded.has(name) && node?.ready === true && node.maintenance === undefined
  })
}
