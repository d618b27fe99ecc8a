import type { ObjectKey } from '@tranche/kube-types'
import type { FollowEnd, ReleasePart, ReleaseParts, SeenRelease } from '@tranche/release-client'
import { lookAgain } from './look-again.ts'
import { mapped } from './mapped.ts'
import type { CommandSession } from './open-session.ts'

/** Rollout and part to follow, and the signal that ends it. */
export interface FollowReleaseOptions<P extends ReleasePart> {
  readonly key: ObjectKey
  readonly part: P
  readonly signal: AbortSignal
  /** Called with an error when data become stale, and with null when current; `readMs` (epoch) is the time of the last read. */
  readonly trouble: (error: unknown, readMs: number) => void
}

/**
 * Follows a Rollout until `signal` aborts: by the release client's stream if the caller may watch, else by polling.
 *
 * @throws the errors of the first read; later, errors that are not temporary
 */
export async function* followReleaseWithRetries<P extends ReleasePart>(
  { releaseClient, clock }: Pick<CommandSession, 'releaseClient' | 'clock'>,
  { key, part, signal, trouble }: FollowReleaseOptions<P>,
): AsyncGenerator<ReleaseParts[P]> {
  const watched = releaseClient.follow?.(key, { part, signal })
  let readMs = clock.nowMs()
  const heard = (wrong: unknown): void => {
    if (wrong === null) readMs = clock.nowMs()
    trouble(wrong, readMs)
  }
  const toPart = ({ value, trouble: wrong }: SeenRelease<P>): ReleaseParts[P] => {
    heard(wrong ?? null)
    return value
  }
  const stopped: FollowEnd = 'stopped'
  if (watched !== undefined && (yield* mapped(watched, { change: toPart, end: stopped })) === stopped) return
  const look = async (): Promise<ReleaseParts[P]> => (await releaseClient[part](key, { signal })) as ReleaseParts[P]
  for await (const value of lookAgain(look, { clock, signal, failed: heard })) {
    heard(null)
    yield value
  }
}
