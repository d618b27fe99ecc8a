import type { BatchRelease, BatchReleaseSpec, CanaryStatus, HeldBy, Rollout, RolloutStep } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { validateSpec } from '@tranche/validation'
import { type BatchReach, batchReach } from '../nodes/batch-reach.ts'
import { acceptedActionsOf } from './accepted-actions.ts'
import { commandText } from './command-text.ts'
import { heldRevision } from './held-revisions.ts'
import { endsRelease } from './on-delete.ts'
import { type PolicyTerms, policyTerms, withoutPolicyTerms } from './release-policy.ts'
import type { RolloutView } from './rollout-view.ts'

/**
 * What the BatchRelease should say, as the Rollout's status stands; null where no release runs.
 *
 * Steps count from 1 and batches from 0: this is the one place where they are converted. A last step below 100 % gets
 * an implicit final batch, which only finalizing reaches.
 */
export function releaseSpecFor(view: RolloutView): BatchReleaseSpec | null {
  const { rollout, daemonSet } = view
  const canary = rollout.status?.canaryStatus
  if (canary === undefined || daemonSet === undefined || !isReleasing(rollout, canary)) return null
  const retry = acceptedActionsOf(rollout.status).retry
  // What the status has seen beside this revision: the label of the DaemonSet may have come with the next template.
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
      rolloutGeneration: rollout.metadata.generation ?? 0,
      release: releaseId(rollout),
      ...termsOf(view, canary),
      ...holdOf(rollout, canary),
      ...(retry !== undefined && { retry }),
    },
  }
}

/**
 * What the BatchRelease of a release that is over should say, while it stays for nodes that are left: it is paused as the
 * Rollout is, and goes by the policy as it is now, but by the steps with which it began, whose sizes it has. What held it
 * while the Rollout could not be acted on holds it no longer. It finishes, whatever batch it names: who was frozen while the
 * release ended may have made it anew, as it was to begin with (G8).
 */
export function overReleaseSpec({ spec }: BatchRelease, view: RolloutView): BatchReleaseSpec {
  const { rollout } = view
  const { hold: _lifted, ...said } = withoutPolicyTerms(spec.tranche)
  const { analysis: _over, ...terms } = policyTerms(view)
  const nodes = withStepsOf(spec.tranche?.nodes, terms.nodes)
  const paused = rollout.spec.strategy.paused === true
  const { batchPartition: _reached, ...plan } = spec.releasePlan
  const tranche = { ...said, ...terms, nodes, paused, rolloutGeneration: rollout.metadata.generation ?? 0 }
  return { ...spec, releasePlan: { ...plan, finalizingPolicy: 'WaitResume' }, tranche }
}

function withStepsOf(begun: PolicyTerms['nodes'], now: PolicyTerms['nodes']): PolicyTerms['nodes'] {
  const { steps: _others, ...rules } = now ?? {}
  const nodes = begun?.steps === undefined ? rules : { ...rules, steps: begun.steps }
  return Object.keys(nodes).length === 0 ? undefined : nodes
}

/**
 * Who wants a release promoted in full waits neither for soaks nor for analyses; and the way back to what ran before rests
 * on no measurement.
 */
function termsOf(view: RolloutView, canary: CanaryStatus): PolicyTerms {
  const isFull = acceptedActionsOf(view.rollout.status).promote?.full === true
  const { analysis, stepSoakSeconds, finalSettleSeconds, ...terms } = policyTerms(view)
  if (isFull) return { ...terms, finalSettleSeconds: 0 }
  return { ...terms, stepSoakSeconds, finalSettleSeconds, ...(!isReturn(canary) && { analysis }) }
}

/** Who has a release ended needs no steps: those that break the rules do not keep the Rollout from going. */
function sizesOf(rollout: Rollout): Pick<BatchReleaseSpec['releasePlan'], 'batches' | 'failureThreshold'> {
  if (endsRelease(rollout) && validateSpec(rollout, { desired: null }).length > 0) return { batches: [{ canaryReplicas: '100%' }] }
  const { failureThreshold } = rollout.spec.strategy.canary ?? {}
  const batches = batchesOf(rollout)
  return { batches, ...(failureThreshold !== undefined && { failureThreshold }) }
}

