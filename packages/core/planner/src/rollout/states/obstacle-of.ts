import { heldTemplate } from '../held/held-revisions.ts'
import { presentTemplateText } from '../held/revision-text.ts'
import { daemonSetAnnotations, STEP_NODES_ANNOTATION } from '@tranche/kube-types'
import { problemsText, validateBinding, validateSettings, validateSpec } from '@tranche/validation'
import { kruiseActiveText } from '../../release/view/kruise-activity.ts'
import type { RolloutState, Obstacle } from '../view/rollout-state.ts'
import { policyObstacle } from '../view/release-policy.ts'
import { isOnTheWayBack, isRolledBack } from '../held/way-back.ts'
import { isForeign } from '../release/batch-release-summary.ts'
import { isFinalising, isInBatches } from '../release/release-spec.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { hasLostStepNodes } from '../view/step-nodes.ts'

/** In order of precedence: the first one found is reported. */
const obstacles: readonly ((view: RolloutView) => Obstacle | null)[] = [
  foreignRelease,
  activeKruise,
  outdatedDefinitions,
  lostStepNodes,
  brokenRules,
  missingWorkload,
  unusablePolicy,
  unpinnedConfig,
]

/** @returns what prevents acting on the Rollout; null where nothing does, and its DaemonSet exists */
export function obstacleOf(view: RolloutView): Obstacle | null {
  for (const find of obstacles) {
    const obstacle = find(view)
    if (obstacle !== null) return obstacle
  }
  return null
}

/** The unchanged state, stalled by the obstacle. */
export function stalledState(before: RolloutState, obstacle: Obstacle): RolloutState {
  const { reason, message, recheckAfterMs } = obstacle
  return {
    ...before,
    message: stalledText(before, obstacle),
    stalled: { reason, message },
    obstacle,
    recheckAfterMs: recheckAfterMs ?? before.recheckAfterMs,
  }
}

/** Says what the nodes of a revision that was rolled back meanwhile wait for. */
function stalledText(
  { phase, canary: { canaryRevision }, heldRevisions }: RolloutState,
  { message, takesAborts = false }: Obstacle,
): string {
  const isRolledBack = phase === 'Progressing' && heldRevisions.some(({ revision }) => revision === canaryRevision)
  if (!takesAborts || !isRolledBack) return message
  return `revision ${canaryRevision} was rolled back; no pod is deleted until the policy can be used: ${message}`
}

/**
 * A release whose pods would read config that may change under them holds, like one without its policy. A rollback does not: its condition
 * says what could not be pinned. Content that was never pinned holds a rollback, too. A blocked template releases nothing; a `retry` lifts the block, and its config is pinned then.
 */
export function unpinnedConfig(view: RolloutView): Obstacle | null {
  const { configHold, daemonSet, rollout } = view
  if (configHold === undefined) return null
  const { message, holdsRollback = false } = configHold
  if (isOnTheWayBack(view) && !holdsRollback) return null
  if (daemonSet !== undefined && heldTemplate(rollout.status?.heldRevisions ?? [], daemonSet) !== undefined) return null
  const obstacle = { reason: 'ConfigUnpinned', binds: true, takesAborts: true } as const
  if (isRolledBack(view) && !holdsRollback) return { ...obstacle, message, holds: false }
  return { ...obstacle, message: `${presentTemplateText(view)} is held: ${message}` }
}

function foreignRelease(view: RolloutView): Obstacle | null {
  if (!isForeign(view)) return null
  const { name } = view.rollout.metadata
  return {
    reason: 'ForeignControl',
    message: `the BatchRelease ${name} exists and does not belong to this Rollout; delete that BatchRelease first`,
  }
}

/** While OpenKruise's controller acts, Tranche does not. */
export function activeKruise({ kruise }: Pick<RolloutView, 'kruise'>): Obstacle | null {
  return kruise === null ? null : { reason: 'OpenKruiseActive', message: kruiseActiveText(kruise), recheckAfterMs: kruise.activeForMs }
}

/** Definitions that lack our fields hide what is stored, and drop it with each write. */
export function outdatedDefinitions({ schemaGap }: Pick<RolloutView, 'schemaGap'>): Obstacle | null {
  return schemaGap === undefined ? null : { reason: 'CRDOutdated', message: schemaGap }
}

/** Nothing is deleted by steps that name more nodes than the user's, so an abort is possible (G9). Nor does it hold a rollback without steps. */
function lostStepNodes(view: RolloutView): Obstacle | null {
  const { rollout } = view
  const { canaryStatus } = rollout.status ?? {}
  if (!hasLostStepNodes(rollout) || (canaryStatus !== undefined && isFinalising(canaryStatus))) return null
  if (isOnTheWayBack(view) && !isInBatches(rollout)) return null
  const message = `other programs have removed nodes from spec.strategy.canary.steps, under other CustomResourceDefinitions; apply the manifest of the Rollout again. If the steps are for all nodes, remove the annotation ${STEP_NODES_ANNOTATION}, from the manifest too`
  return { reason: 'CRDOutdated', message, binds: true, takesAborts: true }
}

/** Sizes are not compared with the nodes of a DaemonSet that another Rollout holds: a change of nodes wakes only the holder. */
function brokenRules({ rollout, others, daemonSet, fleet }: RolloutView): Obstacle | null {
  const boundTo = daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout] ?? null
  const taken = validateBinding(rollout, others, boundTo)
  const desired = daemonSet === undefined || taken.length > 0 ? null : fleet.desired
  const problems = [...validateSpec(rollout, { desired }), ...validateSettings(rollout), ...taken]
  const [first] = problems
  return first === undefined ? null : { reason: first.reason, message: problemsText(problems) }
}

function missingWorkload({ rollout, daemonSet }: RolloutView): Obstacle | null {
  if (daemonSet !== undefined) return null
  const message = `spec.workloadRef.name is "${rollout.spec.workloadRef.name}": there is no such DaemonSet in namespace ${rollout.metadata.namespace ?? ''}; create it or name another one`
  return { reason: 'WorkloadNotFound', message }
}

/**
 * A release never follows anything laxer than its policy: without the policy, it holds. That deletes nothing, so an abort is
 * possible (G9).
 */
export function unusablePolicy(view: RolloutView): Obstacle | null {
  const obstacle = policyObstacle(view)
  return obstacle === null ? null : { ...obstacle, binds: true, takesAborts: true }
}
