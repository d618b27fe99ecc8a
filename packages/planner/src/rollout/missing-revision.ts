import { type DaemonSet, daemonSetAnnotations, TOUCHED_ANNOTATION } from '@tranche/kube-types'
import { daemonSetPatch } from '../release/daemon-set-patch.ts'
import { discoverRevisions } from '../release/discover-revisions.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import type { RolloutView } from './rollout-view.ts'

/** For how long the ControllerRevision of the template may be missing before the DaemonSet is touched, and between two touches. Milliseconds. */
const PATIENCE_MS = 30_000

/**
 * Whether the DaemonSet controller has observed the template, and no ControllerRevision of this DaemonSet holds it. Usually our watch lags.
 * A DaemonSet that was deleted and created again can stay so: its controller uses the revision of the one before until the garbage
 * collector has taken that, and makes another only when it looks at the DaemonSet again.
 */
export function isRevisionMissing(view: Pick<RolloutView, 'rollout' | 'daemonSet' | 'revisions' | 'fleet'>): boolean {
  const { rollout, daemonSet, revisions, fleet } = view
  if (daemonSet?.metadata.annotations?.[daemonSetAnnotations.rollout] !== rollout.metadata.name) return false
  const discovery = discoverRevisions({ daemonSet, revisions, fleet, lastStable: undefined })
  return discovery.kind === 'pending' && discovery.why === 'revision'
}

/** In place of waiting longer: a change of the DaemonSet makes its controller look again. */
export function planMissingRevision(view: RolloutView, plan: RolloutPlan): RolloutPlan {
  const { daemonSet, peer, revisionMissingSinceMs: sinceMs, monotonicMs } = view
  // Beside an active OpenKruise controller nothing of ours acts.
  if (plan.kind !== 'wait' || peer !== null || daemonSet === undefined || sinceMs === null || sinceMs === undefined) return plan
  const leftMs = sinceMs + PATIENCE_MS - monotonicMs
  if (leftMs > 0) return { ...plan, recheckAfterMs: Math.min(plan.recheckAfterMs ?? leftMs, leftMs) }
  return touch(view, daemonSet) ?? plan
}

function touch({ nowMs }: RolloutView, daemonSet: DaemonSet): RolloutPlan | null {
  const patch = daemonSetPatch(daemonSet, { annotations: { [TOUCHED_ANNOTATION]: new Date(nowMs).toISOString() } })
  return patch === null ? null : { kind: 'patchDaemonSet', why: 'touch', daemonSet, patch, event: null }
}
