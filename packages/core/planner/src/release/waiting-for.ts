import { blockedReasons, isGroupWait, LISTED_NODES_MAX, personWaits, sizeLimits, type Waiting } from '@tranche/api-schema'
import { timeText, clipText } from '@tranche/kube-types'
import { batchScope } from '@tranche/fence'
import { judgementOf, statusByTheClock } from './progress/judgement.ts'
import { budgetUsers, budgetUsersText } from './progress/budget-users.ts'
import { leftNodes, leftText } from './progress/left-nodes.ts'
import { blockedWait, downAndBlocked } from './blocked-wait.ts'
import { budgetWayOut } from './budget-way-out.ts'
import type { BatchProgress } from './progress/batch-progress.ts'
import type { ReleaseView } from './view/release-view.ts'
import { countedWait, missingNodesText, tooManyDeadText } from './counted-wait.ts'
import { carryLeftMs } from './detach.ts'
import { unseenText } from './progress/unseen-nodes.ts'
import { spreadWait } from './progress/spread-text.ts'
import { stuckPods } from './view/stuck-pods.ts'
import { acceptedText, acceptedWait } from './accepted-wait.ts'
import { excludedText, excludedWait } from './excluded-wait.ts'
import { leftBehind, namesLeft } from './progress/the-end.ts'
import { firstNodes } from './progress/unwell-text.ts'
import type { Wanted } from './progress/wanted-allowance.ts'
import { undeletedWait } from './undeleted.ts'

/**
 * What a release waits for, since when, and on which nodes; null where it waits for nothing. The time stays while the reason does. It also
 * stays while the release waits for its group, or only for nodes that checks keep.
 */
export function waitingFor(view: ReleaseView, wanted: Wanted): Waiting | null {
  const now = reasonToWait(view, wanted)
  if (now === null) return null
  const stored = view.release.status?.waiting
  // The place of a release in the line of its group is the start of its wait, as it was written.
  const before = isGroupWait(stored?.reason) ? stored : statusByTheClock(view)?.waiting
  const isSame =
    before?.reason === now.reason ||
    (isGroupWait(before?.reason) && isGroupWait(now.reason)) ||
    (isForChecks(before?.reason) && isForChecks(now.reason))
  const since = before != null && isSame ? before.since : timeText(view.nowMs)
  const waiting = { ...now, message: clipText(now.message, sizeLimits.message), nodes: now.nodes.slice(0, LISTED_NODES_MAX), since }
  return excludedWait(acceptedWait(waiting, before, view, wanted), before, view, wanted)
}

/** Whether it waits only for nodes that checks keep, and no person need act: the reason is that of one of them, and changes with it. */
function isForChecks(reason: string | undefined): boolean {
  return blockedReasons.some((one) => one === reason && !personWaits[one])
}

type Reason = Omit<Waiting, 'since'>

/** Reason of `status.waiting` and of the event while the queue accepts nothing. */
export const QUEUE_UNAVAILABLE = 'QueueUnavailable'

const BEHIND = 'waiting until the watch of the controller shows the pods that executors have recorded'
const DOUBT = 'waiting for up to a minute until it is known whether nodes became NotReady before or after their update'
const UNCLEAR_ADVICE = 'Tranche asks again by itself: check that the API server answers and that nothing rejects changes to pods'

function reasonToWait(view: ReleaseView, wanted: Wanted): Reason | null {
  const record = view.release.status?.flight
  if (record !== undefined && view.unclear !== null) {
    const nodes = record.permits.map(({ node }) => node)
    const message = `the stop waits until it is known whether a deletion is still in flight: ${view.unclear}; ${UNCLEAR_ADVICE}`
    return { reason: 'TouchUnclear', message, nodes }
  }
  if (wanted.kind === 'stop') return stopped(view, wanted)
  if (wanted.kind === 'pending') return { reason: 'Pending', message: wanted.message, nodes: [] }
  return left(view, wanted.progress) ?? stuckPods(view, wanted.allowance.limit, wanted.progress.exemption.names) ?? inBatch(view, wanted)
}

/** A deletion ends when the nodes in flight have their pods; every other stop says why. */
function stopped(view: ReleaseView, { holds, message, waits }: Wanted & { kind: 'stop' }): Reason {
  const { release, daemonSet } = view
  const reason = waits ?? holds[0]?.reason ?? 'Stopped'
  if (reason === 'ReleaseFailed') return { reason, message, nodes: release.status?.failure?.nodes ?? [] }
  const nodes = [...new Set((release.status?.flight?.permits ?? []).map(({ node }) => node))]
  if (reason !== 'Deleting' || daemonSet === undefined || nodes.length === 0) return { reason, message, nodes: [] }
  return { reason, message: `${message}; ${inFlightText(view)}: ${firstNodes(nodes)}`, nodes }
}

function inFlightText(view: ReleaseView): string {
  const leftMs = carryLeftMs(view)
  if (leftMs === 0) return 'leaving nodes without an available pod to the next release'
  // The clock of the API server is learnt to a few milliseconds: the text does not change with it.
  const until = new Date(Math.ceil((view.nowMs + leftMs) / 1000) * 1000)
  return `waiting until ${until.toISOString()} for the nodes in flight to have an available pod`
}

