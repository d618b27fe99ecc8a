import type { FlightRecord } from '@tranche/api-schema'
import { type FleetView, keptPerBlock, nodeInView, type NodeView } from '@tranche/fleet'
import { daemonSetAnnotations, rolloutOf, parseTime } from '@tranche/kube-types'
import { hasOldPod, updatedPod } from '@tranche/fence'
import { isAfterEnd } from '@tranche/verdict'
import type { BatchProgress } from './batch-progress.ts'
import { isAtEnd, isStatusOfRelease } from '../view/is-finalized.ts'
import { isInCharge, type ReleaseView } from '../view/release-view.ts'

/** How long (ms) the last batch must still stay ready, in which a crash still counts; Infinity while it is not ready. */
export function settleLeftMs({ release, nowMs }: ReleaseView, progress: BatchProgress): number {
  const canary = release.status?.canaryStatus
  if (progress.outOfReach !== undefined) return Number.POSITIVE_INFINITY
  if (progress.desired === 0 && progress.behind === undefined) return 0
  if (progress.state !== 'Ready' || canary?.batchState !== 'Ready') return Number.POSITIVE_INFINITY
  // A start that is no time never ends the settling early: the next status has one.
  return (parseTime(canary.batchReadyTime) ?? nowMs) + (release.spec.tranche?.finalSettleSeconds ?? 0) * 1000 - nowMs
}

/** Nodes left behind, by reason; in the order in which they are reported. */
export interface LeftBehind {
  /** Nodes with an old pod because they are NotReady, or were not desired because of that. */
  readonly old: readonly string[]
  /** Nodes with an old pod because the policy excludes them. */
  readonly excluded: readonly string[]
  /** Nodes that were updated, or were being updated, and have no available pod. */
  readonly unwell: readonly string[]
}

/** Nodes left behind by a release that is otherwise over; null while it is not over, or without such nodes. */
export function leftBehind(view: ReleaseView, progress: BatchProgress): LeftBehind | null {
  if (!isAtEnd(view.release)) return null
  if (settleLeftMs(view, progress) > 0 && (progress.state === 'Ready' || !wasOver(view))) return null
  const behind = nodesNotDone(view.fleet, progress, view.release.status?.flight)
  return namesLeft(behind).length > 0 ? behind : null
}

/** Nodes that would be left behind if the release were over now. */
export function nodesNotDone(
  fleet: FleetView,
  progress: BatchProgress,
  record: Pick<FlightRecord, 'revision' | 'permits'> | undefined,
): LeftBehind {
  const excluded = new Set(progress.excluded)
  const old = [...progress.old.filter((node) => !excluded.has(node)), ...deadWithOldPods(fleet, record?.revision)]
  const isOld = new Set(old)
  const notWell = new Set([...progress.unwell.map(({ node }) => node), ...progress.between])
  const unsettled = [...new Set((record?.permits ?? []).map(({ node }) => node))]
  const unwell = unsettled.filter(
    (node) => !isOld.has(node) && !excluded.has(node) && (notWell.has(node) || nodeInView(fleet, node)?.desired !== true),
  )
  return { old, excluded: progress.excluded, unwell }
}

/** @returns names of all these nodes, in the order in which they are reported */
export function namesLeft({ old, excluded, unwell }: LeftBehind): readonly string[] {
  return [...old, ...excluded, ...unwell]
}

/** Once the Rollout knows that its release is over, accepted failures are no longer judged: the batch need not be ready again. */
function wasOver(view: ReleaseView): boolean {
  const isOwned = rolloutOf(view.release) !== undefined
  return isOwned && isStatusOfRelease(view.release) && isPublishedAsOver(view)
}

/**
 * Whether the DaemonSet says that the release is over, by a key that is absent. A manifest that replaces the DaemonSet removes all keys. Then
 * only the spec says that the release is over, or else nodes would be updated without a verdict.
 */
function isPublishedAsOver({ release, daemonSet }: ReleaseView): boolean {
  if (daemonSet === undefined || daemonSetAnnotations.inProgressing in (daemonSet.metadata.annotations ?? {})) return false
  return isInCharge({ release }, daemonSet) || isAfterEnd(release)
}

/**
 * Nodes that are not desired while they are down: when they return, their old pod is desired again. A node without an old pod is not left,
 * because it returns with a pod of the present template. A Ready node counts until Kubernetes has removed the taint for its failure.
 */
function deadWithOldPods(fleet: FleetView, revision: string | undefined): readonly string[] {
  return deadPerBlock(fleet, revision ?? '').flat()
}

const deadPerBlock = keptPerBlock<string, readonly string[]>({
  count: (block, revision) => block.filter((node) => isDown(node) && hasOldPod(node, revision)).map(({ name }) => name),
  holds: (known, asked) => known === asked,
})

function isDown({ desired, desiredOnReturn, ready }: NodeView): boolean {
  return !desired && (desiredOnReturn === true || !ready)
}

/**
 * Nodes that a batch need not wait for once the release is over, where nothing judges it, as after a rollback: those that run the revision.
 * Nodes in flight are not among them. Undefined before the end.
 */
export function excusedAtEnd(view: ReleaseView, revision: string): readonly string[] | undefined {
  if (!isAtEnd(view.release) || !wasOver(view)) return undefined
  const inFlight = new Set(view.release.status?.flight?.permits.map(({ node }) => node))
  return view.fleet.nodes.flatMap((node) => (updatedPod(node, revision) === undefined || inFlight.has(node.name) ? [] : [node.name]))
}

/** Whether the release is over for readers of `in-progressing`, though nodes are left; once true, it stays true. */
export function isOverButForNodesLeft(view: ReleaseView, progress: BatchProgress): boolean {
  if (!isAtEnd(view.release) || !isStatusOfRelease(view.release)) return false
  return leftBehind(view, progress) !== null || isPublishedAsOver(view)
}
