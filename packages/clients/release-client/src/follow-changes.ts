import { type Clock, sleep } from '@tranche/clock'
import { createWakeSignal } from './wake-signal.ts'
import type { FollowEnd, ReleasePart, SeenRelease } from './release-client.ts'

/** What is followed. */
export interface FollowSource<P extends ReleasePart> {
  /** How it stands; undefined where nothing is known yet. Rejects with what does not pass by itself. */
  look(): Promise<SeenRelease<P> | undefined>
  /** Whether nothing will ever tell of changes. */
  isUnwatchable(): boolean
}

/** How something is followed. */
export interface FollowChangesOptions<P extends ReleasePart> {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Where nothing is told of, it is looked at again after so long, in milliseconds. */
  readonly quietMs: number
  /** Begins to listen: `changed` is called whenever another look is worth it, until `until` aborts. */
  readonly open: (listener: { readonly until: AbortSignal; readonly changed: () => void }) => FollowSource<P>
}

/** Changes that follow one another sooner are shown together, in milliseconds. */
const SHORTEST_GAP_MS = 200
/** Looking, and what is done with what was seen, take this share of the time at most: a large fleet is shown less often. */
const BUSY_SHARE = 0.2

/** Looks at something whenever it may have changed. @see ReleaseClient.follow */
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