/** The sizes of the steps as batches; all nodes of a step that names no size. */
export function batchesOf(rollout: Rollout): NonNullable<BatchReleaseSpec['releasePlan']['batches']> {
  return stepsOf(rollout).map(({ replicas = '100%' }) => ({ canaryReplicas: replicas }))
}

function isReleasing(rollout: Rollout, canary: CanaryStatus): boolean {
  const phase = rollout.status?.phase
  if (phase === 'Progressing') return true
  return (phase === 'Terminating' || phase === 'Disabling') && endsRelease(rollout) && isUnderWay(canary)
}

/** A release was begun and is not over. */
export function isUnderWay(canary: CanaryStatus): boolean {
  return canary.currentStepState !== 'Completed' || isFinalising(canary)
}

/** G12: what was taken back is stopped as long as it is remembered. */
function holdOf(rollout: Rollout, { canaryRevision }: CanaryStatus): { readonly hold?: HeldBy } {
  const held = heldRevision(rollout, canaryRevision)
  if (held === undefined) return {}
  const message = `revision ${canaryRevision} ${held.reason === 'Failed' ? 'failed' : 'was taken back'} at ${held.at}; ${commandText(rollout, 'retry', '--revision', canaryRevision)} lifts this`
  return { hold: { reason: 'RevisionHeld', id: canaryRevision, message } }
}

/** How far a step, from 1, reaches together with those before it; all of its nodes where it names no size. */
export function stepReach(view: RolloutView, step: number): BatchReach {
  return batchReach(view.fleet, { plan: { batches: batchesOf(view.rollout) }, nodes: policyTerms(view).nodes, batch: step - 1 })
}

/** Back to the revision that ran before: no step is worth a pause, unless a rollback is asked to walk them. */
export function isReturn({ canaryRevision, stableRevision }: CanaryStatus): boolean {
  return canaryRevision === stableRevision
}

/** A rollback walks the steps with their pauses, instead of going back at once. */
export function isInBatches({ metadata }: Rollout): boolean {
  return metadata.annotations?.[rolloutAnnotations.rollbackInBatch] === 'true'
}

/** The steps of the canary strategy; none where there is none. */
export function stepsOf(rollout: Rollout): readonly RolloutStep[] {
  return rollout.spec.strategy.canary?.steps ?? []
}

/** The step after this one, from 1; −1 after the last. */
export function nextIndex(index: number, steps: number): number {
  return index < steps ? index + 1 : -1
}

/** The steps are done and the release is being finished; a pause in between does not change that. */
export function isFinalising({ finalisingStep }: CanaryStatus): boolean {
  return finalisingStep === 'ResumeWorkload'
}

/** The status names a step that the spec has: after steps were taken out of the spec it may not. */
export function isWithinSteps(rollout: Rollout, { currentStepIndex }: CanaryStatus): boolean {
  return currentStepIndex >= 1 && currentStepIndex <= stepsOf(rollout).length
}

/** One release of one revision of one DaemonSet: what it is called in `spec.tranche.release`. */
export function releaseId({ metadata, status }: Rollout): string {
  const { canaryRevision = '', observedWorkloadGeneration = 0 } = status?.canaryStatus ?? {}
  return `${metadata.uid}/${canaryRevision}/${status?.releaseGeneration ?? observedWorkloadGeneration}`
}

/** @returns what {@link releaseId} made the id of; empty texts where there is none */
export function partsOfReleaseId(id = ''): Readonly<Record<'uid' | 'revision' | 'generation', string>> {
  const [uid = '', revision = '', generation = ''] = id.split('/')
  return { uid, revision, generation }
}

/** The spec of the BatchRelease says the same already. */
export function sameReleaseSpec(a: BatchReleaseSpec, b: BatchReleaseSpec): boolean {
  return JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b))
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, inOrder(member)]))
}
