import { type DaemonSet, daemonSetAnnotations, rolloutAnnotations } from '@tranche/kube-types'
import { hasOldPod, isOld } from '@tranche/fence'
import type { NodeView } from '@tranche/fleet'
import { discoverRevisions } from '../../release/view/discover-revisions.ts'
import type { DaemonSetChange } from '../../release/view/daemon-set-patch.ts'
import { commandText } from '../view/command-text.ts'
import { onDeletePolicy } from '../held/on-delete.ts'
import { partsOfReleaseId } from '../release/release-id.ts'
import { revisionInText } from '../../release/view/frozen-annotation.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * Reports what an unbinding leaves frozen: how many nodes, on which revisions, and how to continue; null without any.
 *
 * @param change the unbinding change; the BatchRelease may have frozen the DaemonSet already
 */
export function frozenText(view: RolloutView, { metadata }: DaemonSet, change: DaemonSetChange): string | null {
  const frozen = change.annotations?.[daemonSetAnnotations.frozen] ?? metadata.annotations?.[daemonSetAnnotations.frozen]
  const published = frozen === undefined || frozen === null ? null : revisionInText(frozen)
  if (published === null) return null
  const revision = revisionNow(view) ?? published
  const left = leftByRevision(view, revision)
  const nodes = [...left.values()].reduce((sum, count) => sum + count, 0)
  const where = [...left].map(([hash, count]) => `${count} on revision ${hash}`).join(', ')
  const ways = `to continue in steps, ${enableText(view, metadata.name)}; to let Kubernetes continue, set updateStrategy.type to RollingUpdate`
  if (nodes === 0) return `every node runs revision ${revision} of the template; updateStrategy.type stays OnDelete; ${ways}`
  return (
    `${nodes} of ${countNodes(view, revision)} nodes do not run revision ${revision} of the template: ${where}; updateStrategy.type stays OnDelete, so nothing ` +
    `updates them; ${failedText(view, revision)}${ways}${policyText(view)}`
  )
}

function enableText({ rollout }: RolloutView, daemonSet: string): string {
  const isGone = rollout.metadata.deletionTimestamp !== undefined
  return isGone ? `create a Rollout for DaemonSet ${daemonSet}` : `set spec.disabled of Rollout ${rollout.metadata.name} to false`
}

/** The template may have changed since the freeze: nodes lack the present one. Null while its revision is unknown. */
function revisionNow({ daemonSet, revisions, fleet }: RolloutView): string | null {
  if (daemonSet === undefined) return null
  const discovery = discoverRevisions({ daemonSet, revisions, fleet, lastStable: undefined })
  return discovery.kind === 'found' ? discovery.canary : null
}

/** Number of nodes that do not run the present template; null while that is unknown. */
export function nodesLeft(view: RolloutView): number | null {
  const revision = revisionNow(view)
  return revision === null ? null : oldNodesOf(view, revision).length
}

/** Also nodes that are out for a while, which are not desired. */
function oldNodesOf({ fleet }: RolloutView, revision: string): readonly NodeView[] {
  return fleet.nodes.filter((node) => hasOldPod(node, revision))
}

function countNodes(view: RolloutView, revision: string): number {
  return view.fleet.desired + oldNodesOf(view, revision).filter(({ desired }) => !desired).length
}

/** Standing pods decide; a node with pods of two revisions counts for the old one. */
function leftByRevision(view: RolloutView, revision: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { pods } of oldNodesOf(view, revision)) {
    const hash = pods.find((pod) => isOld(pod, revision))?.hash ?? 'unknown'
    counts.set(hash, (counts.get(hash) ?? 0) + 1)
  }
  return new Map([...counts].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1)))
}

/** The ways on lead to more nodes with the present version: one that has failed is named before. Ends with a semicolon; else empty. */
function failedText({ rollout }: RolloutView, revision: string): string {
  const { failure } = rollout.status ?? {}
  if (failure?.stops !== true || partsOfReleaseId(failure.release).revision !== revision) return ''
  return `it has failed (${failure.message}): to go back, run ${commandText(rollout, 'undo')} and enable the Rollout; `
}

function policyText({ rollout }: RolloutView): string {
  const policy = onDeletePolicy(rollout)
  if (policy === 'Freeze') return ''
  const why = 'the remaining nodes cannot be updated, the revision is blocked, or Tranche lost control'
  return `; ${rolloutAnnotations.onDelete}: ${policy} was not completed: ${why}; or it was set after the end, and needs the Rollout enabled`
}
