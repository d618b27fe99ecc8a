import { LEFT_REVISIONS_MAX, type RolloutStatus } from '@tranche/api-schema'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * Revisions that the last completed release left behind on nodes, such as dead ones: it reached every node that it could. Where a Rollout
 * has released no other revision yet, these are all revisions but the stable one, because no release of it brought them. A revision that is
 * released again leaves the list: its pods may be from that release then, which may take nodes down.
 *
 * @returns at most {@link LEFT_REVISIONS_MAX}, those of the most nodes first
 */
export function leftRevisions({ rollout, fleet }: Pick<RolloutView, 'rollout' | 'fleet'>, state: LeftState): readonly string[] {
  const before = rollout.status
  const left = hasCompleted(before, state) ? revisionsOn(fleet) : (before?.leftRevisions ?? [])
  return left
    .filter((revision) => revision !== state.stableRevision && revision !== state.canary.canaryRevision)
    .slice(0, LEFT_REVISIONS_MAX)
}

type LeftState = Pick<RolloutState, 'stableRevision' | 'phase'> & { readonly canary: Pick<RolloutState['canary'], 'canaryRevision'> }

/** Whether a release has just completed. A rollback brings no other stable revision. */
function hasCompleted(before: RolloutStatus | undefined, { phase, stableRevision }: LeftState): boolean {
  if (phase !== 'Healthy' || before?.phase === 'Healthy') return false
  return before?.stableRevision !== stableRevision || (before?.releases ?? []).every(({ revision }) => revision === stableRevision)
}

/** Revisions of the pods of desired nodes, those of the most nodes first; terminating ones remain on dead nodes. */
function revisionsOn(fleet: RolloutView['fleet']): readonly string[] {
  const counts = new Map<string, number>()
  for (const { desired, pods } of fleet.nodes)
    for (const hash of new Set(desired ? pods.map((pod) => pod.hash) : []))
      if (hash !== undefined) counts.set(hash, (counts.get(hash) ?? 0) + 1)
  return [...counts].toSorted(([a, nodes], [b, others]) => others - nodes || (a < b ? -1 : 1)).map(([revision]) => revision)
}
