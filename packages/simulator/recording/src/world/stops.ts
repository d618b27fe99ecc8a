import type { RecordedWrite } from '../record/recorded-write.ts'
import { createFailures } from './failures.ts'
import type { RecordedFlight } from './orders.ts'
import type { RecordedTerms } from './terms.ts'

/** Spec and status of one Rollout, limited to the fields that judges read. */
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
    readonly stableRevision?: string
    readonly currentStepIndex?: number
    readonly currentStepState?: string
    readonly conditions?: readonly { readonly type: string; readonly status?: string; readonly reason: string }[]
    readonly canaryStatus?: {
      readonly currentStepIndex?: number
      readonly nextStepIndex?: number
      readonly currentStepState?: string
      readonly canaryRevision?: string
      readonly stableRevision?: string
    }
    readonly failure?: { readonly stops?: boolean; readonly release?: string; readonly at?: string; readonly reason?: string }
    readonly heldRevisions?: readonly { readonly revision?: string; readonly digest: string; readonly reason?: string }[]
    readonly lastAction?: { readonly id: string; readonly type?: string; readonly result?: string }
    readonly answeredActions?: readonly string[]
    readonly acceptedActions?: { readonly promote?: object }
    /** Former name of `acceptedActions`, of the previous version. */
    readonly acceptedWishes?: { readonly promote?: object }
  }
}

/** Orders and status of one BatchRelease, limited to the fields that judges read. */
export interface RecordedRelease {
  readonly metadata?: {
    readonly name?: string
    readonly generation?: number
    readonly deletionTimestamp?: string
    readonly ownerReferences?: readonly { readonly kind: string }[]
  }
  readonly spec?: {
    readonly workloadRef?: { readonly name: string }
    readonly tranche?: RecordedTerms & { readonly paused?: boolean; readonly hold?: object }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly flight?: RecordedFlight
    readonly failure?: { readonly accepted?: readonly string[]; readonly stops?: boolean; readonly release?: string }
    readonly waiting?: { readonly reason?: string }
  }
}

/** Stops of one DaemonSet: one per Rollout and BatchRelease that names it, and whether each is acknowledged. */
export interface Stops {
  followRollout(write: RecordedWrite): void
  followRelease(write: RecordedWrite): void
  /** A hand-written BatchRelease is a new request, which ends the stop of a deleted Rollout. */
  releaseWritten(): void
  /** Drops failures after the template or the policy changed: their cause is gone, or is judged differently. */
  forgiveFailures(): void
  /** @returns kind of an acknowledged stop; null when none is in force */
  acknowledged(charge: Charge): Stop['kind'] | null
}

/** Rollout and record in charge of a DaemonSet. */
export interface Charge {
  /** Name of the Rollout; undefined when unknown. */
  readonly rollout: string | undefined
  /** Record of the BatchRelease in charge, as last written. */
  readonly flight: RecordedFlight | undefined
}

/** Request to delete nothing, and the generation of the object that contains it. */
interface Stop {
  readonly kind: 'paused' | 'held' | 'disabled' | 'deleted' | 'failed'
  readonly generation: number
  readonly acknowledged: boolean
}

/** Starts without stops. */
export function createStops(): Stops {
  const stops = new Map<string, Stop>()
  const releases = new Map<string, { readonly stop: Stop | null; readonly flight: RecordedFlight | undefined }>()
  /** Rollouts whose status says that they are being detached. */
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
      // The BatchRelease is gone, so the detach that the status of the Rollout reported is complete.
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

/** A stop is acknowledged when the status says so for a generation that contains it. A later status does not revoke that. */
function stopOf(rollout: RecordedRollout, before: Stop | undefined): Stop | null {
  const { metadata, spec, status } = rollout
  if (endsItsRelease(rollout)) return null
  const isDeleted = metadata.deletionTimestamp !== undefined
  const kind = isDeleted ? 'deleted' : spec.disabled === true ? 'disabled' : spec.strategy?.paused === true ? 'paused' : null
  if (kind === null) return null
  const generation = before?.kind === kind ? before.generation : (metadata.generation ?? 0)
  // A stop of another kind does not lift an acknowledged one.
  const known = before?.acknowledged === true
  const said = kind === 'disabled' ? status?.phase === 'Disabled' : kind === 'paused' && saysPaused(status)
  return { kind, generation, acknowledged: known || (said && (status?.observedGeneration ?? 0) >= generation) }
}

/** A BatchRelease acknowledges a stop by the observed generation in its status. */
function releaseStopOf({ metadata, spec, status }: RecordedRelease, before: Stop | null): Stop | null {
  const isDeleted = metadata?.deletionTimestamp !== undefined
  const kind = isDeleted ? 'deleted' : spec?.tranche?.hold !== undefined ? 'held' : spec?.tranche?.paused === true ? 'paused' : null
  if (kind === null) return null
  const generation = before?.kind === kind ? before.generation : (metadata?.generation ?? 0)
  return { kind, generation, acknowledged: before?.acknowledged === true || (status?.observedGeneration ?? 0) >= generation }
}

/** Whether the Rollout is deleted or disabled, and its status reports that. */
function saysGoing({ status }: RecordedRollout, { kind, generation }: Stop): boolean {
  if (kind === 'paused' || kind === 'held') return false
  return (status?.phase === 'Terminating' || status?.phase === 'Disabling') && (status.observedGeneration ?? 0) >= generation
}

/** Whether the Rollout ends its release before it goes: that is no stop, and it lifts a pause. */
export function endsItsRelease({ metadata, spec, status }: RecordedRollout): boolean {
  const policy = metadata.annotations?.['tranche.dev/on-delete']
  const isGoing = metadata.deletionTimestamp !== undefined || spec.disabled === true
  return isGoing && (policy === 'Complete' || policy === 'Rollback') && status?.phase !== 'Disabled'
}

/** Whether the status reports the pause of a release. */
export function saysPaused(status: RecordedRollout['status']): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Paused') ?? false
}
