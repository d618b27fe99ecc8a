import {
  type BatchRelease,
  type BatchReleaseSpec,
  type CanaryStatus,
  type HeldBy,
  type Rollout,
  type RolloutStep,
  sizeLimits,
} from '@tranche/api-schema'
import { clipText, rolloutAnnotations } from '@tranche/kube-types'
import { validateSpec } from '@tranche/validation'
import { type BatchReach, batchReach } from '../../release/progress/batch-reach.ts'
import { acceptedActionsOf } from '../view/accepted-actions.ts'
import { commandText } from '../view/command-text.ts'
import { heldRevision } from '../held/held-revisions.ts'
import { endsRelease } from '../held/on-delete.ts'
import { holdFor, lostFailure } from './lost-failure.ts'
import { releaseId } from './release-id.ts'
import { isRollback, leftAtEnd, leftSoFar } from './left-at-end.ts'
import { nodeRulesFor, type PolicyTerms, policyTerms, withoutPolicyTerms } from '../view/release-policy.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * The BatchRelease's spec for the Rollout's status; null where no release runs.
 *
 * Steps count from 1 and batches from 0: this is the one place where they are converted. A last step below 100 % gets an
 * implicit final batch, which only finalizing reaches.
 */
export function releaseSpecFor(view: RolloutView): BatchReleaseSpec | null {
  const { rollout, daemonSet } = view
  const canary = rollout.status?.canaryStatus
  if (canary === undefined || daemonSet === undefined || !isReleasing(rollout, canary)) return null
  const retry = acceptedActionsOf(rollout.status).retry
  const former = rollout.status?.formerRevisions ?? []
  // Data that the status recorded with this revision: the DaemonSet's label may belong to the next template.
  const rolloutID = canary.observedRolloutID ?? canary.canaryRevision
  const batchPartition = isFinalising(canary) ? undefined : canary.currentStepIndex - 1
  return {
    workloadRef: rollout.spec.workloadRef,
    releasePlan: {
      ...sizesOf(rollout),
      ...(batchPartition !== undefined && { batchPartition }),
      rolloutID,
      ...(batchPartition === undefined && { finalizingPolicy: 'WaitResume' as const }),
      rollingStyle: 'Partition',
      enableExtraWorkloadForCanary: false,
    },
    tranche: {
      paused: rollout.spec.strategy.paused === true && !endsRelease(rollout),
      canaryRevision: canary.canaryRevision,
      stableRevision: canary.stableRevision ?? canary.canaryRevision,
      ...(former.length > 0 && { formerRevisions: former }),
      rolloutGeneration: rollout.metadata.generation ?? 0,
      release: releaseId(rollout),
      ...termsOf(view, canary),
      ...holdForFailure(view, canary),
      ...holdOf(rollout, canary),
      ...(retry !== undefined && { retry }),
      ...(isReturn(canary) && !isRollback(rollout) && { left: leftSoFar(view, releaseId(rollout)) }),
    },
  }
}

/**
 * Spec of the BatchRelease while a finished release keeps it for nodes left behind. It is paused with the Rollout and follows
 * the present policy, but keeps the steps it started with, whose sizes it has. A hold from an obstacle no longer applies. It
 * finishes, whatever batch it names: a controller that was frozen while the release ended may have recreated it in its
 * initial form (G8). Where other definitions have pruned it, it gets back what names the release, and a hold for its failure (G9).
 */
export function overReleaseSpec({ spec }: BatchRelease, view: RolloutView): BatchReleaseSpec {
  const { rollout } = view
  const { retry } = acceptedActionsOf(rollout.status)
  const { hold: _lifted, retry: _ofRelease, left: _known, ...said } = withoutPolicyTerms(spec.tranche)
  const { analysis: _over, ...terms } = policyTerms(view)
  const nodes = withStepsOf(spec.tranche?.nodes, terms.nodes)
  const paused = rollout.spec.strategy.paused === true
  const { batchPartition: _reached, ...plan } = spec.releasePlan
  const { canaryStatus } = rollout.status ?? {}
  const isPruned = said.release === undefined && canaryStatus !== undefined
  const named = isPruned ? { release: releaseId(rollout), canaryRevision: canaryStatus.canaryRevision } : {}
  const now = {
    ...named,
    ...(canaryStatus && holdForFailure(view, canaryStatus)),
    nodes,
    paused,
    rolloutGeneration: rollout.metadata.generation ?? 0,
    ...(!isRollback(rollout) && { left: leftAtEnd(view, { tranche: { ...spec.tranche, ...named } }) }),
    ...(retry !== undefined && { retry }),
  }
  const tranche = { ...said, ...terms, ...now }
  return { ...spec, releasePlan: { ...plan, finalizingPolicy: 'WaitResume' }, tranche }
}

function withStepsOf(begun: PolicyTerms['nodes'], now: PolicyTerms['nodes']): PolicyTerms['nodes'] {
  const { steps: _others, ...rules } = now ?? {}
  const nodes = begun?.steps === undefined ? rules : { ...rules, steps: begun.steps }
  return Object.keys(nodes).length === 0 ? undefined : nodes
}

