import { ACCEPTED_FAILED, UNAVAILABLE_BEFORE, type Waiting } from '@tranche/api-schema'
import { lastPermits, nodesInFlight } from '@tranche/fence'
import { acceptedBefore, failureTerms, isWayBack } from '@tranche/verdict'
import { parseTime, timeText } from '@tranche/kube-types'
import { insteadOfAbort } from './progress/instead-of-abort.ts'
import { firstNodes } from './progress/unwell-text.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import type { ReleaseView } from './view/release-view.ts'

/** Reasons of such a wait at first. */
const acceptedReasons: readonly string[] = ['NotAvailable', 'BudgetUsedUp']

/** Its reasons once only a person ends it. */
const personReasons: readonly string[] = [ACCEPTED_FAILED, UNAVAILABLE_BEFORE]

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
 * A wait for nothing but nodes on which no failure stops the release: they were bad before, or a retry accepted it. Once it has lasted as long
 * as a new pod may take (`failure.progressDeadlineSeconds`), only a person ends it. Until then, and where it is for something else as well,
 * the wait itself.
 *
 * @param before the wait of the status, by the present clock
 */
export function acceptedWait(now: Waiting, before: Waiting | undefined, view: ReleaseView, wanted: Wanted): Waiting {
  if (!isForAcceptedOnly(now.reason, view, wanted)) return now
  const since = isContinued(before, view) ? before.since : timeText(view.nowMs)
  const waiting = { ...now, since }
  if (untilFailedMs(waiting, view) > 0) return waiting
  const deadline = 'failure.progressDeadlineSeconds'
  const bad = badBefore(view)
  if (!waiting.nodes.some((node) => bad.has(node)))
    return { ...waiting, reason: ACCEPTED_FAILED, message: `${waiting.message}; their time is over (${deadline})` }
  const message = `${waiting.message}; the nodes have had as long as a new pod may take (${deadline}), so only a person ends this`
  return { ...waiting, reason: UNAVAILABLE_BEFORE, message }
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
function isContinued(before: Waiting | undefined, view: ReleaseView): before is Waiting {
  if (before === undefined || parseTime(before.since) === null) return false
  const known = uncounted(view)
  const isSame = personReasons.includes(before.reason) || acceptedReasons.includes(before.reason)
  return isSame && before.nodes.every((node) => known.has(node))
}

function untilFailedMs({ since }: Waiting, { release: { spec }, fleet, nowMs }: ReleaseView): number {
  const { progressDeadlineMs } = failureTerms(spec.tranche?.failure, spec.releasePlan, fleet.desired)
  return Math.max(0, (parseTime(since) ?? nowMs) + progressDeadlineMs - nowMs)
}

/** Whether such nodes alone use up the budget, or are all that an otherwise complete batch waits for. */
function waitsForAcceptedOnly(view: ReleaseView, wanted: Allowed): boolean {
  const { unwell, updated, updatedAvailable, effectiveSize, state, outOfReach, behind } = wanted.progress
  const known = uncounted(view)
  const down = wanted.progress.unavailable.filter((node) => known.has(node))
  if (state === 'Ready' || behind !== undefined || outOfReach !== undefined) return false
  if (isBudgetUsedUp(wanted)) return down.length >= wanted.allowance.limit
  // A batch is ready without accepted nodes once another one is available.
  const isAwaited = updatedAvailable === 0 || unwell.some(({ node }) => badBefore(view).has(node))
  return updated >= effectiveSize && isAwaited && unwell.length > 0 && unwell.every(({ node }) => down.includes(node))
}

/** Nodes on which no failure stops the release. */
function uncounted(view: ReleaseView): ReadonlySet<string> {
  return new Set([...acceptedBefore(view.release), ...badBefore(view)])
}

/**
 * Nodes in flight that were not available before their update either, and those that ran the version before the release and were unhealthy when
 * it began. Whether their pods report a cause does not matter: one that crashes does so only between two attempts. None in a rollback,
 * which nothing stops.
 */
function badBefore({ release, fleet }: ReleaseView): ReadonlySet<string> {
  if (isWayBack(release)) return new Set()
  const { flight, stoppedTime } = release.status ?? {}
  const bad = lastPermits(flight?.permits ?? []).filter(({ wasBad }) => wasBad === true)
  const olderPods = new Set(stoppedTime?.olderPods)
  const older = olderPods.size === 0 ? [] : fleet.nodes.filter(({ pods }) => pods.some(({ uid }) => olderPods.has(uid)))
  return new Set([...nodesInFlight(bad, fleet), ...older.map(({ name }) => name)])
}

function acceptedDown({ release }: ReleaseView, { progress }: Allowed): readonly string[] {
  const accepted = new Set(acceptedBefore(release))
  return progress.unavailable.filter((node) => accepted.has(node))
}

function isBudgetUsedUp({ progress, allowance }: Allowed): boolean {
  return progress.unavailable.length >= allowance.limit && progress.updated < progress.effectiveSize
}
