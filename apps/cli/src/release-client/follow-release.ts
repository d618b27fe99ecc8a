import type { ObjectKey } from '@tranche/kube-types'
import type { FollowEnd, ReleasePart, ReleaseParts, SeenRelease } from '@tranche/release-client'
import { lookAgain } from './look-again.ts'
import { mapped } from './mapped.ts'
import type { Session } from './open-session.ts'

/** What is followed, and how long. */
export interface FollowReleaseOptions<P extends ReleasePart> {
  readonly key: ObjectKey
  readonly part: P
  readonly signal: AbortSignal
  /** Hears what keeps it from being up to date, and null once it is again; `readMs` (epoch) is when it was up to date last. */
  readonly trouble: (error: unknown, readMs: number) => void
}

/**
 * Follows a Rollout until `signal` aborts: by what the desk is told of changes where who asks may hear it, else by looking again and again.
 *
 * @throws what the first look throws; later, what does not pass by itself
 */
export async function* followRelease<P extends ReleasePart>(
  { releaseClient, clock }: Pick<Session, 'releaseClient' | 'clock'>,
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
