import type { BatchReleaseSpec, Rollout, RolloutStatus } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/flight'
import { type DaemonSet, daemonSetAnnotations, ROLLOUT_FINALIZER } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import { type DaemonSetChange, daemonSetPatch, takeOverStrategy } from '../release/daemon-set-patch.ts'
import { releaseSpecFor, sameReleaseSpec } from './release-spec.ts'
import type { NextStatus } from './course.ts'
import { nextRolloutStatus } from './rollout-status.ts'
import type { RolloutView } from './rollout-view.ts'
import { mayWriteStatus } from './status-writes.ts'

/** The one write that a pass over a Rollout should make. */
export type RolloutPlan =
  | { readonly kind: 'setFinalizer'; readonly present: boolean }
  | { readonly kind: 'patchDaemonSet'; readonly why: 'bind' | 'unbind'; readonly patch: readonly PatchOperation[] }
  | { readonly kind: 'createRelease'; readonly spec: BatchReleaseSpec }
  | { readonly kind: 'updateRelease'; readonly spec: BatchReleaseSpec }
  | { readonly kind: 'deleteRelease' }
  /** Replaces the status, with the resourceVersion that was read: what somebody wrote in between is never lost (G10). */
  | { readonly kind: 'writeStatus'; readonly status: RolloutStatus; readonly warning: string | null }
  | { readonly kind: 'wait'; readonly for: string; readonly recheckAfterMs: number | null }

/**
 * Decides what to do next for one Rollout. Pure.
 *
 * The status is decided first and written; what follows from it (the BatchRelease's spec) is worked out from the status
 * that stands, so a pass that dies between two writes is simply gone on with.
 */
export function planRollout(view: RolloutView): RolloutPlan {
  if (!isDaemonSetRef(view.rollout.spec.workloadRef)) return wait('another controller: the workload is no DaemonSet')
  if (view.rollout.metadata.deletionTimestamp !== undefined) return planDeletion(view)
  if (!hasFinalizer(view.rollout)) return { kind: 'setFinalizer', present: true }
  const next = nextRolloutStatus(view)
  return planBinding(view, next) ?? (next.blocked ? planHold(view) : planRelease(view)) ?? planStatus(view, next)
}

/** Ends our control: the BatchRelease stops and lets go of the DaemonSet, then the binding goes, then the finalizer. */
function planDeletion(view: RolloutView): RolloutPlan {
  const { release, daemonSet, rollout } = view
  if (!hasFinalizer(rollout)) return wait('its deletion')
  if (release !== undefined) {
    return release.metadata.deletionTimestamp === undefined
      ? { kind: 'deleteRelease' }
      : (planTerminating(view) ?? wait('its BatchRelease to stop'))
  }
  return planUnbinding(rollout, daemonSet) ?? { kind: 'setFinalizer', present: false }
}

function planTerminating(view: RolloutView): RolloutPlan | null {
  const next = nextRolloutStatus(view)
  return mayWriteStatus(view, next.status) ? { kind: 'writeStatus', status: next.status, warning: null } : null
}

/** Binds the DaemonSet before anything else is said of it; unbinds it when the Rollout is disabled and its release is gone. */
function planBinding(view: RolloutView, next: NextStatus): RolloutPlan | null {
  const { rollout, daemonSet, release } = view
  if (rollout.spec.disabled === true) {
    if (release !== undefined) return release.metadata.deletionTimestamp === undefined ? { kind: 'deleteRelease' } : null
    return planUnbinding(rollout, daemonSet)
  }
  if (daemonSet === undefined || next.blocked) return null
  const patch = daemonSetPatch(daemonSet, binding(view, daemonSet))
  return patch === null ? null : { kind: 'patchDaemonSet', why: 'bind', patch }
}

function binding({ rollout, strategyScope }: RolloutView, daemonSet: DaemonSet): DaemonSetChange {
  const takeOver = strategyScope === 'binding' ? takeOverStrategy(daemonSet) : {}
  return {
    ...takeOver,
    annotations: { ...takeOver.annotations, [daemonSetAnnotations.rollout]: rollout.metadata.name, [daemonSetAnnotations.frozen]: null },
    workloadTypeLabel: 'set',
  }
}

/** Gives the strategy back where nothing was left half released; what was frozen stays frozen. */
function planUnbinding(rollout: Rollout, daemonSet: DaemonSet | undefined): RolloutPlan | null {
  const annotations = daemonSet?.metadata.annotations
  if (daemonSet === undefined || annotations?.[daemonSetAnnotations.rollout] !== rollout.metadata.name) return null
  const original = annotations[daemonSetAnnotations.originalUpdateStrategy]
  const frozen = daemonSetAnnotations.frozen in annotations
  const patch = daemonSetPatch(daemonSet, {
    annotations: {
      [daemonSetAnnotations.rollout]: null,
      [daemonSetAnnotations.inProgressing]: null,
      ...(!frozen && { [daemonSetAnnotations.originalUpdateStrategy]: null }),
    },
    workloadTypeLabel: 'remove',
    ...(!frozen && original !== undefined && { strategy: original }),
  })
  return patch === null ? null : { kind: 'patchDaemonSet', why: 'unbind', patch }
}

/** Makes the BatchRelease what the status says it should be. */
function planRelease(view: RolloutView): RolloutPlan | null {
  const { release } = view
  const spec = releaseSpecFor(view)
  if (spec === null) {
    const over = release?.status?.phase === 'Completed' && release.metadata.deletionTimestamp === undefined
    return over && view.rollout.status?.phase === 'Healthy' ? { kind: 'deleteRelease' } : null
  }
  if (release === undefined) return { kind: 'createRelease', spec }
  if (release.metadata.deletionTimestamp !== undefined) return null
  return sameReleaseSpec(release.spec, spec) ? null : { kind: 'updateRelease', spec }
}

/** A spec that cannot be acted on stops the release as it runs, whatever the spec would make of it. */
function planHold({ release }: RolloutView): RolloutPlan | null {
  if (release === undefined || release.metadata.deletionTimestamp !== undefined || release.spec.tranche?.paused === true) return null
  return { kind: 'updateRelease', spec: { ...release.spec, tranche: { ...release.spec.tranche, paused: true } } }
}

function planStatus(view: RolloutView, next: NextStatus): RolloutPlan {
  if (mayWriteStatus(view, next.status)) return { kind: 'writeStatus', status: next.status, warning: next.warning }
  return wait(next.status.message ?? '', next.recheckAfterMs)
}

function hasFinalizer(rollout: Rollout): boolean {
  return rollout.metadata.finalizers?.includes(ROLLOUT_FINALIZER) ?? false
}

function wait(what: string, recheckAfterMs: number | null = null): RolloutPlan {
  return { kind: 'wait', for: what, recheckAfterMs }
}
