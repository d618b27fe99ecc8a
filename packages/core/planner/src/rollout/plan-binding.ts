import { type DaemonSet, daemonSetAnnotations, TOUCHED_ANNOTATION } from '@tranche/kube-types'
import { hasOldPod } from '@tranche/fence'
import { type DaemonSetChange, daemonSetPatch, originalStrategy, strategyOf, takeOverStrategy } from '../release/view/daemon-set-patch.ts'
import { controlledBy } from '../release/view/release-view.ts'
import { isMidSurge } from '../release/progress/strategy-drift.ts'
import { discoverRevisions, type FoundRevisions } from '../release/view/discover-revisions.ts'
import { heldHashes } from './held/held-revisions.ts'
import { frozenText } from './states/frozen-text.ts'
import { isRevisionMissing } from './missing-revision.ts'
import { type RolloutPlan, wait } from './view/rollout-plan.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** Binds the DaemonSet to the Rollout; null when it is bound. */
export function bind(view: RolloutView, daemonSet: DaemonSet): RolloutPlan | null {
  const patch = daemonSetPatch(daemonSet, binding(view, daemonSet))
  return patch === null ? null : { kind: 'patchDaemonSet', why: 'bind', daemonSet, patch, event: null }
}

/**
 * A release in charge manages the strategy itself: it counts who changes it (G11). A node with two pods also delays it: under
 * `OnDelete` the DaemonSet controller would delete the newer pod.
 */
function binding(view: RolloutView, daemonSet: DaemonSet): DaemonSetChange {
  const { rollout, fleet, strategyScope } = view
  const mayTakeOver = strategyScope === 'binding' && controlledBy(daemonSet) === undefined && !isMidSurge(fleet)
  const takeOver = mayTakeOver ? takeOverStrategy(daemonSet) : {}
  // The frozen annotation says where to resume: it stays until a release resumes there, or nothing is left to release.
  const thawed = rollout.status?.phase === 'Healthy' ? { [daemonSetAnnotations.frozen]: null } : {}
  const isTouched = TOUCHED_ANNOTATION in (daemonSet.metadata.annotations ?? {})
  const seen = isTouched && !isRevisionMissing(view) ? { [TOUCHED_ANNOTATION]: null } : {}
  return {
    ...takeOver,
    annotations: { ...takeOver.annotations, [daemonSetAnnotations.rollout]: rollout.metadata.name, ...thawed, ...seen },
    workloadTypeLabel: 'set',
  }
}

/** Restores the strategy where no node runs an old pod; else, or where it was frozen already, changes nothing. */
export function planUnbinding(view: RolloutView): RolloutPlan | null {
  const { daemonSet, rollout } = view
  const annotations = daemonSet?.metadata.annotations
  if (daemonSet === undefined || annotations?.[daemonSetAnnotations.rollout] !== rollout.metadata.name) return null
  const change = unbinding(view, daemonSet)
  if (change === null) return wait('the DaemonSet controller to observe the latest generation')
  const patch = daemonSetPatch(daemonSet, change)
  if (patch === null) return null
  const frozen = frozenText(view, daemonSet, change)
  const event = frozen === null ? null : ({ type: 'Warning', reason: 'Frozen', message: frozen } as const)
  return { kind: 'patchDaemonSet', why: 'unbind', daemonSet, patch, event }
}

/** Null while it is unknown which pods are old. */
function unbinding(view: RolloutView, daemonSet: DaemonSet): DaemonSetChange | null {
  const unbound = {
    annotations: {
      [daemonSetAnnotations.rollout]: null,
      [daemonSetAnnotations.inProgressing]: null,
      [daemonSetAnnotations.reverted]: null,
      [TOUCHED_ANNOTATION]: null,
    },
    workloadTypeLabel: 'remove',
  } as const
  const annotations = daemonSet.metadata.annotations ?? {}
  if (!(daemonSetAnnotations.originalUpdateStrategy in annotations) || daemonSetAnnotations.frozen in annotations) return unbound
  const original = originalStrategy(daemonSet)
  const { status, metadata } = view.rollout
  const known = {
    lastStable: status?.stableRevision,
    rolloutCreatedAt: metadata.creationTimestamp,
    blocked: heldHashes(status?.heldRevisions ?? []),
  }
  const discovery = discoverRevisions({ daemonSet, revisions: view.revisions, fleet: view.fleet, ...known })
  if (discovery.kind === 'pending') return null
  const old = nodesToFreeze(view, discovery)
  // Where the type is no longer OnDelete, a user has let the native controller continue: there is nothing to freeze.
  if (old > 0 && original !== 'OnDelete' && strategyOf(daemonSet) === 'OnDelete') {
    const at = new Date(view.nowMs).toISOString()
    const frozen = JSON.stringify({ revision: discovery.canary, stable: discovery.stable, nodesLeft: old, at })
    return { ...unbound, annotations: { ...unbound.annotations, [daemonSetAnnotations.frozen]: frozen } }
  }
  return {
    ...unbound,
    annotations: { ...unbound.annotations, [daemonSetAnnotations.originalUpdateStrategy]: null },
    ...(original !== undefined && { strategy: original }),
  }
}

/**
 * Number of nodes that run an old pod. Nodes that are not desired count while the version is not the stable one: Kubernetes would update
 * them once they are desired again, without an approval (G3).
 */
function nodesToFreeze({ fleet }: RolloutView, { canary, stable }: FoundRevisions): number {
  return fleet.nodes.filter((node) => (node.desired || stable !== canary) && hasOldPod(node, canary)).length
}
