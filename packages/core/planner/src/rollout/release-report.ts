import type { RolloutState } from './rollout-state.ts'
import { releaseId } from './release-spec.ts'
import type { RolloutView } from './rollout-view.ts'
import { type BatchReleaseStatus, type Failure, type StalledReason, stalledReasons, type Waiting } from '@tranche/api-schema'
import { isReleaseOf } from '@tranche/kube-types'

/** What the BatchRelease of a Rollout says, for the release that the Rollout means. */
export interface ReleaseReport {
  /** Its status speaks of the spec that this generation of the Rollout gave rise to. */
  readonly acknowledged: boolean
  /** Its record is stopped: no deletion of ours can be accepted (G9). */
  readonly paused: boolean
  /** Its record is stopped, for whatever reason: no deletion of ours can be accepted (G9). */
  readonly stopped: boolean
  /** The verdict on this release, whether it stops it or not; null without one. */
  readonly failure: Failure | null
  /** The batch, from 0, that is ready now; null while none is. */
  readonly readyBatch: number | null
  /** Since when (RFC 3339) it has been ready without a break; null while none is. */
  readonly readySince: string | null
  /** The BatchRelease is there for nodes that a release has left behind, or about to go. */
  readonly present: boolean
  /** The DaemonSet was given back. */
  readonly completed: boolean
  /** What to say of nodes that keep the release from being given back; null where there are none. */
  readonly nodesLeft: string | null
  /** When the final settling time ends (RFC 3339); null while it does not run. */
  readonly settlingUntil: string | null
  /** What it waits for. */
  readonly message: string | undefined
  /** The same, as data; undefined where it waits for nothing. */
  readonly waiting: Waiting | undefined
  /** A reason that needs somebody. */
  readonly stalled: RolloutState['stalled']
}

/** A BatchRelease of our name that another made: neither read nor written. */
export function isForeign({ rollout, release }: Pick<RolloutView, 'rollout' | 'release'>): boolean {
  return release !== undefined && !isReleaseOf(release, rollout)
}

/** Reads the BatchRelease. What speaks of another release, or of an older spec, says nothing. */
export function releaseReport(view: RolloutView): ReleaseReport {
  const { rollout } = view
  const release = isForeign(view) ? undefined : view.release
  const status = release?.status
  const record = status?.flight
  const current = release !== undefined && status?.observedGeneration === release.metadata.generation
  const sameRelease =
    rollout.status?.canaryStatus !== undefined &&
    release?.spec.tranche?.release === releaseId(rollout) &&
    status?.observedRelease === release.spec.tranche.release
  const stopped = record === undefined || (record.state === 'stopped' && record.holds.length > 0)
  const isReady = current && sameRelease && status.canaryStatus?.batchState === 'Ready'
  const nodesLeft = sameRelease && status.waiting?.reason === 'NodesLeft' ? status.waiting.message : null
  return {
    acknowledged: current && release.spec.tranche?.rolloutGeneration === rollout.metadata.generation,
    paused: current && release.spec.tranche?.paused === true && stopped,
    stopped,
    failure: sameRelease && status.failure?.release === release.spec.tranche.release ? withoutAccepted(status.failure) : null,
    readyBatch: isReady ? (status.canaryStatus?.currentBatch ?? null) : null,
    readySince: isReady ? (status.canaryStatus?.batchReadyTime ?? null) : null,
    present: release !== undefined,
    completed: current && sameRelease && status.phase === 'Completed',
    nodesLeft,
    settlingUntil: sameRelease ? (status.settlingUntil ?? null) : null,
    message: sameRelease ? messageOf(status) : undefined,
    waiting: sameRelease ? status.waiting : undefined,
    stalled: stalledBy(status?.waiting),
  }
}

/** Of the nodes that a retry has accepted there may be thousands; whoever judges has them in the BatchRelease. */
function withoutAccepted({ accepted: _nodes, ...failure }: Failure): Failure {
  return failure
}

/** What it waits for, since when, and on which nodes. */
function messageOf({ waiting, message }: BatchReleaseStatus): string | undefined {
  return waiting === undefined ? message : `${waiting.message} (since ${waiting.since})`
}

/** What the Rollout says by itself, of the release that it means, is not taken from what may speak of the last one. */
const ownReasons: readonly StalledReason[] = ['NodesLeft', 'RevisionHeld', 'ReleaseFailed', 'AnalysisInconclusive']

function stalledBy(waiting: { readonly reason: string; readonly message: string } | undefined): RolloutState['stalled'] {
  const reason = stalledReasons.find((known) => known === waiting?.reason)
  return reason === undefined || waiting === undefined || ownReasons.includes(reason) ? null : { reason, message: waiting.message }
}