/**
 * A release promoted in full waits for neither soaks nor analyses, and a rollback does not depend on measurements.
 */
function termsOf(view: RolloutView, canary: CanaryStatus): PolicyTerms {
  const isFull = acceptedActionsOf(view.rollout.status).promote?.full === true
  const { analysis, stepSoakSeconds, finalSettleSeconds, ...terms } = policyTerms(view)
  if (isFull) return { ...terms, finalSettleSeconds: 0 }
  return { ...terms, stepSoakSeconds, finalSettleSeconds, ...(!isReturn(canary) && { analysis }) }
}

/** A release that is being ended needs no steps: invalid ones do not keep the Rollout from being deleted. */
function sizesOf(rollout: Rollout): Pick<BatchReleaseSpec['releasePlan'], 'batches' | 'failureThreshold'> {
  if (endsRelease(rollout) && validateSpec(rollout, { desired: null }).length > 0) return { batches: [{ canaryReplicas: '100%' }] }
  const { failureThreshold } = rollout.spec.strategy.canary ?? {}
  const batches = batchesOf(rollout)
  return { batches, ...(failureThreshold !== undefined && { failureThreshold }) }
}

/** Step sizes as batches; a step without a size takes all of its nodes. */
export function batchesOf(rollout: Rollout): NonNullable<BatchReleaseSpec['releasePlan']['batches']> {
  return stepsOf(rollout).map(({ replicas = '100%' }) => ({ canaryReplicas: replicas }))
}

function isReleasing(rollout: Rollout, canary: CanaryStatus): boolean {
  const phase = rollout.status?.phase
  if (phase === 'Progressing') return true
  return (phase === 'Terminating' || phase === 'Disabling') && endsRelease(rollout) && isUnderWay(canary)
}

/** Whether a release was started and is not over. */
export function isUnderWay(canary: CanaryStatus): boolean {
  return canary.currentStepState !== 'Completed' || isFinalising(canary)
}

/** G7: a version that failed is stopped where only the status of the Rollout still has the verdict. */
function holdForFailure(view: RolloutView, canary: CanaryStatus): { readonly hold?: HeldBy } {
  const { rollout } = view
  const isBack = isReturn(canary) && isRollback(rollout)
  const failure = isBack ? null : lostFailure(view, { acceptedActions: acceptedActionsOf(rollout.status) })
  return failure === null ? {} : { hold: holdFor(rollout, failure) }
}

/** G12: a rolled-back revision is stopped as long as its hold is recorded. */
function holdOf(rollout: Rollout, { canaryRevision }: CanaryStatus): { readonly hold?: HeldBy } {
  const held = heldRevision(rollout, canaryRevision)
  if (held === undefined) return {}
  const message = `revision ${canaryRevision} ${held.reason === 'Failed' ? 'failed' : 'was rolled back'} at ${held.at}; ${commandText(rollout, 'retry', '--revision', canaryRevision)} lifts this`
  return { hold: { reason: 'RevisionHeld', id: canaryRevision, message: clipText(message, sizeLimits.message) } }
}

/** Nodes that a step, from 1, and those before it reach; all of its nodes where it has no size. */
export function stepReach(view: RolloutView, step: number): BatchReach {
  return batchReach(view.fleet, {
    plan: { batches: batchesOf(view.rollout) },
    nodes: nodeRulesFor(view.rollout, undefined),
    batch: step - 1,
  })
}

/** Whether the release returns to the former revision: no step pauses, unless the rollback is asked to walk the steps. */
export function isReturn({ canaryRevision, stableRevision }: CanaryStatus): boolean {
  return canaryRevision === stableRevision
}

/** Whether a rollback walks the steps with their pauses, instead of going back at once. */
export function isInBatches({ metadata }: Rollout): boolean {
  return metadata.annotations?.[rolloutAnnotations.rollbackInBatch] === 'true'
}

/** Steps of the canary strategy; empty without one. */
export function stepsOf(rollout: Rollout): readonly RolloutStep[] {
  return rollout.spec.strategy.canary?.steps ?? []
}

/** The next step, from 1; −1 after the last. */
export function nextIndex(index: number, steps: number): number {
  return index < steps ? index + 1 : -1
}

/** Whether the steps are done and the release is finishing; a pause in between does not change that. */
export function isFinalising({ finalisingStep }: CanaryStatus): boolean {
  return finalisingStep === 'ResumeWorkload'
}

/** Whether the spec has the step that the status names; not so after steps were removed. */
export function isWithinSteps(rollout: Rollout, { currentStepIndex }: CanaryStatus): boolean {
  return currentStepIndex >= 1 && currentStepIndex <= stepsOf(rollout).length
}

/** Whether two BatchRelease specs say the same. */
export function sameReleaseSpec(a: BatchReleaseSpec, b: BatchReleaseSpec): boolean {
  return JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b))
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, inOrder(member)]))
}
