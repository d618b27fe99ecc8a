import { FORMER_REVISIONS_MAX, type RolloutStatus } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import type { RolloutState } from '../view/rollout-state.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import { frozenRevision } from '../../release/view/frozen-annotation.ts'

/**
 * Revisions that were stable once and that nodes still run, such as dead ones. For a new Rollout, these are all that run beside the one of
 * the template, those of the most nodes first: no release of it brought them. The revision of a frozen release, or of one that has lost its
 * status, is not one. A revision leaves the list when it is released again and that release does not complete. It also does when another
 * release completes, and no node runs it.
 *
 * @returns at most {@link FORMER_REVISIONS_MAX}, the newest first
 */
export function formerRevisions(view: Pick<RolloutView, 'rollout' | 'daemonSet' | 'fleet'>, state: FormerState): readonly string[] {
  const before = view.rollout.status
  const { stableRevision, canary } = state
  const known = isFirst(before, state) ? broughtByOthers(view, canary.canaryRevision) : formerBefore(before, state)
  return (hasCompleted(before, state) ? revisionsStillRun(view.fleet, known) : known)
    .filter((revision) => revision !== stableRevision)
    .slice(0, FORMER_REVISIONS_MAX)
}

/** @returns those of the revisions that a desired node runs, in their order */
export function revisionsStillRun(fleet: RolloutView['fleet'], known: readonly string[]): readonly string[] {
  if (known.length === 0) return known
  const running = new Set(revisionsOn(fleet))
  return known.filter((revision) => running.has(revision))
}

type FormerState = Pick<RolloutState, 'stableRevision' | 'phase'> & { readonly canary: Pick<RolloutState['canary'], 'canaryRevision'> }

/** Definitions of OpenKruise drop the stable revision from a status, and not the one that is released. */
function isFirst(before: RolloutStatus | undefined, { stableRevision }: FormerState): boolean {
  const isKnown = before?.stableRevision !== undefined || (before?.canaryStatus?.canaryRevision ?? '') !== ''
  return !isKnown && stableRevision !== undefined
}

function broughtByOthers({ daemonSet, fleet }: Pick<RolloutView, 'daemonSet' | 'fleet'>, canary: string): readonly string[] {
  const released = daemonSet?.metadata.annotations?.[daemonSetAnnotations.canaryRevision]
  const suspects = [canary, frozenRevision(daemonSet), released]
  return revisionsOn(fleet).filter((revision) => !suspects.includes(revision))
}

/** The former revisions so far, without one whose release has ended without completing, and with the one that was stable until now. */
function formerBefore(before: RolloutStatus | undefined, { stableRevision, canary }: FormerState): readonly string[] {
  const released = before?.canaryStatus?.canaryRevision
  const isOver = released !== canary.canaryRevision && released !== stableRevision
  const kept = (before?.formerRevisions ?? []).filter((revision) => !isOver || revision !== released)
  const replaced = before?.stableRevision
  return replaced === undefined || replaced === stableRevision || kept.includes(replaced) ? kept : [replaced, ...kept]
}

/** Whether a release has just completed: it has reached every node that it could. A rollback brings no other stable revision. */
function hasCompleted(before: RolloutStatus | undefined, { phase, stableRevision }: FormerState): boolean {
  return phase === 'Healthy' && before?.stableRevision !== stableRevision
}

/** Revisions of the pods of desired nodes, those of the most nodes first; terminating ones remain on dead nodes. */
function revisionsOn(fleet: RolloutView['fleet']): readonly string[] {
  const counts = new Map<string, number>()
  for (const { desired, pods } of fleet.nodes)
    for (const hash of new Set(desired ? pods.map((pod) => pod.hash) : []))
      if (hash !== undefined) counts.set(hash, (counts.get(hash) ?? 0) + 1)
  return [...counts].toSorted(([a, nodes], [b, others]) => others - nodes || (a < b ? -1 : 1)).map(([revision]) => revision)
}
