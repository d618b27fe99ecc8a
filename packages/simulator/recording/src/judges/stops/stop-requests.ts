import { actionOf } from '../../world/recorded-action.ts'
import { endsItsRelease, type RecordedRelease, type RecordedRollout, saysPaused } from '../../world/stops.ts'
import { isStalled } from '../judge-progress.ts'

/** A stop that an object asks for. */
export interface Request {
  readonly type: 'pause' | 'disable' | 'delete' | 'abort'
  /** The same for as long as it stands. */
  readonly id: string
  /** What the user did, after "a user". */
  readonly text: string
  /** Time without faults within which it must be acknowledged, in milliseconds. */
  readonly withinMs: number
  /** Whether the status says that it is in force, if it is about the generation of the request. */
  readonly isSaid: boolean
}

/** Longest time until a stop is acknowledged: another leader takes over within 18 s, and no call takes longer than 15 s. */
const STOPPED_MS = 45_000
/** Nodes in flight have 30 seconds to get an available pod before a DaemonSet is left as it is. */
const LEFT_MS = STOPPED_MS + 30_000

/** @returns what its users ask the Rollout to stop; nothing if it ends its release before it goes, which lifts a pause */
export function rolloutRequests(rollout: RecordedRollout): readonly Request[] {
  const { metadata, spec, status } = rollout
  if (endsItsRelease(rollout)) return []
  const requests: Request[] = []
  if (metadata.deletionTimestamp !== undefined)
    requests.push({ type: 'delete', id: 'delete', text: 'deleted the Rollout', withinMs: LEFT_MS, isSaid: false })
  else if (spec.disabled === true)
    requests.push({
      ...{ type: 'disable', id: 'disable', text: 'disabled the Rollout', withinMs: LEFT_MS },
      isSaid: status?.phase === 'Disabled',
    })
  if (spec.strategy?.paused === true)
    requests.push({ type: 'pause', id: 'pause', text: 'paused the Rollout', withinMs: STOPPED_MS, isSaid: isPauseSaid(status) })
  const action = actionOf(rollout)
  if (action?.type === 'abort' && status?.phase === 'Progressing')
    requests.push({
      ...{ type: 'abort', id: `abort ${action.id}`, text: 'aborted the release', withinMs: STOPPED_MS },
      isSaid: status.lastAction?.id === action.id || status.answeredActions?.includes(action.id) === true,
    })
  return requests
}

/** Where no release is in progress, the observed generation says that none will be. A release that cannot start says why. */
function isPauseSaid(status: RecordedRollout['status']): boolean {
  return status?.phase !== 'Progressing' || saysPaused(status) || isStalled(status)
}

/** @returns what the user of a BatchRelease written by hand asks it to stop */
export function releaseRequests({ metadata, spec }: RecordedRelease): readonly Request[] {
  const requests: Request[] = []
  if (metadata?.deletionTimestamp !== undefined)
    requests.push({ type: 'delete', id: 'delete', text: 'deleted the BatchRelease', withinMs: LEFT_MS, isSaid: false })
  if (spec?.tranche?.paused === true)
    requests.push({ type: 'pause', id: 'pause', text: 'paused the BatchRelease', withinMs: STOPPED_MS, isSaid: true })
  return requests
}
