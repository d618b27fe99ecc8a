import type { CanaryStatus, Failure, HeldRevision } from '@tranche/api-schema'
import { isOff, reportedFailure } from '../release/release-failure.ts'
import { isOfNodesLeft } from '@tranche/verdict'
import { type DaemonSet, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import { countUpdated } from '@tranche/fence'
import { type FoundRevisions, hashOf } from '../../release/view/discover-revisions.ts'
import { isAppliedAgain, numberOf } from '../actions/applied-again.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import { selectsNodes } from '../view/step-nodes.ts'
import { openedWhenFrozen } from '../release/frozen-release.ts'
import { isFilled } from '../release/step-by-selectors.ts'
import { heldState } from './held-state.ts'
import { heldAsSeen, heldTemplate } from '../held/held-revisions.ts'
import { heldWhenOvertaken } from './held-when-overtaken.ts'
import { isInBatches, isReturn, isUnderWay, nextIndex, stepReach, stepsOf } from '../release/release-spec.ts'
import { returnTitle } from '../release/release-title.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * Starts a release, or starts again because the template changed. During a release the stable revision stays the same,
 * however many templates follow; returning to it is a rollback, and stays one where its template is applied again. A failed version that was
 * replaced and applied again between two passes is blocked, as where a pass has read the other template (G12).
 */
export function startState(view: RolloutView, daemonSet: DaemonSet, before: RolloutState, discovery: FoundRevisions): RolloutState {
  const revision = discovery.canary
  const kept = stableInMidRelease(view, before)
  const stable = kept ?? discovery.stable
  const goesBack = revision === kept || (revision === stable && isReturnOff(before, revision))
  const rollbackFrom = goesBack ? rolledBackBy(before, revision) : undefined
  const isOvertaken = before.canary.canaryRevision !== revision || isAppliedAgain(view, before)
  const holds = isOvertaken ? heldWhenOvertaken(view, before) : before.heldRevisions
  const held = heldTemplate(holds, daemonSet)
  const walksBack = rollbackFrom !== undefined && isInBatches(view.rollout)
  const first = firstStep(view, daemonSet, { revision, isReturn: revision === stable, walksBack, before })
  const failure = keptFailure(view, before, revision)
  const canary: CanaryStatus = {
    ...completedCanary(view, revision),
    stableRevision: stable,
    currentStepIndex: first,
    nextStepIndex: nextIndex(first, stepsOf(view.rollout).length),
    currentStepState: 'BeforeStepUpgrade',
  }
  const state: RolloutState = {
    ...before,
    phase: 'Progressing',
    reason: 'Initializing',
    canary,
    stableRevision: stable,
    releaseGeneration: view.daemonSet?.metadata.generation ?? 0,
    canaryNumber: numberOf(view.revisions, revision),
    succeeded: null,
    heldRevisions: heldAsSeen(holds, daemonSet, { held, revision }),
    acceptedActions: failure === undefined ? {} : lastRetry(before),
    failure: rollbackFrom !== undefined || isOfHeld(before, held, revision) ? before.failure : failure,
    rollbackFrom,
    message: rollbackFrom === undefined ? `releasing revision ${revision}` : returnTitle(view.rollout, canary, rollbackFrom),
  }
  if (held !== undefined) return heldState(view, daemonSet, state, { ...held, revision })
  return rollbackFrom === undefined || walksBack ? state : { ...toTheEnd(state), reason: 'Cancelling' }
}

/** Version that a return to the stable revision rolls back; the same one where that return begins again (G6). */
function rolledBackBy({ canary, rollbackFrom }: RolloutState, stable: string): string | undefined {
  return canary.canaryRevision === stable ? rollbackFrom : canary.canaryRevision
}

/** Whether a return to the revision was under way when its Rollout was disabled. */
function isReturnOff({ phase, canary }: RolloutState, revision: string): boolean {
  return isOff(phase) && isUnderWay(canary) && isReturn(canary) && canary.canaryRevision === revision
}

/** A version whose release begins again for nodes left has failed there before, perhaps before its Rollout was disabled. */
function keptFailure(view: RolloutView, before: RolloutState, revision: string): Failure | undefined {
  const failure = before.canary.canaryRevision === revision ? reportedFailure(view, before) : null
  if (failure === null) return undefined
  return before.phase === 'Healthy' || (isOff(before.phase) && isOfNodesLeft(failure.release)) ? failure : undefined
}

/** The retry that came before a kept failure. Without it, the failure would count as lifted. */
function lastRetry({ acceptedActions: { retry } }: RolloutState): RolloutState['acceptedActions'] {
  return retry === undefined ? {} : { retry }
}

/** Whether the recorded failure is of the held template itself, not of another version that was released since. */
function isOfHeld({ rollbackFrom, canary }: RolloutState, held: HeldRevision | undefined, revision: string): boolean {
  const failed = rollbackFrom ?? canary.canaryRevision
  return held !== undefined && (failed === revision || failed === held.revision)
}

/**
 * The steps count as done: remaining nodes follow under the budget, and then the DaemonSet is given back. During a rollback
 * nodes are still updated, and `Completed` would read as if it were over.
 */
export function toTheEnd(state: RolloutState): RolloutState {
  const currentStepState = isReturn(state.canary) ? 'StepUpgrade' : 'Completed'
  return { ...state, canary: { ...state.canary, currentStepState, finalisingStep: 'ResumeWorkload', nextStepIndex: -1 } }
}

/** Stable revision of the overtaken release, while the DaemonSet's history or the BatchRelease has it; null otherwise. */
function stableInMidRelease({ revisions, release }: RolloutView, { phase, canary }: RolloutState): string | null {
  const { stableRevision } = canary
  if (phase !== 'Progressing' || stableRevision === undefined) return null
  const isKept = release?.status?.stableTemplate?.revision === stableRevision
  return isKept || revisions.some((revision) => hashOf(revision) === stableRevision) ? stableRevision : null
}

interface Beginning {
  readonly revision: string
  readonly isReturn: boolean
  /** Whether a rollback walks the steps with their pauses. */
  readonly walksBack: boolean
  /** State in which the release begins. */
  readonly before: RolloutState
}

/**
 * The first step of a release:
 * - step 1 by default;
 * - where a release was frozen: the last step that the updated nodes fill, but none that was not open then, because nodes
 *   that other clients updated approve nothing (G3);
 * - where a rollback walks the steps: the first that takes a node back, but none after the one that it had reached, whose pause may
 *   not be over (G3);
 * - where the template came back and nothing is new: no step pauses.
 */
function firstStep(view: RolloutView, daemonSet: DaemonSet, { isReturn, walksBack, revision, before }: Beginning): number {
  const steps = stepsOf(view.rollout)
  if (isReturn && !walksBack) return steps.length
  const opened = walksBack ? { step: steps.length, size: Number.POSITIVE_INFINITY } : openedWhenFrozen(daemonSet, revision)
  if (opened === null) return 1
  const unfilled = steps.findIndex((_, at) => {
    const reach = stepReach(view, at + 1)
    return reach.size > opened.size || !isFilled(reach, revision, selectsNodes(view.rollout))
  })
  const filled = unfilled === -1 ? steps.length : unfilled
  const reached = before.canary.canaryRevision === revision ? before.canary.currentStepIndex : steps.length
  return walksBack ? Math.min(filled + 1, reached, steps.length) : Math.max(1, Math.min(filled, opened.step))
}

/** Status of a finished release, and the first status ever, which readers dereference. */
export function completedCanary({ rollout, daemonSet, nowMs }: RolloutView, revision: string): CanaryStatus {
  const steps = Math.max(1, stepsOf(rollout).length)
  return {
    ...ofWorkload(daemonSet, revision),
    stableRevision: revision,
    podTemplateHash: revision,
    canaryRevision: revision,
    currentStepIndex: steps,
    nextStepIndex: -1,
    finalisingStep: '',
    currentStepState: 'Completed',
    canaryReplicas: 0,
    canaryReadyReplicas: 0,
    lastUpdateTime: new Date(nowMs).toISOString(),
  }
}

/** The same status for the present DaemonSet: readers compare generation and id with their own. */
export function refreshed({ daemonSet }: RolloutView, canary: CanaryStatus): CanaryStatus {
  return { ...canary, ...ofWorkload(daemonSet, canary.canaryRevision) }
}

/** Counted here and not by the BatchRelease: nodes change while it is stopped, too. */
export function withCounts({ fleet }: RolloutView, canary: CanaryStatus): CanaryStatus {
  const { updated, updatedReady } = countUpdated(fleet, canary.canaryRevision)
  return { ...canary, canaryReplicas: updated, canaryReadyReplicas: updatedReady }
}

function ofWorkload(
  daemonSet: DaemonSet | undefined,
  revision: string,
): Required<Pick<CanaryStatus, 'observedWorkloadGeneration' | 'observedRolloutID'>> {
  const { generation = 0, labels } = daemonSet?.metadata ?? {}
  return { observedWorkloadGeneration: generation, observedRolloutID: labels?.[ROLLOUT_ID_LABEL] ?? revision }
}
