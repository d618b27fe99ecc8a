import type { BatchRelease, FlightRecord, FrozenWatch } from '@tranche/api-schema'
import { begunAt, carriedText, carryOver, continueSince, hasOldPod, inheritPermits, type PatchOperation } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations, kruiseAnnotations, TOUCHED_ANNOTATION, parseTime } from '@tranche/kube-types'
import { carriedOn } from './view/carried-on.ts'
import { hashOf } from './view/discover-revisions.ts'
import { isAfterEnd } from '@tranche/verdict'
import { type DaemonSetChange, daemonSetPatch, originalStrategy, strategyOf } from './view/daemon-set-patch.ts'
import { watchToFreeze } from './progress/frozen-watch.ts'
import { steadyMs, stoppedSoFar } from './progress/judgement.ts'
import { startToInherit } from './release-start.ts'
import type { ReleaseView } from './view/release-view.ts'
import { revisionsOfRelease } from './view/revisions-of-release.ts'

/**
 * How long (ms) after its deletion a release waits for the nodes in flight to have an available pod. Most have one by then. A version that
 * never becomes available must not block the deletion forever.
 */
const SETTLE_WHEN_DELETED_MS = 30_000

/**
 * How long (ms) a deleted release still waits for nodes in flight; 0 when it may detach. A timestamp may lie ahead of the API server's clock,
 * which was set back since, so no process waits for longer than that after its first look.
 */
export function carryLeftMs({ release, nowMs, monotonicMs, deletedSinceMs = monotonicMs }: ReleaseView): number {
  const deletedMs = parseTime(release.metadata.deletionTimestamp)
  if (deletedMs === null || (release.status?.flight?.permits.length ?? 0) === 0) return 0
  const pastMs = Math.max(nowMs - deletedMs, monotonicMs - deletedSinceMs)
  return Math.max(0, SETTLE_WHEN_DELETED_MS - pastMs)
}

/**
 * Detaches from the DaemonSet: nothing else changes, and the nodes still in flight are recorded for the next release (F11).
 * Null while that is not possible yet. Either the record is not stopped, or nodes in flight may still settle or do not all
 * fit the annotation, or the DaemonSet controller has not observed the template.
 */
export function detachPatch(view: ReleaseView, daemonSet: DaemonSet): readonly PatchOperation[] | null {
  const record = view.release.status?.flight
  if (record !== undefined && record.state !== 'stopped') return null
  if (carryLeftMs(view) > 0) return null
  const carried = record === undefined ? null : carryOver(record)
  const unsettled = carried === null ? null : carriedText(carried)
  if (carried !== null && unsettled === null) return null
  const change = freezing(view, daemonSet)
  if (change === null) return null
  return daemonSetPatch(daemonSet, { ...change, annotations: { ...change.annotations, [daemonSetAnnotations.unsettled]: unsettled } })
}

/**
 * F11: the record with the last release's nodes in flight on this DaemonSet, and with its start where this one continues it. Null where it has
 * them already.
 *
 * @param revision the one to release
 */
export function inheritedRecord(
  view: Pick<ReleaseView, 'release'>,
  daemonSet: DaemonSet,
  record: FlightRecord,
  revision: string,
): FlightRecord | null {
  const carried = carriedOn(daemonSet)
  const inherited = carried === null ? null : inheritPermits(record, carried)
  const since = startToInherit(view, daemonSet, { record, revision })
  return since === null ? inherited : continueSince(inherited ?? record, since)
}

const releaseKeys = {
  [kruiseAnnotations.revision]: null,
  [kruiseAnnotations.advancedControl]: null,
  [daemonSetAnnotations.canaryRevision]: null,
  [daemonSetAnnotations.stableRevision]: null,
  [daemonSetAnnotations.partition]: null,
  [daemonSetAnnotations.paused]: null,
  [daemonSetAnnotations.controlInfo]: null,
  [daemonSetAnnotations.inProgressing]: null,
  [daemonSetAnnotations.reverted]: null,
  [TOUCHED_ANNOTATION]: null,
} as const

/** Restores the strategy, unless the Rollout's binding owns it; that one is restored at unbinding. */
export function restoring(view: ReleaseView, daemonSet: DaemonSet): DaemonSetChange {
  const isBound = daemonSetAnnotations.rollout in (daemonSet.metadata.annotations ?? {})
  if (view.strategyScope === 'binding' && isBound) return { annotations: releaseKeys }
  const original = originalStrategy(daemonSet)
  return {
    annotations: { ...releaseKeys, [daemonSetAnnotations.originalUpdateStrategy]: null },
    ...(original !== undefined && { strategy: original }),
  }
}

/**
 * Freezes the DaemonSet: `OnDelete` and the recorded type stay, and `tranche.dev/frozen` says what was left. Pods that do not
 * run the present template are old; it may be newer than the published one. Null while the DaemonSet controller has not
 * observed it.
 */
function freezing(view: ReleaseView, daemonSet: DaemonSet): DaemonSetChange | null {
  const discovery = revisionsOfRelease(view, daemonSet)
  if (discovery.kind === 'pending') return null
  const revision = discovery.canary
  // Kubernetes would update nodes that are out for a while (a zone, a tainted pool) once they are desired again.
  const old = view.fleet.nodes.filter((node) => hasOldPod(node, revision))
  if (old.length === 0 || strategyOf(daemonSet) !== 'OnDelete') return restoring(view, daemonSet)
  const frozen = {
    revision,
    stable: stableOfRelease(view) ?? discovery.stable,
    nodesLeft: old.length,
    at: new Date(view.nowMs).toISOString(),
    ...openedBy(view.release),
    ...watchOf(view, daemonSet),
  }
  return { annotations: { ...releaseKeys, [daemonSetAnnotations.frozen]: JSON.stringify(frozen) } }
}

/**
 * G3: stable revision of the release, though the nodes that run it may all be out for a while. Undefined after its end, which it was before, and
 * where the history has lost it: a later Rollout would not find it.
 */
function stableOfRelease({ release, revisions }: ReleaseView): string | undefined {
  if (isAfterEnd(release)) return undefined
  return revisions.map(hashOf).find((hash) => hash === release.spec.tranche?.stableRevision)
}

/** G3: the step and the number of nodes that the release had opened. A Rollout that resumes it opens no more without an approval. */
function openedBy({ spec, status }: BatchRelease): { readonly step: number; readonly size: number } {
  const { batches = [], batchPartition = batches.length - 1 } = spec.releasePlan
  return { step: batchPartition + 1, size: status?.flight?.size ?? 0 }
}

function watchOf(view: ReleaseView, daemonSet: DaemonSet): { readonly watch?: FrozenWatch } {
  const released = view.release.status?.flight?.revision
  if (released === undefined) return {}
  const known = { begunAt: begunAt(view.release), stopped: stoppedSoFar(view), watched: view.watched, nowMs: steadyMs(view) }
  return { watch: watchToFreeze(daemonSet, released, known) }
}
