import type { RolloutReport } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { FollowEnd, ReleasePicture, SeenRelease } from '@tranche/steering'
import { lookAgain } from './look-again.ts'
import { mapped } from './mapped.ts'
import type { Session } from './open-session.ts'

/** What can be followed of a Rollout. */
interface Parts {
  readonly report: RolloutReport
  readonly picture: ReleasePicture
}

/** What is followed, and how long. */
export interface FollowReleaseOptions<P extends keyof Parts> {
  readonly key: ObjectKey
  readonly part: P
  readonly signal: AbortSignal
  /** Hears what keeps it from being up to date, and null once it is again. */
  readonly trouble: (error: unknown) => void
}

/**
 * Follows a Rollout until `signal` aborts: by watches where the desk has them and who asks may watch, else by looking again and again.
 *
 * @throws what the first look throws; later, what does not pass by itself
 */
export async function* followRelease<P extends keyof Parts>(
  { desk, clock }: Pick<Session, 'desk' | 'clock'>,
  { key, part, signal, trouble }: FollowReleaseOptions<P>,
): AsyncGenerator<Parts[P]> {
  const watched = desk.follow?.(key, { signal })
  const toPart = (seen: SeenRelease): Parts[P] => {
    trouble(seen.trouble ?? null)
    return seen[part]() as Parts[P]
  }
  const stopped: FollowEnd = 'stopped'
  if (watched !== undefined && (yield* mapped(watched, { change: toPart, end: stopped })) === stopped) return
  const look = async (): Promise<Parts[P]> => (await desk[part](key, { signal })) as Parts[P]
  for await (const value of lookAgain(look, { clock, signal, failed: trouble })) {
    trouble(null)
    yield value
  }
}
