import type { Clock, Timer } from '@tranche/clock'
import { compareResourceVersions, type Lease } from '@tranche/kube-types'
import { holderOf } from './lease-record.ts'

/** Settings of {@link createLeaseObservation}. */
export interface LeaseObservationOptions {
  readonly clock: Clock
  /** Lease duration of a holder that states none, in milliseconds. */
  readonly leaseDurationMs: number
  /** Time between two failed reads, in milliseconds. */
  readonly retryPeriodMs: number
  /** Whether a watch reports the Lease. */
  readonly isWatched: boolean
}

/**
 * What one candidate has seen of the Lease, and since when by its own monotonic clock. Reports of a watch move the moment of the next read,
 * and the one from which the candidate counts; taking the Lease requires a read.
 */
export interface LeaseObservation {
  /** Marks the start of an attempt, which reads the Lease. */
  look(): void
  /** Monotonic start time of the last read, in milliseconds. */
  lookedMs(): number
  /** Records a read; null: there is no Lease. */
  read(lease: Lease | null): void
  /** Records a report of the watch, which may be late and show a version that a read has already superseded. */
  observe(lease: Lease | null): void
  /** Whether the Lease, as just read, has been unchanged for as long as its holder asked for. */
  hasExpired(lease: Lease): boolean
  /** Waits until the Lease may be taken by what is known, or must be read because nothing more is reported; or until `signal` aborts. */
  untilNextLook(signal: AbortSignal): Promise<void>
}

/** Retry periods without a report after which the Lease is read: renewals come every `retryPeriodMs` plus their latency. */
const PATIENCE = 1.25

/** Longest lease duration that is believed, in milliseconds. A Lease that states more would keep every candidate from leading. */
const LONGEST_LEASE_MS = 300_000

interface Observed {
  readonly resourceVersion: string
  /** Monotonic time at which it has been unchanged for as long as its holder asked for, in milliseconds. */
  readonly expiresMs: number
}

/** Duration that the Lease states, in milliseconds; without one, that of the candidate. */
function believedDurationMs(lease: Lease | null, leaseDurationMs: number): number {
  const statedMs = (lease?.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000
  return Math.min(statedMs, Math.max(leaseDurationMs, LONGEST_LEASE_MS))
}

/** @returns an observation without any data */
export function createLeaseObservation({ clock, leaseDurationMs, retryPeriodMs, isWatched }: LeaseObservationOptions): LeaseObservation {
  const patienceMs = isWatched ? PATIENCE * retryPeriodMs : retryPeriodMs
  let observed: Observed | null = null
  let heardMs = Number.NEGATIVE_INFINITY
  let lookedMs = Number.NEGATIVE_INFINITY
  /** Whether the watch has reported a Lease without a holder since the last read began. */
  let isFreed = false
  let onObserved = (): void => {}

  function observe(lease: Lease | null): void {
    const durationMs = believedDurationMs(lease, leaseDurationMs)
    observed = lease && { resourceVersion: lease.metadata.resourceVersion, expiresMs: clock.monotonicMs() + durationMs }
  }

  /** A Lease that had already expired at the last read is retried like one that cannot be read. */
  function nextLookMs(waitingSinceMs: number): number {
    const lookMs = Math.max(waitingSinceMs + retryPeriodMs, heardMs + patienceMs)
    return observed !== null && observed.expiresMs > lookedMs ? Math.min(lookMs, observed.expiresMs) : lookMs
  }

  return {
    look() {
      lookedMs = clock.monotonicMs()
      isFreed = false
    },
    lookedMs: () => lookedMs,
    read(lease) {
      // In any order: a server that was restored from a backup shows an older version.
      if (observed?.resourceVersion !== lease?.metadata.resourceVersion) observe(lease)
      heardMs = clock.monotonicMs()
    },
    observe(lease) {
      if (lease !== null && compareResourceVersions(lease.metadata.resourceVersion, observed?.resourceVersion ?? '') <= 0) return
      if (lease !== null) observe(lease)
      heardMs = clock.monotonicMs()
      isFreed = lease === null || holderOf(lease) === null
      onObserved()
    },
    hasExpired: ({ metadata }) => observed?.resourceVersion === metadata.resourceVersion && clock.monotonicMs() >= observed.expiresMs,
    untilNextLook(signal) {
      const waitingSinceMs = clock.monotonicMs()
      return new Promise((resolve) => {
        let timer: Timer | null = null
        const done = (): void => {
          timer?.cancel()
          onObserved = () => {}
          signal.removeEventListener('abort', done)
          resolve()
        }
        onObserved = () => {
          timer?.cancel()
          if (isFreed || signal.aborted) done()
          else timer = clock.setTimer(Math.max(1, Math.ceil(nextLookMs(waitingSinceMs) - clock.monotonicMs())), done)
        }
        signal.addEventListener('abort', done, { once: true })
        onObserved()
      })
    },
  }
}
