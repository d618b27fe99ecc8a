import type { RolloutSummary } from '@tranche/api-schema'
import { isUnreleased, resolveLimit, stepsOf } from '@tranche/planner'
import { tallyNodes } from '@tranche/fence'
import { validateDaemonSetBudget } from '@tranche/validation'
import { needOf } from './need-of.ts'
import { conditionIn, outcomeIn } from './outcome-of.ts'
import { OTHER_WORKLOAD, otherWorkload } from './other-workload.ts'
import { imagesOf, isReleaseUnderWay, isYetToStart, type Outline, outlineOf, progressOf, skippedNodes, stableImagesOf } from './outline.ts'
import { presentMessage, presentWaitingFor } from './present-message.ts'
import type { ReleaseFacts } from './release-facts.ts'
import { remainingOf } from './remaining.ts'
import { ofVersionBefore } from './standstill.ts'

/** One-line summary of a Rollout. Incremental: costs only the changes of its nodes since the last call. */
export function summarizeRollout(facts: ReleaseFacts): RolloutSummary {
  return summaryOf(outlineOf(facts))
}

/**
 * Whether time alone cannot change the summary: no release runs, no user is needed, and every counted pod is available. Then it holds until
 * one of its objects changes.
 */
export function isTimeless({ outcome, need, waitingFor, remaining, nodes }: RolloutSummary): boolean {
  if (outcome !== 'Done' && outcome !== 'RolledBack') return false
  if (need !== undefined || waitingFor !== undefined || remaining !== undefined) return false
  return nodes.unavailable === 0 && nodes.updated === nodes.updatedAvailable
}

/** The same as {@link summarizeRollout}, from an outline. */
export function summaryOf(outline: Outline): RolloutSummary {
  const { facts, canary, stable } = outline
  const { rollout } = facts
  const { metadata, spec, status } = rollout
  const outcome = outcomeIn(outline)
  const need = needOf(outline, outcome)
  const waitingFor = presentWaitingFor(outline)
  const limit = limitOf(outline)
  const other = otherWorkload(rollout)
  const from = isReleaseUnderWay(rollout) && !rollsNothingBack(outline) ? status?.rollbackFrom : undefined
  const stableImages = stableImagesOf(outline)
  const startedAt = startOf(outline)
  const remaining = other === null ? remainingOf(outline, outcome) : undefined
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    daemonSet: spec.workloadRef.name,
    phase: status?.phase ?? '',
    reason: other === null ? reasonOf(outline) : OTHER_WORKLOAD,
    outcome,
    message:
      other ??
      ofVersionBefore(outline, outcome)?.message ??
      presentMessage(outline) ??
      'no controller has observed it yet: is the controller running?',
    ...(waitingFor !== undefined && other === null && { waitingFor }),
    ...(need !== undefined && { need }),
    paused: spec.strategy.paused === true,
    disabled: spec.disabled === true,
    ...stepOf(outline),
    ...(stable !== undefined && { stableRevision: stable }),
    ...(canary !== '' && { canaryRevision: canary }),
    ...(from !== undefined && { rollbackFrom: from }),
    images: imagesOf(outline),
    ...(stableImages !== undefined && { stableImages }),
    nodes: countsOf(outline),
    ...(limit !== undefined && { maxUnavailable: limit }),
    ...(facts.notBound !== undefined && { notBound: facts.notBound }),
    createdAt: metadata.creationTimestamp ?? '',
    ...(startedAt !== undefined && { releaseStartedAt: startedAt }),
    ...(remaining !== undefined && { remaining }),
    resourceVersion: metadata.resourceVersion,
  }
}

/** Start time of the release without a result; undefined if none runs. */
function startOf({ facts }: Outline): string | undefined {
  const latest = facts.rollout.status?.releases?.at(-1)
  return latest?.result === undefined ? latest?.startedAt : undefined
}

function reasonOf(outline: Outline): string {
  const stalled = conditionIn(outline, 'Stalled')
  return stalled?.status === 'True' ? stalled.reason : (conditionIn(outline, 'Progressing')?.reason ?? '')
}

/** Whether a template that was not released gives way to the one that every node runs. */
function rollsNothingBack(outline: Outline): boolean {
  const { facts, fleet } = outline
  const { rollbackFrom } = facts.rollout.status ?? {}
  if (rollbackFrom === undefined || !isUnreleased(facts.rollout, rollbackFrom)) return false
  return progressOf({ ...outline, batch: null }).updated >= fleet.desired
}

/** Omits the step of the first status, which exists before any release, and that of a return without a release. */
function stepOf(outline: Outline): Pick<RolloutSummary, 'step'> {
  const { rollout } = outline.facts
  const { currentStepIndex: index, currentStepState: state, lastUpdateTime: since } = rollout.status?.canaryStatus ?? {}
  if (index === undefined || index < 1 || state === undefined || conditionIn(outline, 'Progressing') === undefined) return {}
  if (rollsNothingBack(outline) || isYetToStart(outline)) return {}
  return { step: { index, count: stepsOf(rollout).length, state, ...(since !== undefined && { since }) } }
}

function countsOf(outline: Outline): RolloutSummary['nodes'] {
  const { facts, fleet, canary, minReadyMs, failure } = outline
  const progress = progressOf(outline)
  const { unavailable } = tallyNodes(fleet, { revision: canary, minReadyMs, monotonicMs: facts.monotonicMs })
  return {
    desired: fleet.desired,
    updated: progress.updated,
    updatedAvailable: progress.updatedAvailable,
    unavailable: unavailable.length,
    failed: failure?.count ?? failure?.nodes.length ?? 0,
    leaked: facts.rollout.status?.leaked?.count ?? 0,
    skipped: skippedNodes(progress).length,
    dead: progress.exemption.dead.length,
    exempt: progress.exemption.names.size,
  }
}

/** The budget in nodes; undefined when it allows none. */
function limitOf({ facts: { daemonSet }, fleet, release }: Outline): number | undefined {
  if (daemonSet === undefined) return undefined
  const override = release?.spec.tranche?.maxUnavailable
  const isNothing = validateDaemonSetBudget(daemonSet, fleet.desired, override).length > 0
  return isNothing ? 0 : resolveLimit(daemonSet, fleet.desired, override)
}
