import { ownValue } from './own-value.ts'
import { actionOf, actionTypeOf } from './recorded-action.ts'
import type { RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRollout } from './stops.ts'

/** Failures reported by the status of a Rollout: each stops its release until it is lifted. */
export interface Failures {
  follow(write: RecordedWrite, rollout: RecordedRollout): void
  /** The policy of this Rollout resumes a failed release by itself, as soon as the record is open again. */
  mayResume(rollout: string, isOpen: boolean): void
  /** Drops all reported failures. */
  forgive(): void
  /** Names of the Rollouts whose release has failed. */
  failedRollouts(): Iterable<string>
}

/** Starts empty. */
export function createFailures(): Failures {
  const standing = new Map<string, Standing>()
  /** Last lifted failure of each Rollout: a status may continue to report it. */
  const lifted = new Map<string, string>()
  /** Action that lifted it and is not answered yet, by its id. */
  const lifting = new Map<string, { readonly action: string; readonly failure: Standing }>()
  const resuming = new Set<string>()

  function lift(name: string): void {
    const id = standing.get(name)?.id
    if (id !== undefined) lifted.set(name, id)
    standing.delete(name)
    lifting.delete(name)
  }

  /** Puts the failure back whose action was refused: that lifts nothing. */
  function restoreIfRefused({ metadata: { name }, status }: RecordedRollout): void {
    const { id, result } = status?.lastAction ?? {}
    const last = lifting.get(name)
    if (id === undefined || id !== last?.action) return
    lifting.delete(name)
    if (result !== 'Refused' || standing.has(name)) return
    lifted.delete(name)
    standing.set(name, last.failure)
  }

  return {
    follow({ type }, rollout) {
      const { name } = rollout.metadata
      if (type === 'DELETED') lifting.delete(name)
      if (type === 'DELETED') return void standing.delete(name)
      const known = standing.get(name)
      const isPaused = rollout.spec.strategy?.paused === true
      const isResumed = known?.paused === 'since' && !isPaused
      const action = known === undefined ? undefined : actionThatLifts(known, rollout)
      const isAskedOtherwise = known !== undefined && (isResumed || requestsOf(rollout).others !== known.others)
      if (isAskedOtherwise || action !== undefined) lift(name)
      if (known !== undefined && action !== undefined && !isAskedOtherwise) lifting.set(name, { action, failure: known })
      restoreIfRefused(rollout)
      const failure = failureIn(rollout)
      if (failure === null && resuming.has(name)) standing.delete(name)
      const now = standing.get(name)
      const requests = requestsOf(rollout)
      const isNew = failure !== null && failure.id !== lifted.get(name) && failure.id !== now?.id
      if (isNew) standing.set(name, { ...failure, ...requests, paused: isPaused ? 'before' : 'never' })
      else if (now !== undefined) standing.set(name, { ...now, ...requests, paused: pausedBy(now.paused, isPaused) })
    },
    mayResume(name, isOpen) {
      resuming.add(name)
      if (isOpen) lift(name)
    },
    forgive() {
      for (const name of standing.keys()) lift(name)
      lifting.clear()
    },
    failedRollouts: () => standing.keys(),
  }
}

/** Failure that stops a release, the users' requests as last written, and whether the Rollout was paused since it was reported. */
interface Standing extends Reported, Requests {
  readonly paused: Paused
}

interface Reported {
  readonly id: string
  /** Reason of the condition `Stalled`. */
  readonly reason: string
}

interface Requests {
  /** Annotation with the action. */
  readonly action: string | undefined
  /** Other requests that may lift a failure, as one text. */
  readonly others: string
}

type Paused = 'never' | 'before' | 'since'

function pausedBy(before: Paused, isPaused: boolean): Paused {
  if (!isPaused) return 'never'
  return before === 'never' ? 'since' : before
}

/** Null when the status reports no failure that stops the release. */
function failureIn({ status }: RecordedRollout): Reported | null {
  const stall = status?.conditions?.find(({ type }) => type === 'Stalled')
  if (stall?.status !== 'True' || !reasons.has(stall.reason) || status?.failure?.stops !== true) return null
  const { release, at, reason } = status.failure
  return { id: JSON.stringify([release, at, reason]), reason: stall.reason }
}

const INCONCLUSIVE = 'AnalysisInconclusive'
const reasons: ReadonlySet<string> = new Set(['ReleaseFailed', 'AnalysisFailed', INCONCLUSIVE])

/** @returns id of an action that a user has written since the last write, and that may lift the failure; no other action does, even if it is accepted */
function actionThatLifts(known: Standing, rollout: RecordedRollout): string | undefined {
  const isNew = requestsOf(rollout).action !== known.action
  return isNew && mayLift(actionTypeOf(rollout), known) ? (actionOf(rollout)?.id ?? '') : undefined
}

function mayLift(type: string | undefined, { reason }: Reported): boolean {
  return type === 'retry' || type === 'abort' || (type === 'promote' && reason === INCONCLUSIVE)
}

function requestsOf({ metadata, spec }: RecordedRollout): Requests {
  const { annotations = {}, deletionTimestamp } = metadata
  const settings = ['release-policy', 'on-delete'].map((key) => ownValue(annotations, `tranche.dev/${key}`))
  const others = JSON.stringify([settings, deletionTimestamp, spec.disabled === true])
  return { action: ownValue(annotations, 'tranche.dev/action'), others }
}