function left(view: ReleaseView, progress: BatchProgress): Reason | null {
  const behind = leftBehind(view, progress)
  if (behind === null) return null
  const { flight, failure } = view.release.status ?? {}
  const nodes = namesLeft(behind)
  const groups = leftNodes(nodes, {
    fleet: view.fleet,
    progress,
    revision: flight?.revision ?? '',
    blocked: flight?.blocked ?? [],
    failure: failure ?? undefined,
  })
  const count = nodes.length === 1 ? '1 node is' : `${nodes.length} nodes are`
  const then = view.strategyScope === 'binding' ? '' : '; the update strategy is restored once they are updated and available'
  return { reason: 'NodesLeft', message: `${count} left behind: ${leftText(groups)}${then}`, nodes }
}

/** What our view has yet to show. */
function behindWait(view: ReleaseView, behind: NonNullable<BatchProgress['behind']>): Reason {
  if (behind === 'pods') return { reason: 'Upgrading', message: BEHIND, nodes: [] }
  if (behind === 'loss') return { reason: 'Pending', message: DOUBT, nodes: judgementOf(view)?.verdict.inDoubt ?? [] }
  return { reason: 'Pending', message: unseenText(view), nodes: view.nodeList?.unseen ?? [] }
}

function inBatch(view: ReleaseView, wanted: Wanted & { kind: 'allow' }): Reason | null {
  const { progress } = wanted
  const { limit } = wanted.allowance
  if (progress.state === 'Ready') return null
  if (progress.behind !== undefined) return behindWait(view, progress.behind)
  const plain = countedWait(progress, view.release, view.fleet)
  if (progress.outOfReach !== undefined) return plain
  const counted = withBudgetUsers(plain, view, wanted)
  if (progress.unwell.length > 0) return { ...counted, message: `${counted.message}${acceptedText(view, wanted)}` }
  const outage = queueOutage(view, progress)
  if (outage !== null && (progress.between.length > 0 || progress.unavailable.length < limit)) return outage
  if (progress.between.length > 0) return counted
  const lack = missingNodesText(progress.missing)
  const dead = tooManyDeadText(progress)
  if (progress.unavailable.length < limit) {
    const held = heldByRules(view, wanted, lack) ?? blockedWait(view, lack) ?? undeletedWait(view, lack)
    return held === null ? counted : { ...held, message: `${held.message}${dead}` }
  }
  const message = `${lack}; maxUnavailable (${limit}) is used up: ${usersText(view, wanted)}${dead}${suspectText(progress)}${downAndBlocked(view, progress)}${excludedText(view, wanted) || budgetWayOut(view, wanted)}`
  return { reason: 'BudgetUsedUp', message, nodes: progress.unavailable }
}

/** Nodes for which a batch waits may use only a part of the budget: names those that use up the rest. */
function withBudgetUsers(counted: Reason, view: ReleaseView, wanted: Wanted & { kind: 'allow' }): Reason {
  const { progress, allowance } = wanted
  const { unavailable, between, updated, effectiveSize } = progress
  const awaited = new Set(counted.nodes)
  const isUsedUp = unavailable.length >= allowance.limit && unavailable.some((node) => !awaited.has(node))
  if (!isUsedUp || awaited.size === 0 || updated + between.length >= effectiveSize) return counted
  return {
    ...counted,
    message: `${counted.message}; maxUnavailable (${allowance.limit}) is used up: ${usersText(view, wanted)}${suspectText(progress)}`,
  }
}

function usersText({ fleet, release }: ReleaseView, { progress, allowance: { revision } }: Wanted & { kind: 'allow' }): string {
  const permits = release.status?.flight?.permits ?? []
  return budgetUsersText(budgetUsers(progress.unavailable, { fleet, progress, revision, permits }))
}

/** Executors start nothing while their job queue is unavailable, and nothing else on the cluster may show that. */
function queueOutage({ queueOutage: why }: ReleaseView, { between, missing }: BatchProgress): Reason | null {
  const lack = missing + between.length
  if (why === undefined || why === null || lack === 0) return null
  const message = `${missingNodesText(lack)}; executors start nothing while the job queue is unavailable, and continue by themselves when it is back: ${why}`
  return { reason: QUEUE_UNAVAILABLE, message, nodes: between }
}

/** The policy rule that holds back the missing nodes; null without one. */
function heldByRules(
  { release, fleet }: ReleaseView,
  { progress, allowance, stable }: Wanted & { kind: 'allow' },
  lack: string,
): Reason | null {
  const { releasePlan, tranche } = release.spec
  const rules = tranche?.nodes
  const scope = batchScope(rules, releasePlan.batchPartition ?? null)
  const { revision } = allowance
  const former = tranche?.formerRevisions ?? []
  const spread = spreadWait({ fleet, revision, stable, former, rules, scope, unavailable: progress.unavailable })
  if (spread !== null) return { reason: 'SpreadUsedUp', message: `${lack}; ${spread.text}`, nodes: spread.nodes }
  const { waitedFor } = progress
  if (waitedFor.length < progress.missing) return null
  return {
    reason: 'NodesNotReady',
    message: `${lack}, and the policy waits for nodes that are NotReady or in maintenance: ${firstNodes(waitedFor)}`,
    nodes: waitedFor,
  }
}

/** Nodes out of reach with a superseded revision cost budget, whatever the policy exempts: says which, and what ends that. */
function suspectText({ exemption: { suspect } }: BatchProgress): string {
  if (suspect.length === 0) return ''
  const why = 'a revision that was rolled back or replaced, which may be why'
  if (suspect.length === 1) return `; ${suspect[0]} is out of reach and runs ${why}, so it counts: bring it back, or delete its Node object`
  return `; ${firstNodes(suspect)} are out of reach and run ${why}, so they count: bring them back, or delete their Node objects`
}
