import type { Clock, Timer } from '@tranche/clock'
import { compareResourceVersions, type Lease } from '@tranche/kube-types'
import { holderOf } from './lease-record.ts'

/** Settings of {@link createLeaseObservation}. */
export interface LeaseObservationOptions {
  readonly clock: Clock
  /** How long a holder is waited for that does not say how long, in milliseconds. */
  readonly leaseDurationMs: number
  /** Time between two looks that fail, in milliseconds. */
  readonly retryPeriodMs: number
  /** Whether a watch tells of the Lease. */
  readonly isWatched: boolean
}

/**
 * What one candidate has seen of the Lease, and since when by its own monotonic clock. What a watch tells moves the moment at which a
 * candidate looks, and the one from which it counts; what it may do rests on what it reads.
 */
export interface LeaseObservation {
  /** An attempt begins, at which the Lease is looked at. */
  look(): void
  /** When the last look began, in monotonic milliseconds. */
  lookedMs(): number
  /** Takes note of what was read; null: there is none. */
  read(lease: Lease | null): void
  /** Takes note of what the watch tells: it may be late, and tell of a version that a read has shown to be over. */
  observe(lease: Lease | null): void
  /** Whether the Lease, as just read, has been seen like that for as long as its holder asked for. */
  hasExpired(lease: Lease): boolean
  /** Waits until the Lease may be taken by what is known of it, or is to be read since nothing more is heard of it; or until `signal` aborts. */
  untilNextLook(signal: AbortSignal): Promise<void>
}

/** Renewals come every `retryPeriodMs`, and a little later for their way: a watch that has told nothing for so many of them is not waited for. */
const PATIENCE = 1.25

interface Observed {
  readonly resourceVersion: string
  /** When it has been seen like that for as long as its holder asked for, in monotonic milliseconds. */
  readonly expiresMs: number
}

/** @returns a sight that has seen nothing yet */
export function createLeaseObservation({ clock, leaseDurationMs, retryPeriodMs, isWatched }: LeaseObservationOptions): LeaseObservation {
  const patienceMs = isWatched ? PATIENCE * retryPeriodMs : retryPeriodMs
  let observed: Observed | null = null
  let heardMs = Number.NEGATIVE_INFINITY
  let lookedMs = Number.NEGATIVE_INFINITY
  /** The watch has told since the last look began that nobody holds the Lease. */
  let isFreed = false
  let onObserved = (): void => {}

  function observe(lease: Lease | null): void {
    const durationMs = (lease?.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000
    observed = lease && { resourceVersion: lease.metadata.resourceVersion, expiresMs: clock.monotonicMs() + durationMs }
  }

  /** A Lease that had expired when it was last looked at is tried again like one that cannot be read. */
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
      // Whatever it is: a server that was set back shows an older version.
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
