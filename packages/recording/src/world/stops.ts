import type { RecordedWrite } from '../recorded-write.ts'

/** What is wished, and answered, about one Rollout; only the fields that judges read. */
export interface RecordedRollout {
  readonly metadata: {
    readonly name: string
    readonly uid?: string
    readonly generation?: number
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
  readonly spec: {
    readonly workloadRef?: { readonly name: string }
    readonly disabled?: boolean
    readonly strategy?: {
      readonly paused?: boolean
      readonly canary?: { readonly steps?: readonly { readonly pause?: { readonly duration?: number } }[] }
    }
  }
  readonly status?: {
    readonly phase?: string
    readonly message?: string
    readonly observedGeneration?: number
    readonly currentStepIndex?: number
    readonly currentStepState?: string
    readonly conditions?: readonly { readonly type: string; readonly status?: string; readonly reason: string }[]
    readonly canaryStatus?: {
      readonly currentStepIndex?: number
      readonly nextStepIndex?: number
      readonly currentStepState?: string
      readonly canaryRevision?: string
    }
    readonly heldRevisions?: readonly { readonly revision?: string; readonly digest: string }[]
    readonly lastAction?: { readonly id: string; readonly type?: string; readonly result?: string }
    readonly answeredActions?: readonly string[]
  }
}

/** The stops of one DaemonSet: of each Rollout that speaks of it, what it wishes and whether that is acknowledged. */
export interface Stops {
  followRollout(write: RecordedWrite): void
  /** A release that nobody's Rollout made is one that somebody wants. */
  releaseWritten(): void
  /** @returns what stops us and is acknowledged; null when nothing is. @param bound name of the Rollout that is in charge, if known */
  acknowledged(bound: string | undefined): Stop['wish'] | null
}

/** A wish that nothing be deleted, from the generation that it was written with. */
interface Stop {
  readonly wish: 'paused' | 'disabled' | 'deleted'
  readonly generation: number
  readonly acknowledged: boolean
}

/** Begins with none. */
export function createStops(): Stops {
  const stops = new Map<string, Stop>()
  return {
    followRollout({ type, o }) {
      const rollout = o as unknown as RecordedRollout
      const { name } = rollout.metadata
      const stop: Stop | null =
        type === 'DELETED' ? { wish: 'deleted', generation: 0, acknowledged: true } : stopOf(rollout, stops.get(name))
      if (stop === null) stops.delete(name)
      else stops.set(name, stop)
    },
    releaseWritten() {
      for (const [name, { wish }] of stops) if (wish === 'deleted') stops.delete(name)
    },
    acknowledged(bound) {
      for (const [name, stop] of stops) if (stop.acknowledged && (bound === undefined || bound === name)) return stop.wish
      return null
    },
  }
}

/** A stop is acknowledged when the status says so for a generation that has the wish; later words take nothing back. */
function stopOf(rollout: RecordedRollout, before: Stop | undefined): Stop | null {
  const { metadata, spec, status } = rollout
  if (endsItsRelease(rollout)) return null
  const wish = spec.disabled === true ? 'disabled' : spec.strategy?.paused === true ? 'paused' : null
  if (wish === null) return null
  const generation = before?.wish === wish ? before.generation : (metadata.generation ?? 0)
  const known = before?.wish === wish && before.acknowledged
  const said = wish === 'disabled' ? status?.phase === 'Disabled' : saysPaused(status)
  return { wish, generation, acknowledged: known || (said && (status?.observedGeneration ?? 0) >= generation) }
}

/** Who has the release brought to an end before the Rollout goes stops nothing by that, and has lifted a pause. */
function endsItsRelease({ metadata, spec, status }: RecordedRollout): boolean {
  const policy = metadata.annotations?.['tranche.dev/on-delete']
  const isGoing = metadata.deletionTimestamp !== undefined || spec.disabled === true
  return isGoing && (policy === 'Complete' || policy === 'Rollback') && status?.phase !== 'Disabled'
}

function saysPaused(status: RecordedRollout['status']): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Paused') ?? false
}
