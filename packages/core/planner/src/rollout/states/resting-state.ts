import { type DaemonSet, daemonSetAnnotations, parseTime } from '@tranche/kube-types'
import { problemsText, validateDaemonSetBudget } from '@tranche/validation'
import { oldNodes } from '@tranche/fence'
import { isAfterEnd } from '@tranche/verdict'
import type { FoundRevisions } from '../../release/view/discover-revisions.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { actionsAfterPause } from '../actions/actions-after-pause.ts'
import { isAppliedAgain, numberOf } from '../actions/applied-again.ts'
import { currentText } from './current-text.ts'
import { failureToSay } from '../release/release-failure.ts'
import { heldWhenOvertaken } from './held-when-overtaken.ts'
import { leftFailure } from './left-failure.ts'
import { policyTerms } from '../view/release-policy.ts'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { completedCanary, refreshed, startState } from './start-state.ts'
import { rolledBackText } from './rolled-back-text.ts'
import { strategyRestored } from './rollout-conditions.ts'

/** State without a release: starts one where needed. */
export function restingState(view: RolloutView, daemonSet: DaemonSet, before: RolloutState, discovery: FoundRevisions): RolloutState {
  const stable = before.stableRevision ?? discovery.stable
  const asked = daemonSetAnnotations.inProgressing in (daemonSet.metadata.annotations ?? {})
  const newer = (daemonSet.metadata.generation ?? 0) > (before.canary.observedWorkloadGeneration ?? 0)
  // A template that was changed and changed back lifts no failure (G12), and forgets none that a retry accepted (G6).
  const isEnded = isForNodesLeft(view, discovery.canary)
  if (
    discovery.canary !== stable ||
    isFailedAndAppliedAgain(view, before) ||
    (asked && newer && before.phase === 'Healthy' && !isEnded) ||
    isUnfinished(view, daemonSet, { before, canary: discovery.canary })
  )
    return startState(view, daemonSet, before, discovery)
  const acceptedActions = actionsAfterPause(view, daemonSet, before)
  const failed = leftFailure(view, { ...before, acceptedActions })
  const left = failed?.message ?? summarizeBatchRelease(view).nodesLeft
  const { text, availableInMs } = currentText(view, daemonSet, discovery.canary)
  const message = `${left ?? text}${rolledBackText(view, before)}`
  const known = before.phase === 'Healthy' && before.canary.canaryRevision === discovery.canary
  const canary = known ? refreshed(view, before.canary) : completedCanary(view, discovery.canary)
  const failure = failureToSay(view, before)
  const canaryNumber = numberOf(view.revisions, discovery.canary)
  const resting = {
    ...before,
    phase: 'Healthy',
    canary,
    canaryNumber,
    stableRevision: discovery.canary,
    acceptedActions,
    failure,
    message,
  } as const
  return { ...resting, stalled: failed?.stalled ?? budgetStall(view, daemonSet), recheckAfterMs: left === null ? availableInMs : null }
}

/** G12: a version that failed on nodes left was replaced and applied again between two passes, and is not blocked yet. */
function isFailedAndAppliedAgain(view: RolloutView, before: RolloutState): boolean {
  return isAppliedAgain(view, before) && heldWhenOvertaken(view, before) !== before.heldRevisions
}

/** Whether the release of the revision has ended, and its BatchRelease stays for nodes left. */
function isForNodesLeft({ release }: RolloutView, revision: string): boolean {
  if (release === undefined || release.metadata.deletionTimestamp !== undefined || !isAfterEnd(release)) return false
  return release.spec.tranche?.canaryRevision === revision
}

interface Remains {
  readonly before: RolloutState
  /** Hash of the template's revision. */
  readonly canary: string
}

/**
 * Whether traces of a release remain though none runs: a BatchRelease of another revision, nodes with old pods, a restored
 * template, or a strategy that was not restored.
 */
function isUnfinished(view: RolloutView, daemonSet: DaemonSet, { before, canary }: Remains): boolean {
  const { fleet, release, strategyScope } = view
  if (release !== undefined && release.metadata.deletionTimestamp === undefined)
    return (release.spec.tranche?.canaryRevision ?? canary) !== canary
  if (oldNodes(fleet, canary).length > 0) return true
  const annotations = daemonSet.metadata.annotations ?? {}
  const end = endOfRelease(view, daemonSet, before)
  const isTakenOver = strategyScope === 'release' && daemonSetAnnotations.originalUpdateStrategy in annotations
  return (isTakenOver && end !== 'Restored') || (daemonSetAnnotations.reverted in annotations && end === null)
}

/**
 * How the status says that the release of this DaemonSet ended: with its strategy `Restored`, or `Bound`, because it belongs
 * to the binding. A lagging watch still shows the keys of that release. Null where the DaemonSet changed since.
 */
function endOfRelease({ rollout }: RolloutView, { metadata }: DaemonSet, { phase, canary }: RolloutState): 'Restored' | 'Bound' | null {
  const isNewer = (metadata.generation ?? 0) > (canary.observedWorkloadGeneration ?? 0)
  const endedMs = parseTime(canary.lastUpdateTime)
  const isCreatedSince = endedMs !== null && (parseTime(metadata.creationTimestamp) ?? 0) > endedMs
  if (phase !== 'Healthy' || isNewer || isCreatedSince) return null
  const reason = strategyRestored(rollout)?.reason
  return reason === 'Restored' || reason === 'Bound' ? reason : null
}

/** A budget that allows no update is reported before a release needs it. */
function budgetStall(view: RolloutView, daemonSet: DaemonSet): RolloutState['stalled'] {
  const problem = validateDaemonSetBudget(daemonSet, view.fleet.desired, policyTerms(view).maxUnavailable)[0]
  return problem === undefined ? null : { reason: problem.reason, message: problemsText([problem]) }
}
