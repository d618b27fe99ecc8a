import type { Course } from './course.ts'
import { releaseId } from './release-spec.ts'
import type { RolloutView } from './rollout-view.ts'
import { stalledReasons } from '@tranche/api-schema'

/** What the BatchRelease of a Rollout says, for the release that the Rollout means. */
export interface ReleaseStanding {
  /** Its status speaks of the spec that this generation of the Rollout gave rise to. */
  readonly acknowledged: boolean
  /** Its record is stopped: no deletion of ours can be accepted (G9). */
  readonly paused: boolean
  /** The batch, from 0, that is ready now; null while none is. */
  readonly readyBatch: number | null
  /** The DaemonSet was given back. */
  readonly completed: boolean
  /** What to say of nodes that keep the release from being given back; null where there are none. */
  readonly nodesLeft: string | null
  /** What it waits for. */
  readonly message: string | undefined
  /** A reason that needs somebody. */
  readonly stalled: Course['stalled']
}

/** Reads the BatchRelease. What speaks of another release, or of an older spec, says nothing. */
export function releaseStanding({ rollout, release }: RolloutView): ReleaseStanding {
  const status = release?.status
  const record = status?.flight
  const current = release !== undefined && status?.observedGeneration === release.metadata.generation
  const canary = rollout.status?.canaryStatus
  const sameRelease =
    canary !== undefined &&
    release?.spec.tranche?.release === releaseId(rollout, canary) &&
    status?.observedRelease === release.spec.tranche.release
  const nodesLeft = status?.waiting?.reason === 'NodesLeft' ? status.waiting.message : null
  return {
    acknowledged: current && release.spec.tranche?.rolloutGeneration === rollout.metadata.generation,
    paused:
      current && release.spec.tranche?.paused === true && (record === undefined || (record.state === 'stopped' && record.holds.length > 0)),
    readyBatch: current && sameRelease && status.canaryStatus?.batchState === 'Ready' ? status.canaryStatus.currentBatch : null,
    completed: current && sameRelease && status.phase === 'Completed',
    nodesLeft,
    message: sameRelease ? (status?.waiting?.message ?? status?.message) : undefined,
    stalled: stalledBy(status?.waiting),
  }
}

function stalledBy(waiting: { readonly reason: string; readonly message: string } | undefined): Course['stalled'] {
  const reason = stalledReasons.find((known) => known === waiting?.reason)
  return reason === undefined || waiting === undefined || reason === 'NodesLeft' ? null : { reason, message: waiting.message }
}
