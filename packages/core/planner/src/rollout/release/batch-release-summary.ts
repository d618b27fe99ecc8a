import type { RolloutState } from '../view/rollout-state.ts'
import { releaseId } from './release-id.ts'
import type { RolloutView } from '../view/rollout-view.ts'
import {
  type BatchReleaseStatus,
  type Failure,
  presentReason,
  type StalledReason,
  stalledReasons,
  type Waiting,
  waitText,
} from '@tranche/api-schema'
import { isReleaseOf } from '@tranche/kube-types'
import { knownFailure } from '@tranche/verdict'

/** What the BatchRelease of a Rollout reports about the Rollout's present release. */
export interface BatchReleaseSummary {
  /** Whether its status is for the spec written for this generation of the Rollout. */
  readonly acknowledged: boolean
  /** Whether its record is stopped by a pause: no deletion by Tranche can be accepted (G9). */
  readonly paused: boolean
  /** Whether its record is stopped for any reason: no deletion by Tranche can be accepted (G9). */
  readonly stopped: boolean
  /** Verdict on this release, whether it stops it or not; null without one. */
  readonly failure: Failure | null
  /** Batch, from 0, that is ready now; null while none is. */
  readonly readyBatch: number | null
  /** Since when (RFC 3339) it has been continuously ready; null while none is. */
  readonly readySince: string | null
  /** Whether the BatchRelease exists for nodes that a release left behind, or is being deleted. */
  readonly present: boolean
  /** Whether the DaemonSet was given back. */
  readonly completed: boolean
  /** Text about nodes that keep the release from being given back; null without any. */
  readonly nodesLeft: string | null
  /** When the final settling time ends (RFC 3339); null while it does not run. */
  readonly settlingUntil: string | null
  /** What it waits for, as text. */
  readonly message: string | undefined
  /** What it waits for, as data; undefined where it waits for nothing. */
  readonly waiting: Waiting | undefined
  /** Stall reason that needs a person. */
  readonly stalled: RolloutState['stalled']
}

/** Whether a BatchRelease of the same name belongs to another owner: it is neither read nor written. */
export function isForeign({ rollout, release }: Pick<RolloutView, 'rollout' | 'release'>): boolean {
  return release !== undefined && !isReleaseOf(release, rollout)
}

/** Reads the BatchRelease. A status for another release, or an older spec, is ignored. */
export function summarizeBatchRelease(view: RolloutView): BatchReleaseSummary {
  const { rollout } = view
  const release = isForeign(view) ? undefined : view.release
  const status = release?.status
  const record = status?.flight
  const current = release !== undefined && status?.observedGeneration === release.metadata.generation
  const sameRelease =
    rollout.status?.canaryStatus !== undefined &&
    release?.spec.tranche?.release === releaseId(rollout) &&
    status?.observedRelease === release.spec.tranche.release
  const failure = sameRelease ? knownFailure(release) : undefined
  // Without a record, only an acknowledged spec says that none is to be restored (F11).
  const stopped = record === undefined ? release === undefined || current : record.state === 'stopped' && record.holds.length > 0
  const isReady = current && sameRelease && status.canaryStatus?.batchState === 'Ready'
  const stalled = stalledBy(status?.waiting)
  // The first patch of a release may be rejected before its status has anything else.
  const isSaid = sameRelease || stalled?.reason === 'ChangeRejected'
  const nodesLeft = sameRelease && status.waiting?.reason === 'NodesLeft' ? status.waiting.message : null
  return {
    acknowledged: current && release.spec.tranche?.rolloutGeneration === rollout.metadata.generation,
    paused: current && release.spec.tranche?.paused === true && stopped,
    stopped,
    failure: failure === undefined ? null : withoutAccepted(failure),
    readyBatch: isReady ? (status.canaryStatus?.currentBatch ?? null) : null,
    readySince: isReady ? (status.canaryStatus?.batchReadyTime ?? null) : null,
    present: release !== undefined,
    completed: current && sameRelease && status.phase === 'Completed',
    nodesLeft,
    settlingUntil: sameRelease ? (status.settlingUntil ?? null) : null,
    message: isSaid && status !== undefined ? messageOf(status) : undefined,
    waiting: isSaid ? status?.waiting : undefined,
    stalled,
  }
}

/** A retry may have accepted thousands of nodes; the BatchRelease keeps the full list. */
function withoutAccepted({ accepted: _nodes, ...failure }: Failure): Failure {
  return failure
}

/** What it waits for, since when, and on which nodes. */
function messageOf({ waiting, message }: BatchReleaseStatus): string | undefined {
  return waiting === undefined ? message : waitText(waiting)
}

/** Reasons that the Rollout derives itself for its present release, instead of from a status that may describe the former one. */
const ownReasons: readonly StalledReason[] = ['NodesLeft', 'RevisionHeld', 'ReleaseFailed', 'AnalysisInconclusive']

function stalledBy(waiting: { readonly reason: string; readonly message: string } | undefined): RolloutState['stalled'] {
  const present = waiting && presentReason(waiting.reason)
  const reason = stalledReasons.find((known) => known === present)
  return reason === undefined || waiting === undefined || ownReasons.includes(reason) ? null : { reason, message: waiting.message }
}
