import { daemonSetAnnotations } from '@tranche/kube-types'
import { isTemplateUnkept, touchPatch, untilTouchMs } from '../release/missing-revision.ts'
import type { RolloutPlan } from './view/rollout-plan.ts'
import type { RolloutView } from './view/rollout-view.ts'

/** Whether no ControllerRevision of the bound DaemonSet holds its template, though its controller has observed it. */
export function isRevisionMissing(view: Pick<RolloutView, 'rollout' | 'daemonSet' | 'revisions' | 'fleet'>): boolean {
  const { rollout, daemonSet, revisions, fleet } = view
  if (daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout] !== rollout.metadata.name) return false
  return isTemplateUnkept({ daemonSet, revisions, fleet })
}

/** Replaces a longer wait: a change of the DaemonSet makes its controller sync it again. */
export function planMissingRevision(view: RolloutView, plan: RolloutPlan): RolloutPlan {
  const { daemonSet, kruise, revisionMissingSinceMs: sinceMs, monotonicMs } = view
  // Tranche writes nothing while OpenKruise's controller is active.
  if (plan.kind !== 'wait' || kruise !== null || daemonSet === undefined || sinceMs === null || sinceMs === undefined) return plan
  const leftMs = untilTouchMs(sinceMs, monotonicMs)
  if (leftMs > 0) return { ...plan, recheckAfterMs: Math.min(plan.recheckAfterMs ?? leftMs, leftMs) }
  const patch = touchPatch(daemonSet, view.nowMs)
  return patch === null ? plan : { kind: 'patchDaemonSet', why: 'touch', daemonSet, patch, event: null }
}
