import { type Clock, sleep } from '@tranche/clock'
import { createWakeSignal } from './wake-signal.ts'
import type { FollowEnd, ReleasePart, SeenRelease } from './release-client.ts'

/** Source of the followed state. */
export interface FollowSource<P extends ReleasePart> {
  /** Reads the current state; undefined if nothing is known yet. Rejects on permanent errors. */
  look(): Promise<SeenRelease<P> | undefined>
  /** Whether no changes will ever be reported. */
  isUnwatchable(): boolean
}

/** Options of {@link followChanges}. */
export interface FollowChangesOptions<P extends ReleasePart> {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Interval of reading again if no changes are reported, in milliseconds. */
  readonly quietMs: number
  /** Starts listening: `changed` is called whenever another read is worthwhile, until `until` aborts. */
  readonly open: (listener: { readonly until: AbortSignal; readonly changed: () => void }) => FollowSource<P>
}

/** Minimum time between two states, in milliseconds; changes in between are shown together. */
const SHORTEST_GAP_MS = 200
/** Maximum share of time for reading and handling states: a large fleet is shown less often. */
const BUSY_SHARE = 0.2

/** Reads a source whenever it may have changed. @see ReleaseClient.follow */
export async function* followChanges<P extends ReleasePart>({
  clock,
  signal,
  quietMs,
  open,
}: FollowChangesOptions<P>): AsyncGenerator<SeenRelease<P>, FollowEnd, undefined> {
  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  const wakeSignal = createWakeSignal(clock)
  until.addEventListener('abort', () => wakeSignal.raise(), { once: true })
  const source = open({ until, changed: () => wakeSignal.raise() })
  try {
    while (!signal.aborted) {
      if (source.isUnwatchable()) return 'unwatchable'
      const beganMs = clock.monotonicMs()
      const seen = await source.look()
      if (seen !== undefined) {
        yield seen
        const spentMs = clock.monotonicMs() - beganMs
        await sleep(clock, Math.max(SHORTEST_GAP_MS, spentMs / BUSY_SHARE), signal).catch(() => {})
      }
      await wakeSignal.wait(quietMs)
    }
    return 'stopped'
  } catch (error) {
    if (signal.aborted) return 'stopped'
    throw error
  } finally {
    ended.abort()
  }
}
