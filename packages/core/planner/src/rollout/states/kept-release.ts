import type { BatchRelease } from '@tranche/api-schema'
import { BATCH_RELEASE_FINALIZER, parseTime } from '@tranche/kube-types'
import { isForeign } from '../release/batch-release-summary.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Time (ms) in which the program behind a finalizer may end its work, before a person must look. */
const PATIENCE_MS = 60_000
/** Maximum number of finalizers in a message. */
const NAMED = 3

/**
 * The state that names the finalizers of other programs which keep a deleted BatchRelease. The Rollout waits for that deletion before it releases
 * a version, follows another DaemonSet, or ends. An obstacle or a stop that is reported already stays.
 */
export function withKeptRelease(view: RolloutView, state: RolloutState): RolloutState {
  const { release } = view
  if (release === undefined || state.stalled !== null || isForeign(view) || !isAwaited(view, release, state)) return state
  const { deletionTimestamp, finalizers = [] } = release.metadata
  if (deletionTimestamp === undefined || finalizers.length === 0 || finalizers.includes(BATCH_RELEASE_FINALIZER)) return state
  const message = `waiting for the BatchRelease ${release.metadata.name} to be deleted: finalizers of other programs keep it (${listed(finalizers)}); remove them once their work is done`
  const leftMs = (parseTime(deletionTimestamp) ?? view.nowMs) + PATIENCE_MS - view.nowMs
  return leftMs > 0 ? { ...state, message, recheckAfterMs: leftMs } : { ...state, message, stalled: { reason: 'ForeignControl', message } }
}

/** A BatchRelease that is left after its release has ended holds nothing until the next release. */
function isAwaited({ rollout }: RolloutView, { spec }: BatchRelease, { phase }: RolloutState): boolean {
  return (
    phase === 'Progressing' || phase === 'Disabling' || phase === 'Terminating' || spec.workloadRef?.name !== rollout.spec.workloadRef.name
  )
}

function listed(finalizers: readonly string[]): string {
  const more = finalizers.length > NAMED ? ` and ${finalizers.length - NAMED} more` : ''
  return `${finalizers.slice(0, NAMED).join(', ')}${more}`
}
