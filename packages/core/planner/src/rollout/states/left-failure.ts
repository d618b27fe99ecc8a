import { batchScope, hasOldPod, isInScope } from '@tranche/fence'
import { policyTerms } from '../view/release-policy.ts'
import { summarizeBatchRelease } from '../release/batch-release-summary.ts'
import { standingFailure } from '../release/release-failure.ts'
import { commandText } from '../view/command-text.ts'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** What a failure on nodes that a release left means for the Rollout. */
export interface LeftFailure {
  readonly message: string
  /** Null until no deletion can be accepted any more (G9). */
  readonly stalled: RolloutState['stalled']
}

/**
 * A failure, after the end of a release, on nodes that it had left. Nothing is rolled back for it, whatever failure.action says,
 * because the version runs on the nodes of the release itself. The other nodes left keep their pods until a person decides.
 *
 * @returns null without such a failure
 */
export function leftFailure(view: RolloutView, state: Pick<RolloutState, 'canary' | 'acceptedActions'>): LeftFailure | null {
  const failure = standingFailure(view, state)
  if (failure === null) return null
  const seen = `revision ${state.canary.canaryRevision} failed on nodes that its release had left: ${failure.message}`
  if (!summarizeBatchRelease(view).stopped) return { message: `${seen}; waiting until no deletion can be accepted any more`, stalled: null }
  const { autoResume } = policyTerms(view).failure ?? {}
  const isLost = summarizeBatchRelease(view).failure === null
  const byItself =
    autoResume === undefined || isLost
      ? ''
      : `; it continues by itself when no more than ${failure.limit ?? 0} nodes have failed for ${autoResume} (failure.autoResume)`
  const others = hasOthersLeft(view)
  const [kept, then] = others ? ['; the other nodes left keep their pods', 'update them all the same'] : ['', 'accept that']
  const message = `${seen}${kept}; run ${commandText(view.rollout, 'retry')} to ${then}, or ${commandText(view.rollout, 'undo')} to release the earlier revision; or apply another template${byItself}`
  return { message, stalled: { reason: 'ReleaseFailed', message } }
}

/** Whether the release left nodes with an old pod that it would update. A failed one has a new pod. */
function hasOthersLeft({ fleet, release }: RolloutView): boolean {
  const { nodes: rules, canaryRevision = '' } = release?.spec.tranche ?? {}
  const scope = batchScope(rules, null)
  return fleet.nodes.some((node) => hasOldPod(node, canaryRevision) && isInScope(scope, node))
}
