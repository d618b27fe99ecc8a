import type { RecordedWrite } from '../recorded-write.ts'
import { createFailures } from './failures.ts'
import type { RecordedFlight } from './orders.ts'
import type { RecordedTerms } from './terms.ts'

/** Spec and status of one Rollout; only the fields that judges read. */
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
    readonly failure?: { readonly stops?: boolean; readonly release?: string; readonly at?: string; readonly reason?: string }
    readonly heldRevisions?: readonly { readonly revision?: string; readonly digest: string; readonly reason?: string }[]
    readonly lastAction?: { readonly id: string; readonly type?: string; readonly result?: string }
    readonly answeredActions?: readonly string[]
    readonly acceptedActions?: { readonly promote?: object }
    /** Name of `acceptedActions` in the version before. */
    readonly acceptedWishes?: { readonly promote?: object }
  }
}

/** What is ordered, and answered, of one BatchRelease; only the fields that judges read. */
export interface RecordedRelease {
  readonly metadata?: { readonly name?: string; readonly generation?: number; readonly deletionTimestamp?: string }
  readonly spec?: {
    readonly workloadRef?: { readonly name: string }
    readonly tranche?: RecordedTerms & { readonly paused?: boolean; readonly hold?: object }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly flight?: RecordedFlight
    readonly failure?: { readonly accepted?: readonly string[] }
  }
}

/** The stops of one DaemonSet: the stop of each Rollout and BatchRelease that names it, and whether it is acknowledged. */
export interface Stops {
  followRollout(write: RecordedWrite): void
  followRelease(write: RecordedWrite): void
  /** A release that nobody's Rollout made is one that somebody wants. */
  releaseWritten(): void
  /** What made a release fail is there no more, or may be judged otherwise: its template, or its policy, has changed. */
  forgiveFailures(): void
  /** @returns what stops us and is acknowledged; null when nothing is */
  acknowledged(charge: Charge): Stop['kind'] | null
}

/** Who is in charge of a DaemonSet. */
export interface Charge {
  /** Name of the Rollout; undefined where that is not known. */
  readonly rollout: string | undefined
  /** The record as last written, which is of the BatchRelease in charge. */
  readonly flight: RecordedFlight | undefined
}

/** A request to delete nothing, and the generation of the object that has it. */
interface Stop {
  readonly kind: 'paused' | 'held' | 'disabled' | 'deleted' | 'failed'
  readonly generation: number
  readonly acknowledged: boolean
}

/** Begins with none. */
export function createStops(): Stops {
  const stops = new Map<string, Stop>()
  const releases = new Map<string, { readonly stop: Stop | null; readonly flight: RecordedFlight | undefined }>()
  /** Rollouts whose status says that they let their release go. */
  const detaching = new Set<string>()
  const failures = createFailures()

  return {
    followRollout(write) {
      const { type, o } = write
      const rollout = o as unknown as RecordedRollout
      const { name } = rollout.metadata
      failures.follow(write, rollout)
      const stop: Stop | null =
        type === 'DELETED' ? { kind: 'deleted', generation: 0, acknowledged: true } : stopOf(rollout, stops.get(name))
      if (stop === null) stops.delete(name)
      else stops.set(name, stop)
      if (stop !== null && saysGoing(rollout, stop)) detaching.add(name)
      else detaching.delete(name)
    },
    followRelease({ type, o }) {
      const release = o as unknown as RecordedRelease
      const name = release.metadata?.name ?? ''
      const stop = stops.get(name)
      // Its BatchRelease is gone, so that is done which the status of the Rollout said was being done.
      if (type === 'DELETED' && stop !== undefined && detaching.has(name)) stops.set(name, { ...stop, acknowledged: true })
      if (release.spec?.tranche?.failure?.autoResume !== undefined) failures.mayResume(name, release.status?.flight?.state === 'open')
      if (type === 'DELETED') releases.delete(name)
      else releases.set(name, { stop: releaseStopOf(release, releases.get(name)?.stop ?? null), flight: release.status?.flight })
    },
    releaseWritten() {
      for (const [name, { kind }] of stops) if (kind === 'deleted') stops.delete(name)
    },
    forgiveFailures: () => failures.forgive(),
    acknowledged({ rollout, flight }) {
      for (const name of failures.failedRollouts()) if (rollout === undefined || rollout === name) return 'failed'
      for (const [name, stop] of stops) if (stop.acknowledged && (rollout === undefined || rollout === name)) return stop.kind
      for (const { stop, flight: own } of releases.values()) {
        if (stop?.acknowledged === true && own !== undefined && own === flight) return stop.kind
      }
      return null
    },
  }
}

/** A stop is acknowledged when the status says so for a generation that has it; a later status does not revoke that. */
function stopOf(rollout: RecordedRollout, before: Stop | undefined): Stop | null {
  const { metadata, spec, status } = rollout
  if (endsItsRelease(rollout)) return null
  const isDeleted = metadata.deletionTimestamp !== undefined
  const kind = isDeleted ? 'deleted' : spec.disabled === true ? 'disabled' : spec.strategy?.paused === true ? 'paused' : null
  if (kind === null) return null
  const generation = before?.kind === kind ? before.generation : (metadata.generation ?? 0)
  // Another kind of stop lifts none.
  const known = before?.acknowledged === true
  const said = kind === 'disabled' ? status?.phase === 'Disabled' : kind === 'paused' && saysPaused(status)
  return { kind, generation, acknowledged: known || (said && (status?.observedGeneration ?? 0) >= generation) }
}

/** Of a BatchRelease every stop is acknowledged by the generation that it says it has observed. */
function releaseStopOf({ metadata, spec, status }: RecordedRelease, before: Stop | null): Stop | null {
  const isDeleted = metadata?.deletionTimestamp !== undefined
  const kind = isDeleted ? 'deleted' : spec?.tranche?.hold !== undefined ? 'held' : spec?.tranche?.paused === true ? 'paused' : null
  if (kind === null) return null
  const generation = before?.kind === kind ? before.generation : (metadata?.generation ?? 0)
  return { kind, generation, acknowledged: before?.acknowledged === true || (status?.observedGeneration ?? 0) >= generation }
}

/** The Rollout is deleted or disabled, and its status knows. */
function saysGoing({ status }: RecordedRollout, { kind, generation }: Stop): boolean {
  if (kind === 'paused' || kind === 'held') return false
  return (status?.phase === 'Terminating' || status?.phase === 'Disabling') && (status.observedGeneration ?? 0) >= generation
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
