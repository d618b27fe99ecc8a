import type { BatchRelease, FlightRecord, FrozenWatch } from '@tranche/api-schema'
import { carriedText, carryOver, inheritPermits, parseCarried, type PatchOperation } from '@tranche/flight'
import { type DaemonSet, daemonSetAnnotations, kruiseAnnotations, TOUCHED_ANNOTATION } from '@tranche/kube-types'
import { oldNodes } from '../old-nodes.ts'
import { type DaemonSetChange, daemonSetPatch, originalStrategy, strategyOf } from './daemon-set-patch.ts'
import { discoverRevisions } from './discover-revisions.ts'
import { watchToFreeze } from './frozen-watch.ts'
import { steadyMs, stoppedSoFar } from './judgement.ts'
import type { ReleaseView } from './release-view.ts'

/**
 * How long (ms) after it was deleted a release waits for the nodes in flight to have an available pod. Most have one by
 * then; a version that never becomes available must not keep anybody waiting for ever.
 */
const SETTLE_WHEN_DELETED_MS = 30_000

/** How long (ms) a deleted release still waits for what is in flight; 0 where it may go. */
export function carryLeftMs({ release, nowMs }: ReleaseView): number {
  const { deletionTimestamp } = release.metadata
  if (deletionTimestamp === undefined || (release.status?.flight?.permits.length ?? 0) === 0) return 0
  return Math.max(0, Date.parse(deletionTimestamp) + SETTLE_WHEN_DELETED_MS - nowMs)
}

/**
 * Gives the DaemonSet up: everything stays where it stands, and the nodes still in flight are written down for whoever
 * comes next (F11). Null while that cannot be done yet: the record is not stopped, what is in flight may settle, cannot be
 * carried over whole, or the DaemonSet controller has not observed the template.
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

/** F11: the record with what the last release left in flight on this DaemonSet; null where it has that already. */
export function inheritedRecord({ metadata }: DaemonSet, record: FlightRecord): FlightRecord | null {
  const text = metadata.annotations?.[daemonSetAnnotations.unsettled]
  const carried = text === undefined ? null : parseCarried(text)
  return carried === null || carried.workloadUid !== metadata.uid ? null : inheritPermits(record, carried)
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

/** Gives the strategy back, except where it belongs to the binding of a Rollout, which gives it back when it goes. */
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
 * Leaves everything where it stands: `OnDelete` and the remembered type stay, and `tranche.dev/frozen` says what was
 * left. Old is what does not run the template of now, which may be newer than what was announced. Null while the
 * DaemonSet controller has not observed it.
 */
function freezing(view: ReleaseView, daemonSet: DaemonSet): DaemonSetChange | null {
  const discovery = discoverRevisions({ ...view, daemonSet, lastStable: view.release.spec.tranche?.stableRevision })
  if (discovery.kind === 'pending') return null
  const revision = discovery.canary
  const old = oldNodes(view.fleet, revision)
  if (old.length === 0 || strategyOf(daemonSet) !== 'OnDelete') return restoring(view, daemonSet)
  const frozen = {
    revision,
    stable: discovery.stable,
    nodesLeft: old.length,
    at: new Date(view.nowMs).toISOString(),
    ...openedBy(view.release),
    ...watchOf(view, daemonSet),
  }
  return { annotations: { ...releaseKeys, [daemonSetAnnotations.frozen]: JSON.stringify(frozen) } }
}

/** G3: how far the steps had opened, and to how many nodes: a Rollout that takes the release up opens no more without an approval. */
function openedBy({ spec, status }: BatchRelease): { readonly step: number; readonly size: number } {
  const { batches = [], batchPartition = batches.length - 1 } = spec.releasePlan
  return { step: batchPartition + 1, size: status?.flight?.size ?? 0 }
}

function watchOf(view: ReleaseView, daemonSet: DaemonSet): { readonly watch?: FrozenWatch } {
  const released = view.release.status?.flight?.revision
  if (released === undefined) return {}
  const known = { stopped: stoppedSoFar(view), watched: view.watched, nowMs: steadyMs(view) }
  return { watch: watchToFreeze(daemonSet, released, known) }
}
