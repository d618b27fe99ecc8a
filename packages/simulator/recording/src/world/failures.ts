import { ownValue } from './own-value.ts'
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
  /** Failure of each Rollout, the users' requests at that time, and whether the Rollout was paused since. */
  const standing = new Map<string, { readonly id: string; readonly actions: string; readonly paused: Paused }>()
  /** Last lifted failure of each Rollout: a status may continue to report it. */
  const lifted = new Map<string, string>()
  const resuming = new Set<string>()

  function lift(name: string): void {
    const id = standing.get(name)?.id
    if (id !== undefined) lifted.set(name, id)
    standing.delete(name)
  }

  return {
    follow({ type }, rollout) {
      const { name } = rollout.metadata
      if (type === 'DELETED') return void standing.delete(name)
      const actions = actionsText(rollout)
      const known = standing.get(name)
      const isPaused = rollout.spec.strategy?.paused === true
      if (known !== undefined && (known.actions !== actions || (known.paused === 'since' && !isPaused))) lift(name)
      const id = failureIn(rollout)
      if (id === null && resuming.has(name)) standing.delete(name)
      const now = standing.get(name)
      const isNew = id !== null && id !== lifted.get(name) && id !== now?.id
      if (isNew) standing.set(name, { id, actions, paused: isPaused ? 'before' : 'never' })
      else if (now !== undefined) standing.set(name, { ...now, paused: pausedBy(now.paused, isPaused) })
    },
    mayResume(name, isOpen) {
      resuming.add(name)
      if (isOpen) lift(name)
    },
    forgive() {
      for (const name of standing.keys()) lift(name)
    },
    failedRollouts: () => standing.keys(),
  }
}

type Paused = 'never' | 'before' | 'since'

function pausedBy(before: Paused, isPaused: boolean): Paused {
  if (!isPaused) return 'never'
  return before === 'never' ? 'since' : before
}

/** Identifies a failure; null when the status reports none that stops the release. */
function failureIn({ status }: RecordedRollout): string | null {
  const stall = status?.conditions?.find(({ type }) => type === 'Stalled')
  if (stall?.status !== 'True' || !reasons.has(stall.reason) || status?.failure?.stops !== true) return null
  const { release, at, reason } = status.failure
  return JSON.stringify([release, at, reason])
}

const reasons: ReadonlySet<string> = new Set(['ReleaseFailed', 'AnalysisFailed', 'AnalysisInconclusive'])

/** Requests of users that may lift a failure. */
function actionsText({ metadata, spec }: RecordedRollout): string {
  const { annotations = {}, deletionTimestamp } = metadata
  const actions = ['action', 'release-policy', 'on-delete'].map((key) => ownValue(annotations, `tranche.dev/${key}`))
  return JSON.stringify([actions, deletionTimestamp, spec.disabled === true])
}
